from typing import Any

import pytest

from portal.templatetags.ui import ago, as_of, copy, duration_texts, icon, moment, since
from tests.stories import START, minute


def test_the_script_writes_durations_as_the_server_does() -> None:
    assert 'data-days="%(days)d d %(hours)d h"' in duration_texts()


@pytest.mark.parametrize("nothing", [None, ""])
def test_what_is_unknown_is_said_to_be(nothing: Any) -> None:
    """A template finds an empty text where there is no object to ask."""
    assert (moment(nothing), ago(nothing, START), since(nothing, START)) == ("unknown", "never", "unknown")


def test_a_moment_names_its_zone() -> None:
    assert (
        moment(START)
        == '<time datetime="2026-10-08T12:00:00+00:00">8 Oct 2026 12:00:00</time> <span class="zone">UTC</span>'
    )


def test_an_age_carries_the_exact_time_for_the_script() -> None:
    text = ago(START, minute(3))
    assert text == (
        '<time datetime="2026-10-08T12:00:00+00:00" title="8 Oct 2026 12:00:00 UTC" data-ago>3 min ago</time>'
    )
    assert since(START, minute(90)) == '<time datetime="2026-10-08T12:00:00+00:00" data-since>1 h 30 min</time>'


def test_the_age_of_the_facts_is_known_to_the_script() -> None:
    assert as_of(START, minute(3)) == '<time datetime="2026-10-08T12:00:00+00:00" data-ago data-as-of>3 min ago</time>'


def test_a_copy_button_says_what_it_copies_and_escapes_it() -> None:
    text = copy('<kubectl> -n "x"')
    assert 'data-copy="&lt;kubectl&gt; -n &quot;x&quot;"' in text
    assert ">Copy &lt;kubectl&gt; -n &quot;x&quot;</span>" in text
    assert 'type="button"' in text


def test_icons_are_silent_and_escaped() -> None:
    assert icon("clock") == '<svg class="icon " aria-hidden="true"><use href="#i-clock"></use></svg>'
    assert "<b>" not in icon("<b>", "<b>")
