from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from portal.env import env_address, env_bool, env_choice, env_int, env_list, env_secret, env_str, env_url

NAME = "PORTAL_EXAMPLE"


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.delenv(NAME, raising=False)
    monkeypatch.delenv(f"{NAME}_FILE", raising=False)
    return lambda value: monkeypatch.setenv(NAME, value)


def refused(read: Callable[[], Any]) -> str:
    with pytest.raises(ImproperlyConfigured) as refusal:
        read()
    return str(refusal.value)


def test_text_is_trimmed(given: Callable[[str], None]) -> None:
    given("  value ")
    assert env_str(NAME) == "value"


@pytest.mark.parametrize("value", [None, "", "   "])
def test_a_missing_variable_is_named_or_has_a_default(given: Callable[[str], None], value: str | None) -> None:
    if value is not None:
        given(value)
    assert refused(lambda: env_str(NAME)) == f"The environment variable {NAME} is not set. See docs/settings.md."
    assert env_str(NAME, "default") == "default"


def test_one_of_several(given: Callable[[str], None]) -> None:
    assert env_choice(NAME, ("a", "b"), "b") == "b"
    given("a")
    assert env_choice(NAME, ("a", "b")) == "a"
    given("A")
    assert refused(lambda: env_choice(NAME, ("a", "b"))) == f"{NAME} is 'A'; it must be one of: a, b."


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("Yes", True), ("1", True), ("ON", True), ("false", False), ("no", False)]
)
def test_truth(given: Callable[[str], None], text: str, value: bool) -> None:
    given(text)
    assert env_bool(NAME, not value) is value


def test_what_is_neither_true_nor_false(given: Callable[[str], None]) -> None:
    assert env_bool(NAME, True) is True
    given("maybe")
    assert refused(lambda: env_bool(NAME, True)) == f"{NAME} is 'maybe'; it must be true or false."


def test_whole_numbers(given: Callable[[str], None]) -> None:
    assert env_int(NAME, 12) == 12
    given("7")
    assert env_int(NAME, 12, least=7) == 7


@pytest.mark.parametrize("text", ["6", "-7", "7.5", "seven", "٧", "1e3", "²"])
def test_what_is_no_whole_number_or_too_small(given: Callable[[str], None], text: str) -> None:
    given(text)
    assert refused(lambda: env_int(NAME, 12, least=7)) == f"{NAME} is {text!r}; it must be a whole number, 7 or more."


def test_lists(given: Callable[[str], None]) -> None:
    assert env_list(NAME, "a,b") == ["a", "b"]
    given(" a , ,b,")
    assert env_list(NAME) == ["a", "b"]


@pytest.mark.parametrize("text", [",", " , ,"])
def test_a_list_of_nothing_is_refused(given: Callable[[str], None], text: str) -> None:
    given(text)
    assert refused(lambda: env_list(NAME)) == f"{NAME} lists nothing; give at least one name."


def test_a_secret_from_a_file_goes_before_the_variable(
    given: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given("from the variable")
    assert env_secret(NAME) == "from the variable"
    (tmp_path / "key").write_text("from the file\n")
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "key"))
    assert env_secret(NAME) == "from the file"


def test_secret_files_that_cannot_be_used(
    given: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "missing"))
    assert refused(lambda: env_secret(NAME)).startswith(f"{NAME}_FILE names a file that cannot be read: ")
    (tmp_path / "empty").touch()
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "empty"))
    assert refused(lambda: env_secret(NAME)).startswith(f"{NAME}_FILE names an empty file: ")
    (tmp_path / "binary").write_bytes(b"\xff\xfe secret")
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "binary"))
    assert "secret" not in refused(lambda: env_secret(NAME)).removeprefix(f"{NAME}_FILE names a file")


@pytest.mark.parametrize("text", ["127.0.0.1:8000", "[::1]:8000", "0.0.0.0:80"])  # noqa: S104
def test_addresses(given: Callable[[str], None], text: str) -> None:
    assert env_address(NAME, "127.0.0.1:1") == "127.0.0.1:1"
    given(text)
    assert env_address(NAME, "127.0.0.1:1") == text


@pytest.mark.parametrize("text", ["localhost:8000", "8000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", ":80"])
def test_what_is_no_address(given: Callable[[str], None], text: str) -> None:
    given(text)
    assert refused(lambda: env_address(NAME, "127.0.0.1:1")) == (
        f"{NAME} is {text!r}; it must be an IP address and a port, such as 127.0.0.1:8000."
    )


def test_addresses_with_a_scheme(given: Callable[[str], None]) -> None:
    assert env_url(NAME, ("redis", "rediss"), "redis://a") == "redis://a"
    given("rediss://user:password@host:6379/0")
    assert env_url(NAME, ("redis", "rediss")) == "rediss://user:password@host:6379/0"


@pytest.mark.parametrize("text", ["secret", "oracle://user:secret@host", "redis:secret", "//secret"])
def test_a_scheme_that_will_not_do_is_refused_without_quoting_the_password(
    given: Callable[[str], None], text: str
) -> None:
    given(text)
    assert refused(lambda: env_url(NAME, ("redis", "rediss"))) == f"{NAME} must begin with one of: redis://, rediss://."
