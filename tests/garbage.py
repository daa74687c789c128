"""A pytest plugin: what is there once the tests are collected stays, and is not looked through for garbage again."""

import gc
from typing import Final

_SELDOM: Final = (100_000, 50, 100)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_SELDOM)
