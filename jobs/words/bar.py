"""What stands on a quota bar: the labels of its tick, its end and its segments."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext

from jobs.rules.quota_bar import Bar, End, Part, Segment, percent


@dataclass(frozen=True, slots=True)
class Label:
    """Words under the bar at `x`, middle-aligned."""

    words: str
    x: str
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """One number of a shared axis; minor ones are left out on narrow screens."""

    amount: int
    x: str
    anchor: str
    is_minor: bool


def axis_marks(scale: int) -> list[Mark]:
    """At most seven round numbers from 0 to the scale's end."""
    step = next(s for power in range(20) for s in (10**power, 2 * 10**power, 4 * 10**power) if s * 6 >= scale)
    amounts = range(0, scale + 1, step)
    return [
        Mark(
            amount,
            percent(amount, scale),
            "start" if amount == 0 else "end" if amount == scale else "middle",
            bool(index % 2),
        )
        for index, amount in enumerate(amounts)
    ]


def tick_words(bar: Bar) -> str:
    """“16 guaranteed”; where the bar ends at the tick, with what may be used at most."""
    counts = {"count": number_format(bar.amounts.nominal), "most": number_format(bar.amounts.limit or 0)}
    if bar.end is not End.WALL and not bar.is_tick_at_end:
        return gettext("%(count)s guaranteed") % counts
    if bar.end is End.OPEN:
        return gettext("%(count)s guaranteed, no limit") % counts
    return gettext("%(count)s guaranteed, at most %(most)s") % counts


def end_words(bar: Bar) -> str:
    """“at most 40”, “no limit”, or nothing where the tick says it all."""
    if bar.end is End.WALL or bar.is_tick_at_end:
        return ""
    if bar.end is End.OPEN:
        return gettext("no limit")
    return gettext("at most %(count)s") % {"count": number_format(bar.amounts.limit or 0)}


def segment_labels(bar: Bar) -> list[Label]:
    """One label per segment that has room for it."""
    return [_label(bar, segment) for segment in _labelled(bar) if segment.has_room_for_text]


def _labelled(bar: Bar) -> Iterator[Segment]:
    """Segments that get words: the zones are told by what is free in them, as far as that is known."""
    amounts, scale = bar.amounts, bar.scale
    yield from (s for s in bar.segments if s.part not in (Part.OWN_ZONE, Part.ROOM))
    if amounts.lent_high is not None:
        yield Segment(Part.OWN_ZONE, amounts.own, amounts.nominal - amounts.lent_high, scale)
    yield Segment(Part.ROOM, amounts.nominal + amounts.borrowed, amounts.end, scale)


def _label(bar: Bar, segment: Segment) -> Label:
    return Label(_words(bar, segment), segment.middle, segment.part is Part.OVER)


def _words(bar: Bar, segment: Segment) -> str:
    count = {"count": number_format(segment.amount)}
    texts = {
        Part.OWN: gettext("%(count)s own"),
        Part.BORROWED: gettext("%(count)s within the limit") if bar.is_over else gettext("%(count)s borrowed"),
        Part.OVER: gettext("%(count)s over"),
        Part.LENT: gettext("%(count)s lent"),
        Part.MAYBE_LENT: gettext("up to %(count)s more lent"),
        Part.OWN_ZONE: gettext("%(count)s free"),
        Part.ROOM: gettext("%(count)s free to borrow now")
        if bar.end is End.OPEN
        else gettext("%(count)s more allowed"),
    }
    return texts[segment.part] % count
