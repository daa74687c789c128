"""Template tags of the portal: icons, times, durations, amounts."""

from datetime import datetime
from functools import cache

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from portal.times import ago_text, duration_patterns, duration_text, time_text, zone_text

register = template.Library()

register.filter("duration", duration_text)


@register.simple_tag
@cache
def icon(name: str, classes: str = "") -> SafeString:
    """An icon of the sprite, silent for screen readers: words stand beside it."""
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="#i-{}"></use></svg>', classes, name)


@register.simple_tag
def moment(value: datetime | None) -> SafeString | str:
    """Date and time with the zone."""
    if not value:
        return gettext("unknown")
    parts = (value.isoformat(), time_text(value), zone_text(value))
    return format_html('<time datetime="{}">{}</time> <span class="zone">{}</span>', *parts)


@register.simple_tag
def ago(value: datetime | None, now: datetime) -> SafeString | str:
    """How long ago, kept current by script, with the exact time for those who hover."""
    if not value:  # templates give an empty text where there is none
        return gettext("never")
    parts = (value.isoformat(), time_text(value), zone_text(value), ago_text(now - value))
    return format_html('<time datetime="{}" title="{} {}" data-ago>{}</time>', *parts)


@register.simple_tag
def duration_texts() -> SafeString:
    """How durations are written, as attributes for the script that keeps them current."""
    return format_html_join(" ", 'data-{}="{}"', duration_patterns().items())


@register.simple_tag
def as_of(value: datetime, now: datetime) -> SafeString:
    """`ago` for the age of the page's facts, which every answer to its script renews."""
    return format_html('<time datetime="{}" data-ago data-as-of>{}</time>', value.isoformat(), ago_text(now - value))


@register.simple_tag
def copy(text: str, called: str = "") -> SafeString:
    """A button that copies the text, and says so. `called`: what to call a text that is too long, or too secret, to be
    read out."""
    label = gettext("Copy %(text)s") % {"text": called or text}
    name = format_html(' data-called="{}"', called) if called else ""
    return format_html(
        '<button class="copy" type="button" data-copy="{}"{}>{}<span class="visually-hidden">{}</span></button>',
        text, name, icon("copy"), label,
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
    return format_html('<time datetime="{}" data-since>{}</time>', value.isoformat(), duration_text(now - value))
