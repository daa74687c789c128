"""The quota bar's geometry: where own, borrowed and lent stand on one scale. Pure; percentages are ready for SVG.

Own starts at 0, borrowed at the guaranteed tick, lent ends at the tick. The scale ends at what the queue may use at
most; without a limit at what it uses and could use now, with an open end. What is not known draws no segment.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_MOST_CELLS: Final = 48
_NARROW: Final = 9  # per cent of the bar that a short label needs


class Part(StrEnum):
    """Kinds of segments, in the order they are drawn."""

    OWN_ZONE = "own_zone"
    ROOM = "room"
    OWN = "own"
    BORROWED = "borrowed"
    OVER = "over"
    LENT = "lent"
    MAYBE_LENT = "maybe_lent"


class End(StrEnum):
    """How the bar ends: at a limit, closed at the tick (no borrowing), or open (no limit)."""

    LIMIT = "limit"
    WALL = "wall"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Amounts:
    """One (flavor, resource) of a queue. None is unknown, but for the borrowing limit, where it is no limit."""

    nominal: int
    reservation: int
    borrowed: int
    borrowing_limit: int | None
    may_borrow: bool
    available: int | None
    lent_low: int | None
    lent_high: int | None

    @property
    def own(self) -> int:
        return self.reservation - self.borrowed

    @property
    def limit(self) -> int | None:
        """What may be used at most; None without a limit."""
        if not self.may_borrow:
            return self.nominal
        return None if self.borrowing_limit is None else self.nominal + self.borrowing_limit

    @property
    def end(self) -> int:
        """The limit, or without one what is used and could be used now."""
        return max(self.nominal, self.limit if self.limit is not None else self.reservation + (self.available or 0))


@dataclass(frozen=True, slots=True)
class Segment:
    part: Part
    start: int
    end: int
    scale: int

    @property
    def amount(self) -> int:
        return self.end - self.start

    @property
    def x(self) -> str:
        return percent(self.start, self.scale)

    @property
    def width(self) -> str:
        return percent(self.amount, self.scale)

    @property
    def middle(self) -> str:
        return percent(self.start + self.end, 2 * self.scale)

    @property
    def has_room_for_text(self) -> bool:
        return 100 * self.amount >= _NARROW * self.scale


@dataclass(frozen=True, slots=True)
class Bar:
    """`scale` is the amount at the right end. Lines between single devices stand at `cells`."""

    amounts: Amounts
    scale: int
    segments: tuple[Segment, ...]
    end: End
    cells: tuple[str, ...]

    @property
    def tick(self) -> str:
        return percent(self.amounts.nominal, self.scale)

    @property
    def tick_anchor(self) -> str:
        """Where the tick's label may grow without leaving the bar."""
        if self.is_tick_at_end:
            return "end"
        return "start" if 100 * self.amounts.nominal < _NARROW * self.scale else "middle"

    @property
    def limit_x(self) -> str:
        return percent(self.amounts.limit or 0, self.scale)

    @property
    def is_tick_at_end(self) -> bool:
        """Whether tick and limit need one label for both."""
        return 100 * (self.scale - self.amounts.nominal) < 3 * _NARROW * self.scale

    @property
    def used_width(self) -> str:
        return percent(self.amounts.reservation, self.scale)

    @property
    def is_over(self) -> bool:
        return any(segment.part is Part.OVER for segment in self.segments)


def percent(amount: int, scale: int) -> str:
    """`amount` of `scale` with at most three decimals: “40%”. Never localised: it is an SVG attribute."""
    text = f"{100 * amount / scale:.3f}".rstrip("0").rstrip(".")
    return f"{text}%"


def quota_bar(amounts: Amounts, scale: int | None = None) -> Bar:
    """The bar on its own scale, or on one that several bars share."""
    scale = scale or natural_scale(amounts)
    segments = tuple(s for s in _segments(amounts, scale) if s.amount > 0)
    used = amounts.reservation
    cells = tuple(percent(n, scale) for n in range(1, used)) if scale <= _MOST_CELLS else ()
    return Bar(amounts, scale, segments, _end(amounts), cells)


def natural_scale(amounts: Amounts) -> int:
    """The amount at which the bar ends: never 0."""
    return max(amounts.end, amounts.reservation, 1)


def _end(amounts: Amounts) -> End:
    if amounts.limit is None:
        return End.OPEN
    return End.WALL if amounts.limit <= amounts.nominal else End.LIMIT


def _segments(amounts: Amounts, scale: int) -> list[Segment]:
    nominal = amounts.nominal
    within = min(amounts.borrowed, amounts.end - nominal)
    return [
        Segment(Part.OWN_ZONE, 0, nominal, scale),
        Segment(Part.ROOM, nominal, amounts.end, scale),
        Segment(Part.OWN, 0, min(amounts.own, nominal), scale),
        Segment(Part.BORROWED, nominal, nominal + within, scale),
        Segment(Part.OVER, nominal + within, max(amounts.reservation, nominal + within), scale),
        *_lent(amounts, scale),
    ]


def _lent(amounts: Amounts, scale: int) -> list[Segment]:
    if amounts.lent_low is None or amounts.lent_high is None:
        return []
    sure = amounts.nominal - amounts.lent_low
    return [
        Segment(Part.LENT, sure, amounts.nominal, scale),
        Segment(Part.MAYBE_LENT, amounts.nominal - amounts.lent_high, sure, scale),
    ]
