"""The search for reference cycles."""

import gc

import pytest

from portal import collector


def test_it_is_rarer_than_by_default() -> None:
    assert gc.get_threshold()[0] > 10_000


def test_it_pauses_and_goes_on_whatever_happens() -> None:
    with collector.paused():
        assert not gc.isenabled()
        with collector.paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), collector.paused():
        raise ValueError("inside")
    assert gc.isenabled()
