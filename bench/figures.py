"""Figures with the bounds that they must keep."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Figures:
    """`beyond`: those that did not."""

    beyond: list[str] = field(default_factory=list)

    def tell(self, what: str, found: float, most: float, least: float | None = None) -> None:
        """Print it; `least` is the same as `most` where only one number will do."""
        kept = found <= most and (least is None or found >= least)
        bound = f"must be {most:g}" if least == most else f"must reach {most:g}"
        print(f"{what}: {found:.4g} ({bound}){'' if kept else ' BEYOND'}", flush=True)
        if not kept:
            self.beyond.append(what)
