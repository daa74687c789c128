"""What was written since somebody last looked."""

from collections.abc import Collection
from dataclasses import dataclass, field

from emulator.resources import Resource
from emulator.store import Compacted, Key, Store


@dataclass(frozen=True, slots=True)
class Seen:
    """The written keys by resource. `everything`: the log does not reach back, so all must be looked at."""

    everything: bool
    keys: dict[str, set[Key]] = field(default_factory=dict)

    def of(self, resource: Resource) -> Collection[Key]:
        return self.keys.get(resource.storage, ())

    def touches(self, *resources: Resource) -> bool:
        return self.everything or any(self.of(resource) for resource in resources)


class Changes:
    """One reader's place in the log; its first look sees everything."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version = -1

    def look(self) -> Seen:
        if self._version == self._store.version:
            return Seen(everything=False)
        try:
            events = self._store.events_after(self._version)
            seen = Seen(everything=False)
        except Compacted:
            events, seen = [], Seen(everything=True)
        for event in events:
            meta = event.object["metadata"]
            seen.keys.setdefault(event.resource, set()).add((meta.get("namespace", ""), meta["name"]))
        self._version = self._store.version
        return seen
