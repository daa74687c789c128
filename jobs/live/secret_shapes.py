"""What in a text looks like a secret, by its shape or by the name before it: blanked wherever a manifest is shown.

A guess by nature: better one word too many than one key. Whoever writes a manifest chooses these texts, so patterns
begin where a word begins: none may take longer than the text is long. Pure.
"""

import re
from collections.abc import Iterator, Sequence
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
    r"|(?<=hooks\.slack\.com/)[\w/-]{8,}"
)
_AFTER_SCHEME: Final = re.compile(r"(?i)\b(bearer|basic)(\s+)[\w+/=.~-]{8,}")
_IN_ADDRESS: Final = re.compile(r"(://)(?:[^\s/'\"]*|[^\s/:'\"]{0,200}:(?!\d+[/?#])[^\s'\"]{0,200})@")
_LOGIN: Final = re.compile(r"((?:^|\s)(?:-u|--user)(?:\s+|=))[^\s:]+:\S+")

_WORD: Final = r"(?:\\*\"[^\"]*\"?|\\*'[^']*'?|[\[{][^\]}]*[\]}]?|[^\s\"'])+"
_VALUE: Final = re.compile(rf"(?:(?i:bearer|basic|token|digest|apikey)\s+)?{_WORD}")
_NAME: Final = r"(?P<name>(?<![\w./-])[\w./-]*\w)"
_NAMED: Final = re.compile(rf"{_NAME}\\*[\"']?\]?\s*(?:[=:]{{1,2}}>?)\s*")
_FLAG: Final = re.compile(r"(?P<name>(?<![\w.-])--?[A-Za-z][\w.-]*)\s+(?!-)")
_MYSQL: Final = r"(?:mysql|mariadb)[\w-]{0,20}"
_MYSQL_LOGIN: Final = re.compile(rf"(\b{_MYSQL}(?:\s[^\n;|&]{{0,200}}?)?\s-p){_WORD}")
_MYSQL_PROGRAM: Final = re.compile(rf"(?:.*/)?{_MYSQL}")
_LOGIN_FLAGS: Final = ("-u", "--user")
_RANDOM: Final = re.compile(r"(?<![\w+/.:@-])[A-Za-z0-9+_]{32,}={0,2}(?![\w+/.-])")
_HEX: Final = re.compile(r"[0-9a-f]{32,}")


def is_secret_name(name: str) -> bool:
    """Whether what goes by this name (a flag, a variable, an annotation) is likely a secret."""
    words = _BETWEEN.split(name.lower().rstrip("0123456789-_./"))
    return "".join(words).endswith(_ENDINGS) or words[-1] in _LAST_WORDS


def without_shapes(text: str) -> str:
    """The text without keys, tokens and logins that are known by their shape."""
    for pattern in (_PRIVATE_KEY, _SHAPES):
        text = pattern.sub(MASK, text)
    return _IN_ADDRESS.sub(rf"\1{MASK}@", _AFTER_SCHEME.sub(rf"\1\2{MASK}", text))


def without_secrets(text: str) -> str:
    """Also without what follows a secret's name (NAME=VALUE, NAME: VALUE, --flag VALUE) or looks like chance."""
    text = without_shapes(text)
    for login in (_LOGIN, _MYSQL_LOGIN):
        text = login.sub(rf"\1{MASK}", text)
    for names in (_NAMED, _FLAG):
        text = "".join(_without_values(names, text))
    return _RANDOM.sub(lambda word: MASK if _looks_random(word[0]) else word[0], text)


def arguments_without_secrets(arguments: Sequence[Any], before: Sequence[Any] = ()) -> list[Any]:
    """A command line word by word: a word that follows a secret's flag is its value. `before` are the words that the
    line begins with and that are shown elsewhere."""
    return list(_arguments([*before, *arguments]))[len(before) :]


def _arguments(arguments: list[Any]) -> Iterator[Any]:
    is_mysql = any(isinstance(word, str) and _MYSQL_PROGRAM.fullmatch(word) for word in arguments)
    last = ""
    for word in arguments:
        if not isinstance(word, str):
            yield word
            continue
        flag, equals, _ = word.partition("=") if word.startswith("-") else ("", "", "")
        if not flag and (is_secret_name(last) or (last in _LOGIN_FLAGS and ":" in word)):
            yield MASK
        elif equals and is_secret_name(flag):
            yield f"{flag}={MASK}"
        elif is_mysql and word.startswith("-p") and word != "-p":
            yield f"-p{MASK}"
        else:
            yield without_secrets(word)
        last = "" if equals else flag


def _without_values(names: re.Pattern[str], text: str) -> Iterator[str]:
    """The text in parts. Only what follows a secret's name is a value: whatever follows another name is looked into."""
    done = 0
    for found in names.finditer(text):
        if found.start() < done or not is_secret_name(found["name"]):
            continue
        value = _VALUE.match(text, found.end())
        if value:
            yield text[done : found.end()] + MASK
            done = value.end()
    yield text[done:]


def _looks_random(word: str) -> bool:
    mixed = any(map(str.islower, word)) and any(map(str.isupper, word)) and any(map(str.isdigit, word))
    return mixed or _HEX.fullmatch(word) is not None
