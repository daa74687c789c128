"""What goes to a person through a channel outside the portal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Letter:
    """`id` is the same however often it is tried: whoever gets it twice knows by that. `facts`: the notices in it, for
    machines."""

    id: str
    title: str
    body: str
    link: str
    is_critical: bool
    facts: Sequence[dict[str, Any]]
