"""Template tags of evictions and what they cost."""

from datetime import timedelta

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from jobs.models import Eviction
from jobs.rules.lost_work import Total
from jobs.words.amounts import gpu_hours_number, gpu_hours_text
from jobs.words.evictions import basis_text, bounds_of, label_of, stopping_text, total_text
from portal.templatetags.ui import moment
from portal.times import duration_text

register = template.Library()

register.simple_tag(gpu_hours_text, name="gpu_hours")
register.simple_tag(label_of, name="eviction_label")
register.simple_tag(total_text, name="lost")
register.simple_tag(basis_text, name="basis")
register.simple_tag(stopping_text, name="stopping")


@register.simple_tag
def lost_stat(total: Total) -> SafeString | str:
    """The loss as one number, with unit and range in small beside it."""
    if total.unknown and not total.high:
        return total_text(total)
    low, high = bounds_of(total)
    words = gettext("GPU-h") if low == high else gettext("GPU-h, between %(low)s and %(high)s")
    return format_html("{} <small>{}</small>", gpu_hours_number(total.expected), words % {"low": low, "high": high})


@register.simple_tag
def eviction_url(eviction: Eviction) -> str:
    workload = eviction.workload
    return reverse("eviction", args=[workload.cluster.slug, workload.uid, eviction.pk])


@register.simple_tag
def decided(eviction: Eviction) -> SafeString | str:
    """When it was decided: an instant, or between which two, or before the portal saw the job."""
    if eviction.is_dated:
        return moment(eviction.decided_before)
    if eviction.decided_before <= eviction.workload.first_seen_at:
        text = gettext("before the portal saw this job")
        return format_html("{}, {} {}", text, gettext("until"), moment(eviction.decided_before))
    parts = (gettext("between"), moment(eviction.decided_after), gettext("and"), moment(eviction.decided_before))
    return format_html("{} {} {} {}", *parts)


@register.simple_tag
def seconds(count: int) -> str:
    return duration_text(timedelta(seconds=count))
