"""Template tags of the portal: icons, times, durations, amounts."""

from datetime import datetime, timedelta

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone_name, localtime
from django.utils.translation import gettext, pgettext

register = template.Library()


@register.simple_tag
def icon(name: str, classes: str = "") -> SafeString:
    """An icon of the sprite, silent for screen readers: words stand beside it."""
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="#i-{}"></use></svg>', classes, name)


@register.simple_tag
def moment(value: datetime | None) -> SafeString | str:
    """Date and time with the zone."""
    if not value:
        return gettext("unknown")
    written, zone = _written(value)
    return format_html('<time datetime="{}">{}</time> {}', value.isoformat(), written, zone)


@register.simple_tag
def ago(value: datetime | None, now: datetime) -> SafeString | str:
    """How long ago, kept current by script, with the exact time for those who hover."""
    if not value:  # templates give an empty text where there is none
        return gettext("never")
    text = gettext("%(duration)s ago") % {"duration": duration(now - value)}
    parts = (value.isoformat(), " ".join(_written(value)), text)
    return format_html('<time datetime="{}" title="{}" data-ago>{}</time>', *parts)


def _written(value: datetime) -> tuple[str, str]:
    """Date and time to the second, and the zone: (“8 Oct 2026 09:00:00”, “Brasília time”)."""
    local = localtime(value)
    letters = pgettext("a time, in the letters of Django's date filter", "j M Y H:i:s")
    return date_format(local, letters), _zone_text(local)


def _zone_text(local: datetime) -> str:
    """What people call the zone; the difference to UTC where it has no name of its own."""
    if get_current_timezone_name() == "America/Sao_Paulo":
        return gettext("Brasília time")
    name = local.tzname() or ""
    return name if name[:1].isalpha() else f"UTC{name}"


@register.filter
def duration(value: timedelta) -> str:
    """A duration in its largest two units, at least a second."""
    whole = max(0, int(value.total_seconds()))
    counts = {"days": whole // 86400, "hours": whole // 3600 % 24, "minutes": whole // 60 % 60, "seconds": whole % 60}
    largest = next((unit for unit, count in counts.items() if count), "seconds")
    return _duration_texts()[largest] % counts


@register.simple_tag
def duration_texts() -> SafeString:
    """How durations are written, as attributes for the script that keeps them current."""
    return format_html_join(" ", 'data-{}="{}"', _duration_texts().items())


def _duration_texts() -> dict[str, str]:
    """By the largest unit."""
    return {
        "days": gettext("%(days)d d %(hours)d h"),
        "hours": gettext("%(hours)d h %(minutes)d min"),
        "minutes": gettext("%(minutes)d min"),
        "seconds": gettext("%(seconds)d s"),
    }


@register.simple_tag
def as_of(value: datetime, now: datetime) -> SafeString:
    """`ago` for the age of the page's facts, which every answer to its script renews."""
    text = gettext("%(duration)s ago") % {"duration": duration(now - value)}
    return format_html('<time datetime="{}" data-ago data-as-of>{}</time>', value.isoformat(), text)


@register.simple_tag
def copy(text: str) -> SafeString:
    """A button that copies the text, and says so."""
    label = gettext("Copy %(text)s") % {"text": text}
    return format_html(
        '<button class="copy" type="button" data-copy="{}">{}<span class="visually-hidden">{}</span></button>',
        text, icon("copy"), label,
    )  # fmt: skip


@register.simple_tag
def command(text: str) -> SafeString:
    """A line for a terminal, with a button that copies it."""
    return format_html('<span class="cmd"><code>{}</code>{}</span>', text, copy(text))


@register.simple_tag
def since(value: datetime | None, now: datetime) -> SafeString | str:
    """How long something has lasted."""
    if not value:
        return gettext("unknown")
    return format_html('<time datetime="{}" data-since>{}</time>', value.isoformat(), duration(now - value))
