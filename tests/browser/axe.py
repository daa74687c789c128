"""What axe-core has against a page. It is read from node_modules and never part of the portal."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_SOURCE = Path(__file__).resolve().parents[2] / "node_modules/axe-core/axe.min.js"
_RUN = """() => axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    resultTypes: ["violations"],
})"""


def faults(page: Page) -> list[str]:
    """One line per fault: address, rule, element, what would mend it. Everything that folds is opened first."""
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.evaluate(_SOURCE.read_text())
    found = page.evaluate(_RUN)["violations"]
    return [_line(page.url, violation["id"], node) for violation in found for node in violation["nodes"]]


def _line(address: str, rule: str, node: dict[str, Any]) -> str:
    return f"{address} {rule} {node['target']} {' '.join(node['failureSummary'].split())}"
