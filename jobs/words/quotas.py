"""Sentences about quota, in the reader's language. All numbers come from `QueueNow`."""

from collections.abc import Iterator

from django.utils.formats import number_format
from django.utils.translation import gettext

from jobs.models import QueueNow, Workload
from jobs.words.amounts import amount_text, plain_amount
from scheduling import names


def quota_sentence(row: QueueNow) -> str:
    """“12 of 12 own, 4 borrowed, 0 lent.”"""
    text = gettext("%(own)s of %(guaranteed)s own, %(borrowed)s borrowed, %(lent)s lent.")
    return text % {
        "own": plain_amount(row.own, row.resource),
        "guaranteed": plain_amount(row.nominal, row.resource),
        "borrowed": plain_amount(row.borrowed, row.resource),
        "lent": lent_text(row),
    }


def lent_text(row: QueueNow) -> str:
    """What others borrow of the queue's quota: exact, a range, or unknown. Never 0 for unknown."""
    if row.lent_low is None or row.lent_high is None:
        return gettext("unknown")
    low, high = plain_amount(row.lent_low, row.resource), plain_amount(row.lent_high, row.resource)
    return low if row.lent_low == row.lent_high else gettext("%(low)s to %(high)s") % {"low": low, "high": high}


def most_text(row: QueueNow) -> str:
    """What the queue may use at most. No limit is not 0."""
    if row.at_most is None:
        return gettext("no limit")
    return plain_amount(row.at_most, row.resource)


def consequences(row: QueueNow) -> Iterator[str]:
    """What the numbers mean for the next job, most important first."""
    if not row.listed:
        yield gettext("The queue no longer lists this type; what still runs on it keeps its quota until it ends.")
    if row.over_committed:
        yield gettext("More is in use in the cohort than there is: who lends how much cannot be said.")
    if row.at_most is not None and row.reservation > row.at_most:
        over = amount_text(row.reservation - row.at_most, row.resource)
        yield gettext("%(over)s over the limit: nothing new starts until that is given back.") % {"over": over}
    if row.borrowed:
        yield gettext("What is borrowed may be taken back.")
    yield from _what_is_free(row)


def _what_is_free(row: QueueNow) -> Iterator[str]:
    if row.available is None:
        yield gettext("What is free now cannot be said.")
    elif row.listed:
        yield gettext("Free to this queue now: %(amount)s.") % {"amount": amount_text(row.available, row.resource)}
        if row.cohort and row.borrowed and row.at_most == row.reservation:
            yield gettext("It borrows as much as its limit lets it: more starts only when one of its own jobs ends.")


def asks_for(workload: Workload) -> str:
    """What all its pods ask for: accelerators, or CPU and memory where it asks for none."""
    total: dict[str, int] = {}
    for pod_set in workload.pod_sets:
        for resource, amount in pod_set["requests"].items():
            total[resource] = total.get(resource, 0) + amount * pod_set["count"]
    wanted = [resource for resource in total if names.is_accelerator(resource) and total[resource]]
    shown = wanted or [resource for resource in (names.CPU, names.MEMORY) if total.get(resource)]
    return ", ".join(amount_text(total[resource], resource) for resource in shown) or "–"


def share_text(own: int, borrowed: int) -> str:
    """“1 own, 3 borrowed”, or one word where it is all one."""
    if not borrowed:
        return gettext("own")
    if not own:
        return gettext("borrowed")
    both = {"own": number_format(own), "borrowed": number_format(borrowed)}
    return gettext("%(own)s own, %(borrowed)s borrowed") % both
