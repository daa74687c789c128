from pathlib import Path

import pytest
from django.conf import settings

from portal.languages import languages_in


@pytest.mark.parametrize(
    ("folders", "languages"),
    [
        ((), [("en", "English")]),
        (("pt_BR", "es"), [("en", "English"), ("es", "español"), ("pt-br", "Português Brasileiro")]),
    ],
)
def test_a_language_is_a_folder(tmp_path: Path, folders: tuple[str, ...], languages: list[tuple[str, str]]) -> None:
    for folder in folders:
        (tmp_path / folder / "LC_MESSAGES").mkdir(parents=True)
        (tmp_path / folder / "LC_MESSAGES" / "django.mo").touch()
    (tmp_path / "empty").mkdir()
    assert languages_in(tmp_path) == languages


def test_the_portal_speaks_english_and_portuguese() -> None:
    assert {"en", "pt-br"} <= dict(settings.LANGUAGES).keys()
