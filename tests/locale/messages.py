"""The translations in locale/, kept in step with the sources: `python -m tests.locale.messages`, which is what
`make messages` runs, brings every text of the sources into each language's django.po, forgets those that are gone and
compiles django.mo. A new language begins as an empty folder, named as Django names it: `locale/pt_BR`.
"""

import io
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).parents[2]
LOCALE = ROOT / "locale"
CODE = ("portal", "accounts", "teams", "jobs", "billing", "notices")
MARKS = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
HEADERS = ("Language", "Plural-Forms", "MIME-Version", "Content-Type", "Content-Transfer-Encoding")


class Texts(Catalog):
    """A catalogue without dates and names in its header, so that the same texts are the same bytes."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:  # type: ignore[override]
        return [(name, value) for name, value in super().mime_headers if name in HEADERS]


def languages() -> list[str]:
    """The folders of locale/, such as pt_BR."""
    return sorted(folder.name for folder in LOCALE.iterdir() if folder.is_dir())


def po_file(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


def written(language: str) -> Catalog:
    """The language's file as it is; without one, nothing is translated yet."""
    path = po_file(language)
    return read_po(io.BytesIO(path.read_bytes()), locale=language) if path.exists() else Catalog(language)


def current(language: str) -> Texts:
    """All texts of the sources and nothing else, translated as far as the language's file tells."""
    known, texts = written(language), Texts(language, header_comment="", fuzzy=False)
    for message in in_sources():
        found = known.get(message.id, message.context)
        flags = found.flags if found else message.flags
        texts.add(message.id, found.string if found else "", flags=flags, context=message.context)
    return texts


def in_sources() -> Iterator[Message]:
    """Every text that Python code or a template marks."""
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from _marked(path.read_text())
    for path in sorted((ROOT / "templates").rglob("*.html")):
        yield from _marked(_as_python(path.read_text()))


def po_text(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_po(file, catalog, width=120, no_location=True, sort_output=True)
    return file.getvalue()


def mo_text(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def _as_python(template: str) -> str:
    """The calls that a template's marks stand for; what is around them must not look like an indented block."""
    return "\n".join(line.lstrip() for line in templatize(template).splitlines())


def _marked(code: str) -> Iterator[Message]:
    for _line, text, _comments, context in extract("python", io.BytesIO(code.encode()), keywords=MARKS):
        yield Message(text, context=context)


def main() -> None:
    for language in languages():
        catalog, path = current(language), po_file(language)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(po_text(catalog))
        path.with_suffix(".mo").write_bytes(mo_text(catalog))


if __name__ == "__main__":
    main()
