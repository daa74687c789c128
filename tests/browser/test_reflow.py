"""Pages on a narrow screen, enlarged, on paper, without motion and in forced colours."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Addresses, Visit

pytestmark = pytest.mark.browser

TEAM = "/teams/research/"
SMALLEST_TARGET = 24

# Widths, in CSS pixels, that enlarging a window of 1280 to 200 % and 400 % leaves
WIDTHS = (640, 320)


def widest(page: Page) -> int:
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width


def wide_tables(page: Page, addresses: Addresses) -> dict[str, list[int]]:
    """By the name of the page, how far each table that is wider than its place goes on beyond it, in CSS pixels."""
    found = {}
    for name, address in addresses.items():
        page.goto(address)
        found[name] = page.evaluate(_BEYOND)
    return {name: far for name, far in found.items() if far}


_BEYOND = """[...document.querySelectorAll(".tbl-wrap")].map((each) => each.scrollWidth - each.clientWidth)
    .filter((far) => far > 0)"""


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


@pytest.mark.parametrize("language", ["en", "pt-BR"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_scroll_one_way_only(visit: Visit, addresses: Addresses, width: int, language: str) -> None:
    page = visit("platform-admin", width=width, height=512, language=language)
    found = {}
    for address in addresses.values():
        page.goto(address)
        unfold(page)
        found[address] = widest(page)
    assert {address: far for address, far in found.items() if far > width} == {}


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_every_sum_of_lost_work_fits_a_phone(visit: Visit, language: str) -> None:
    """One with the moment of the last checkpoint is wider than the others, and a walk meets one eviction only."""
    page = visit("platform-admin", width=WIDTHS[-1], height=512, language=language)
    page.goto("/platform/evictions/")
    links = page.locator("main tbody a[href*='/evictions/']")
    found = {}
    for address in sorted({link.get_attribute("href") or "" for link in links.all()}):
        page.goto(address)
        found[address] = widest(page)
    assert found
    assert {address: far for address, far in found.items() if far > WIDTHS[-1]} == {}


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_tables_fit_a_desk(visit: Visit, addresses: Addresses, language: str) -> None:
    """What lies to the right of a table's edge nobody looks for."""
    assert wide_tables(visit("platform-admin", language=language), addresses) == {}


@pytest.mark.parametrize("width", [320, 1280])
def test_targets_are_large_enough(visit: Visit, addresses: Addresses, width: int) -> None:
    """Links within a sentence may be as high as its line; all else is at least 24 by 24 pixels."""
    page = visit("platform-admin", width=width)
    found = []
    for address in addresses.values():
        page.goto(address)
        found += page.evaluate(_SMALL, SMALLEST_TARGET)
    assert found == []


_SMALL = """(least) => [...document.querySelectorAll("a, button, summary, input, select, textarea")]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.matches(".skip, [type=hidden]"))
    .map((each) => [each, (each.closest("label") || each).getBoundingClientRect()])
    .filter(([each, box]) => box.width > 0 && (box.width < least || box.height < least))
    .filter(([each]) => each.closest("nav") || !(each.tagName === "A" && getComputedStyle(each).display === "inline"))
    .map(([each, box]) => `${location.pathname} ${each.outerHTML.slice(0, 80)} ${box.width}x${box.height}`)"""


@pytest.mark.parametrize("language", ["en", "pt-BR"])
@pytest.mark.parametrize("width", [320, 390])
def test_links_of_a_stacked_table_do_not_lie_on_each_other(visit: Visit, width: int, language: str) -> None:
    page = visit("platform-admin", "/gallery/", width=width, language=language)
    assert page.evaluate(_COVERED) == []


_COVERED = """() => {
    const links = [...document.querySelectorAll(".tbl-stack td a")].map((each) => [each, each.getBoundingClientRect()]);
    return links.flatMap(([one, a], n) => links.slice(n + 1)
        .filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        .map(([other]) => `${one.textContent} / ${other.textContent}`));
}"""


def test_no_space_between_words_is_lost(visit: Visit, addresses: Addresses) -> None:
    """Where text and elements are laid out side by side, the spaces between them vanish."""
    page = visit("platform-admin")
    found = []
    for address in addresses.values():
        page.goto(address)
        found += page.evaluate(_GLUED)
    assert found == []


_GLUED = """() => {
    const isWord = (node) => node && node.nodeType === 1 && node.tagName !== "svg";
    const loses = (node) => node.nodeType === 3 && node.data.trim() &&
        ((/\\s$/.test(node.data) && isWord(node.nextSibling)) ||
            (/^\\s/.test(node.data) && isWord(node.previousSibling)));
    return [...document.querySelectorAll("main *")]
        .map((each) => [each, getComputedStyle(each)])
        .filter(([, style]) => /flex|grid/.test(style.display) && !parseFloat(style.columnGap))
        .filter(([each]) => [...each.childNodes].some(loses))
        .map(([each]) => `${location.pathname} ${each.outerHTML.slice(0, 120)}`);
}"""


@pytest.mark.parametrize("dark", [False, True])
def test_paper_shows_facts_in_ink_that_is_read(visit: Visit, addresses: Addresses, dark: bool) -> None:
    page = visit("platform-admin", dark=dark)
    found = []
    for address in addresses.values():
        page.goto(address)
        page.emulate_media(media="print")
        assert page.locator("nav:visible, header:visible, button:visible").count() == 0, address
        found += page.evaluate(_PALE)
        page.emulate_media(media="screen")
    assert found == []


# Printers leave grounds out: whatever colour the text has, it stands on white, unless the ground is asked for
_PALE = """() => {
    const light = (colour) => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((v) => v / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return [...document.querySelectorAll("main *")]
        .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
        .filter((each) => each.checkVisibility() && !each.closest(".visually-hidden"))
        .map((each) => [each, getComputedStyle(each)])
        .map(([each, style]) => [each, style.printColorAdjust, each.closest("svg") ? style.fill : style.color])
        .filter(([, adjust, colour]) => adjust !== "exact" && 1.05 / (light(colour) + 0.05) < 4.5)
        .map(([each, , colour]) => `${location.pathname} ${each.outerHTML.slice(0, 80)} ${colour}`);
}"""


def test_bars_are_drawn_on_paper(visit: Visit) -> None:
    page = visit("data-scientist", TEAM)
    page.emulate_media(media="print")
    bar = page.locator(".qbar").first
    assert bar.bounding_box()
    own = bar.locator(".q-own").first
    assert own.evaluate("(each) => getComputedStyle(each).fill") == "rgb(35, 100, 196)"


@pytest.mark.parametrize("width", [320, 360, 700, 1280])
def test_what_stands_on_a_bar_does_not_overlap(visit: Visit, width: int) -> None:
    page = visit("platform-admin", "/gallery/", width=width, language="pt-BR")
    assert page.evaluate(_OVERLAPPING) == []


# Labels above and below a bar: the tick's and the end's may meet in both places
_OVERLAPPING = """() => [...document.querySelectorAll(".qrow .qbar")].flatMap((bar) => {
    const texts = [...bar.querySelectorAll("text:not(.q-seg-txt)")].map((each) => [each, each.getBoundingClientRect()]);
    return texts.flatMap(([one, a], n) => texts.slice(n + 1)
        .filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        .map(([other]) => `${one.textContent} / ${other.textContent}`));
})"""


def test_nothing_moves_for_those_who_ask(visit: Visit, addresses: Addresses) -> None:
    page = visit("platform-admin", reduced_motion="reduce")
    moving = """() => [...document.querySelectorAll("*")].filter((each) => {
        const style = getComputedStyle(each);
        const lasts = (text) => text.split(",").some((part) => parseFloat(part) > 0);
        return style.scrollBehavior === "smooth" || (style.animationName !== "none" && lasts(style.animationDuration))
            || (style.transitionProperty !== "none" && lasts(style.transitionDuration));
    }).map((each) => each.outerHTML.slice(0, 80))"""
    for address in addresses.values():
        page.goto(address)
        assert page.evaluate(moving) == [], address


@pytest.mark.parametrize("dark", [False, True])
def test_bars_keep_their_colours_where_colours_are_forced(visit: Visit, dark: bool) -> None:
    page = visit("data-scientist", TEAM, dark=dark, forced_colors="active")
    pieces: dict[str, Any] = page.locator(".qbar").first.evaluate(
        """(bar) => ({
            ground: getComputedStyle(bar).backgroundColor,
            own: getComputedStyle(bar.querySelector(".q-own")).fill,
            words: getComputedStyle(bar.querySelector("text")).fill,
        })"""
    )
    assert len(set(pieces.values())) == 3, pieces
