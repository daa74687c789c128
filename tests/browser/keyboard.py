"""Getting about a page by the Tab key alone, as somebody does who sees the page but holds no mouse."""

from dataclasses import dataclass

from playwright.sync_api import Page

_MOST_STOPS = 120
_STOP = """() => {
    const focused = document.activeElement, box = focused.getBoundingClientRect(), style = getComputedStyle(focused);
    const top = document.elementFromPoint(box.x + Math.min(box.width / 2, 40), box.y + Math.min(box.height / 2, 10));
    return {
        words: (focused.innerText || focused.getAttribute("aria-label") || focused.name || "").trim(),
        is_page: focused === document.body,
        is_outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
        is_in_view: top !== null && (focused.contains(top) || top.contains(focused)),
    };
}"""


@dataclass(frozen=True, slots=True)
class Stop:
    """What has the focus: its words, whether it is the page itself, has an outline, and lies in view, not covered."""

    words: str
    is_page: bool
    is_outlined: bool
    is_in_view: bool


def stop(page: Page) -> Stop:
    return Stop(**page.evaluate(_STOP))


def tab(page: Page, key: str = "Tab") -> Stop:
    """The next stop, which has to be seen."""
    page.keyboard.press(key)
    found = stop(page)
    assert found.is_page or (found.is_outlined and found.is_in_view), found
    return found


def tab_to(page: Page, words: str) -> None:
    """Tab until the focus is on what says exactly this, on its first line."""
    passed = []
    for _ in range(_MOST_STOPS):
        passed.append(tab(page).words)
        if passed[-1].partition("\n")[0].strip() == words:
            return
    raise AssertionError(f"{words!r} was not reached; passed {passed}")


def follow(page: Page) -> None:
    """Enter, on something that leads elsewhere."""
    with page.expect_navigation():
        page.keyboard.press("Enter")


def stops(page: Page) -> list[str]:
    """The words of every stop of the page, in order, from its start."""
    found: list[str] = []
    for _ in range(_MOST_STOPS):
        here = tab(page)
        if here.is_page:
            return found
        found.append(here.words)
    raise AssertionError(f"Tab does not come to an end: {found[-5:]}")
