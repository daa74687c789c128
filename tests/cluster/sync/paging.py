"""What happens between two pages of a list that the portal reads."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gateways import lists

PAGE_SIZE = 2  # one more page is read ahead


def between_pages(monkeypatch: pytest.MonkeyPatch, happen: Callable[[], object]) -> None:
    """Lists come in pages of two objects, and after the first page of the next list of Workloads that happens."""
    waiting = [happen]

    def in_small_pages(read: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def pages(api: object, path: str, *arguments: Any, **options: Any) -> Iterator[Any]:
            for page in read(api, path, *arguments, page_size=PAGE_SIZE, **options):
                yield page
                if path.endswith("/workloads") and waiting:
                    waiting.pop()()

        return pages

    monkeypatch.setattr("gateways.kueue.list_pages", in_small_pages(lists.list_pages))
    monkeypatch.setattr("gateways.kueue.list_versions", in_small_pages(lists.list_versions))
