"""The languages of the portal: English, in which the sources are written, and those that locale/ holds a folder for."""

from pathlib import Path

from django.utils.translation import get_language_info, to_language


def languages_in(locale: Path) -> list[tuple[str, str]]:
    """Each language's code with its own name for itself, English first."""
    folders = sorted(path.parent.parent.name for path in locale.glob("*/LC_MESSAGES/django.mo"))
    codes = ["en", *map(to_language, folders)]
    return [(code, get_language_info(code)["name_local"]) for code in codes]
