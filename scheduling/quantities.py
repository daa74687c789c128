"""Kubernetes quantities as exact integers of the smallest unit Kueue counts in.

CPU counts in thousandths of a core, everything else in whole units (bytes, devices). Fractions of the smallest unit
round away from zero and amounts stay within int64, as in Kueue's `pkg/resources`.
"""

import re
from fractions import Fraction
from functools import lru_cache

from scheduling.names import CPU, is_bytes

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_GRAMMAR = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)
_LONGEST = 64


class BadQuantity(ValueError):
    """The text is not a Kubernetes quantity."""


def saturate(amount: int) -> int:
    """The amount, held within int64 as Kueue holds it."""
    if INT64_MIN <= amount <= INT64_MAX:
        return amount
    return INT64_MAX if amount > 0 else INT64_MIN


def add(amount: int, more: int) -> int:
    """The sum of two amounts within int64. INT64_MAX stands for "unlimited" and stays so."""
    if amount == INT64_MAX or more == INT64_MAX:
        return INT64_MAX
    return saturate(amount + more)


def subtract(amount: int, less: int) -> int:
    """The difference of two amounts within int64. Unlimited less an amount stays unlimited, less unlimited is 0."""
    if amount == INT64_MAX:
        return 0 if less == INT64_MAX else INT64_MAX
    return INT64_MIN if less == INT64_MAX else saturate(amount - less)


@lru_cache(maxsize=65536)
def parse_quantity(text: str | int | float, resource: str) -> int:
    """The amount of `resource` in its smallest unit. Raises BadQuantity."""
    scale = 1000 if resource == CPU else 1
    if isinstance(text, str) and text.isdecimal() and text.isascii() and len(text) <= _LONGEST:
        return saturate(int(text) * scale)
    return _round_away(_exact(str(text)) * scale)


def parse_milli(text: str | int | float) -> int:
    """Any quantity in thousandths, such as a fair-share weight. Raises BadQuantity."""
    return parse_quantity(text, CPU)


def _exact(text: str) -> Fraction:
    match = _GRAMMAR.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise BadQuantity(f"{text[:_LONGEST]!r} is not a quantity")
    sign, digits, exponent, suffix = match.groups()
    value = Fraction(digits)
    if exponent:
        value *= Fraction(10) ** int(exponent[1:])
    elif suffix in _BINARY:
        value *= 2 ** _BINARY[suffix]
    else:
        value *= Fraction(10) ** _DECIMAL[suffix or ""]
    return -value if sign == "-" else value


def _round_away(value: Fraction) -> int:
    magnitude = -(-abs(value).numerator // value.denominator)
    return saturate(magnitude if value >= 0 else -magnitude)


def format_quantity(amount: int, resource: str) -> str:
    """The canonical Kubernetes string, as Kueue prints it in a queue's status."""
    if resource == CPU:
        return _decimal(amount, -3)
    if is_bytes(resource) and abs(amount) >= 1024:
        return _binary(amount)
    return _decimal(amount, 0)


def _decimal(amount: int, exponent: int) -> str:
    if amount == 0:
        return "0"
    while amount % 1000 == 0 and exponent < 18:
        amount, exponent = amount // 1000, exponent + 3
    return f"{amount}{next(suffix for suffix, power in _DECIMAL.items() if power == exponent)}"


def _binary(amount: int) -> str:
    suffix = ""
    for name in _BINARY:
        if amount % 1024:
            break
        amount, suffix = amount // 1024, name
    return f"{amount}{suffix}"
