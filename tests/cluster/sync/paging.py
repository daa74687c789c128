"""What happens between two pages of a list that the portal reads."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from gateways import lists

PAGE_SIZE = 2


def between_pages(monkeypatch: pytest.MonkeyPatch, happen: Callable[[], object]) -> None:
    """Lists come in pages of two objects. When that happens, two pages of the next list of Workloads have been read:
    the first one, and the one that is read ahead."""
    waiting = [happen]

    def in_small_pages(read: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def pages(api: object, path: str, *arguments: Any, **options: Any) -> Iterator[Any]:
            for page in read(api, path, *arguments, page_size=PAGE_SIZE, **options):
                yield page
                if path.endswith("/workloads") and waiting:
                    waiting.pop()()

        return pages

    monkeypatch.setattr("gateways.lists._begun", read_at_once)
    monkeypatch.setattr("gateways.kueue.list_pages", in_small_pages(lists.list_pages))
    monkeypatch.setattr("gateways.kueue.list_versions", in_small_pages(lists.list_versions))


def read_at_once(call: Callable[[], Any]) -> Callable[[], Any]:
    """Not in a thread, which may come to it only after what happens."""
    outcome: Future[Any] = Future()
    try:
        outcome.set_result(call())
    except Exception as error:
        outcome.set_exception(error)
    return outcome.result
