"""The levers of the emulator itself, for its admin: time and memory. No real cluster has them."""

from typing import Any, Final

import orjson

from emulator.clock import api_micro_time
from emulator.cluster import Cluster
from emulator.errors import NoSuchPath, bad_request, method_not_allowed

PREFIX: Final = "/emulator/"


class Controls:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def answer(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        """The clock as it is afterwards. Raises ApiError, NoSuchPath."""
        lever = path.removeprefix(PREFIX).rstrip("/")
        if lever != "clock":
            self._pull(lever, method, body)
        elif method != "GET":
            raise method_not_allowed()
        clock = self._cluster.clock
        return {"now": api_micro_time(clock.now()), "running": clock.running, "speed": clock.speed}

    def _pull(self, lever: str, method: str, body: bytes) -> None:
        cluster = self._cluster
        levers = {
            "clock/pause": cluster.clock.pause,
            "clock/resume": cluster.clock.resume,
            "clock/step": lambda: cluster.step(_seconds(body)),
            "compact": cluster.store.compact,
        }
        if lever not in levers:
            raise NoSuchPath
        if method != "POST":
            raise method_not_allowed()
        levers[lever]()


def _seconds(body: bytes) -> float:
    try:
        seconds = float(orjson.loads(body)["seconds"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise bad_request('expected {"seconds": NUMBER}') from error
    if seconds < 0:
        raise bad_request("time does not run backwards")
    return seconds
