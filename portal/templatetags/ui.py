"""Template tags of the portal: icons, times, durations, amounts."""

from datetime import datetime, timedelta

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext

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
    local = localtime(value)
    text = f"{date_format(local, 'j M Y')} {local:%H:%M:%S} {local.tzname()}"
    return format_html('<time datetime="{}">{}</time>', value.isoformat(), text)


@register.simple_tag
def ago(value: datetime | None, now: datetime) -> SafeString | str:
    """How long ago, kept current by script, with the exact time for those who hover."""
    if not value:  # templates give an empty text where there is none
        return gettext("never")
    text = gettext("%(duration)s ago") % {"duration": duration(now - value)}
    title = f"{localtime(value):%Y-%m-%d %H:%M:%S} {localtime(value).tzname()}"
    return format_html('<time datetime="{}" title="{}" data-ago>{}</time>', value.isoformat(), title, text)


@register.filter
def duration(value: timedelta) -> str:
    """A duration in its largest two units, at least a second."""
    seconds = max(0, int(value.total_seconds()))
    if seconds < 60:
        return gettext("%(count)d s") % {"count": seconds}
    minutes, hours, days = seconds // 60 % 60, seconds // 3600 % 24, seconds // 86400
    if days:
        return gettext("%(days)d d %(hours)d h") % {"days": days, "hours": hours}
    if hours:
        return gettext("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}
    return gettext("%(minutes)d min") % {"minutes": minutes}


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
