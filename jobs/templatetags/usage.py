"""Template tags of the usage page. A cell's `data-v` is what the chart draws, empty where nothing is known."""

from datetime import datetime
from decimal import Decimal

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from jobs.rules.lost_work import Total
from jobs.usage.chart import Bucket
from jobs.usage.stretches import Period, Stretch
from jobs.words.amounts import tenths
from scheduling.hour_rows import HOUR
from scheduling.names import is_idle_queue

register = template.Library()

register.filter("is_idle_queue", is_idle_queue)

_SECOND = 10**6

_DAY = "%Y-%m-%d"
_TIMES = {
    Period.DAY: "%Y-%m-%d %H:%M",
    Period.WEEK: "%Y-%m-%d %H:%M",
    Period.YEAR: "%Y-%m",
}


@register.simple_tag
def bucket_time(bucket: Bucket, stretch: Stretch) -> str:
    """When it begins, UTC, as long as it must be."""
    return bucket.start.strftime(_DAY if isinstance(stretch, datetime) else _TIMES.get(stretch, _DAY))


@register.simple_tag
def mean_cell(bucket: Bucket, label: str, low: int, high: int | None = None) -> SafeString:
    """The mean over the bucket of a sum, or of the two bounds that it lies between."""
    high = low if high is None else high
    if not bucket.is_known:
        text, drawn = gettext("not seen"), ("", "")
    else:
        text = range_text(low, high, bucket.counted)
        drawn = (_plain(low, bucket.counted), _plain(high, bucket.counted))
    cell = '<td role="cell" class="n{}" data-l="{}" data-v="{}" data-high="{}">{}</td>'
    return format_html(cell, "" if bucket.is_known else " dim", label, *drawn, text)


@register.simple_tag
def lost_cell(bucket: Bucket, label: str) -> SafeString:
    """What was lost of the bucket's work, in GPU-hours."""
    is_known = bucket.is_known or bucket.lost_high
    text = gpu_hours(bucket.lost_low, bucket.lost_high) if is_known else gettext("not seen")
    drawn = (_plain(each, HOUR) if is_known else "" for each in (bucket.lost_low, bucket.lost_high))
    cell = '<td role="cell" class="n{}" data-l="{}" data-v="{}" data-high="{}">{}</td>'
    return format_html(cell, "" if is_known else " dim", label, *drawn, text)


@register.filter
def loss(bucket: Bucket) -> Total:
    """What was lost of the bucket's work, in GPU-seconds."""
    sums = (bucket.lost_low, bucket.lost_expected, bucket.lost_high)
    low, expected, high = ((each + _SECOND // 2) // _SECOND for each in sums)
    return Total(low, expected, high, unknown=bucket.lost_unknown)


@register.simple_tag
def share(part: int, whole: int) -> str:
    """In whole per cent, rounded down: nothing short of all is 100%."""
    return f"{100 * part // whole}%"


@register.simple_tag
def gpu_hours(low: int, high: int | None = None) -> str:
    """A sum in GPU-hours, or its bounds."""
    return range_text(low, low if high is None else high, HOUR)


@register.simple_tag
def hours_text(micros: int) -> str:
    """Time that was not seen."""
    return gettext("%(count)s h") % {"count": tenths(micros, HOUR)} if micros else "–"


def range_text(low: int, high: int, size: int) -> str:
    texts = tenths(low, size), tenths(high, size)
    return texts[0] if texts[0] == texts[1] else gettext("%(low)s to %(high)s") % {"low": texts[0], "high": texts[1]}


def _plain(amount: int, size: int) -> str:
    return f"{Decimal(amount) / size:.3f}"
