"""What in a text looks like a secret, by its shape or by the name before it: blanked wherever a manifest is shown.

A guess by nature: better one word too many than one key. Whoever writes a manifest chooses these texts, so patterns
begin where a word begins: none may take longer than the text is long. Pure.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

MASK: Final = "•••"

_ENDINGS: Final = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "credentials", "apikey", "accesskey",
    "accesskeyid", "secretkey", "privatekey", "authkey", "accountkey", "licensekey", "signingkey", "encryptionkey",
    "sharedkey", "authorization", "connectionstring",
)  # fmt: skip
_LAST_WORDS: Final = ("pass", "auth", "pat", "key")
_BETWEEN: Final = re.compile(r"[-_./]")

_PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S)
_SHAPES: Final = re.compile(
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"  # AWS
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{20,}"
    r"|\bhf_\w{20,}|\bnvapi-[\w-]{20,}|\bsk-[\w-]{20,}|\bAIza[\w-]{35}|\bxox[a-z]-[\w-]{10,}"
    r"|(?<![\w-])eyJ[\w-]{8,}\.[\w.-]+"  # JWT
)
_AFTER_SCHEME: Final = re.compile(r"(?i)\b(bearer|basic)(\s+)[\w+/=.~-]{8,}")
_IN_ADDRESS: Final = re.compile(r"(://)[^\s/@'\"]+@")
_LOGIN: Final = re.compile(r"((?:^|\s)(?:-u|--user)(?:\s+|=))[^\s:]+:\S+")

_VALUE: Final = r"(?P<value>(?:\\*\"[^\"]*\"?|\\*'[^']*'?|[^\s\"'])+)"
_NAME: Final = r"(?P<name>(?<![\w./-])[\w./-]*[A-Za-z])"
_NAMED: Final = re.compile(rf"{_NAME}(?P<gap>\\*[\"']?\s*[=:]\s*){_VALUE}")
_FLAG: Final = re.compile(rf"(?P<name>(?<![\w.-])--?[A-Za-z][\w.-]*)(?P<gap>\s+)(?!-){_VALUE}")
_RANDOM: Final = re.compile(r"(?<![\w+/.:@-])[A-Za-z0-9+_]{32,}={0,2}(?![\w+/.-])")
_HEX: Final = re.compile(r"[0-9a-f]{32,}")


def is_secret_name(name: str) -> bool:
    """Whether what goes by this name (a flag, a variable, an annotation) is likely a secret."""
    words = _BETWEEN.split(name.lower())
    return "".join(words).endswith(_ENDINGS) or words[-1] in _LAST_WORDS


def without_shapes(text: str) -> str:
    """The text without keys, tokens and logins that are known by their shape."""
    for pattern in (_PRIVATE_KEY, _SHAPES):
        text = pattern.sub(MASK, text)
    return _IN_ADDRESS.sub(rf"\1{MASK}@", _AFTER_SCHEME.sub(rf"\1\2{MASK}", text))


def without_secrets(text: str) -> str:
    """Also without what follows a secret's name (NAME=VALUE, NAME: VALUE, --flag VALUE) or looks like chance."""
    text = _LOGIN.sub(rf"\1{MASK}", without_shapes(text))
    for pattern in (_NAMED, _FLAG):
        text = pattern.sub(_without_value, text)
    return _RANDOM.sub(lambda word: MASK if _looks_random(word[0]) else word[0], text)


def arguments_without_secrets(arguments: list[Any]) -> list[Any]:
    """A command line word by word: a word that follows a secret's flag is its value."""
    return list(_arguments(arguments))


def _arguments(arguments: list[Any]) -> Iterator[Any]:
    is_value = False
    for word in arguments:
        if not isinstance(word, str):
            yield word
            continue
        flag, equals, _ = word.partition("=") if word.startswith("-") else ("", "", "")
        if is_value and not flag:
            yield MASK
        elif equals and is_secret_name(flag):
            yield f"{flag}={MASK}"
        else:
            yield without_secrets(word)
        is_value = bool(flag) and not equals and is_secret_name(flag)


def _without_value(found: re.Match[str]) -> str:
    return f"{found['name']}{found['gap']}{MASK}" if is_secret_name(found["name"]) else found[0]


def _looks_random(word: str) -> bool:
    mixed = any(map(str.islower, word)) and any(map(str.isupper, word)) and any(map(str.isdigit, word))
    return mixed or _HEX.fullmatch(word) is not None
