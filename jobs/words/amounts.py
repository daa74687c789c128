"""Amounts of a resource in people's words: GPUs, cores, GiB."""

from decimal import ROUND_HALF_UP, Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from scheduling import names

_BYTES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))
_TENTH = Decimal("0.1")


def resource_word(resource: str) -> str:
    """What people call the resource, without an amount."""
    if names.is_accelerator(resource):
        return gettext("GPU")
    words = {names.CPU: gettext("CPU"), names.MEMORY: gettext("memory"), names.EFA: gettext("EFA")}
    return words.get(resource, resource)


def amount_text(amount: int, resource: str) -> str:
    """The amount with its unit: “8 GPUs”, “1.5 CPU cores”, “64 GiB of memory”."""
    if names.is_accelerator(resource):
        return ngettext("%(count)s GPU", "%(count)s GPUs", amount) % {"count": number_format(amount)}
    if resource == names.CPU:
        text = ngettext("%(count)s CPU core", "%(count)s CPU cores", 1 if amount == 1000 else 2)
        return text % {"count": number_format(_cores(amount))}
    if names.is_bytes(resource):
        text = gettext("%(amount)s of memory") if resource == names.MEMORY else f"%(amount)s {resource}"
        return text % {"amount": _bytes_text(amount)}
    if resource == names.EFA:
        return ngettext("%(count)s EFA device", "%(count)s EFA devices", amount) % {"count": number_format(amount)}
    return f"{number_format(amount)} {resource}"


def plain_amount(amount: int, resource: str) -> str:
    """The bare number: cores, GiB, devices. A little is never 0."""
    if resource == names.CPU:
        return number_format(_cores(amount))
    if not names.is_bytes(resource):
        return number_format(amount)
    return tenths(amount, 2**30)


def tenths(amount: int, size: int) -> str:
    """How many of that size the amount is, to a tenth. A little is never 0."""
    count = _to_a_tenth(amount, size)
    return number_format(count) if count or not amount else f"< {number_format(_TENTH)}"


def gpu_hours_number(seconds: int) -> str:
    """GPU-seconds as GPU-hours, to a tenth. A little is never 0."""
    hours = (Decimal(seconds) / 3600).quantize(_TENTH, ROUND_HALF_UP)
    return number_format(hours) if hours or not seconds else f"< {number_format(_TENTH)}"


def gpu_hours_text(seconds: int) -> str:
    """“7.5 GPU-h”."""
    return gettext("%(count)s GPU-h") % {"count": gpu_hours_number(seconds)}


def _cores(milli: int) -> Decimal:
    return Decimal(milli) / 1000


def _bytes_text(amount: int) -> str:
    """In the largest unit of which there is one; nothing is 0 GiB."""
    unit, size = next(((unit, size) for unit, size in _BYTES if abs(amount) >= size), _BYTES[0])
    return f"{number_format(_to_a_tenth(amount, size))} {unit}"


def _to_a_tenth(amount: int, size: int) -> Decimal:
    tenths = (Decimal(amount) / size).quantize(_TENTH, ROUND_HALF_UP)
    return tenths.to_integral() if tenths == tenths.to_integral() else tenths
