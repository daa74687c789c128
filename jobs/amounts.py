"""Amounts of a resource in people's words: GPUs, cores, GiB."""

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from scheduling import names


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
        cores = amount // 1000 if amount % 1000 == 0 else amount / 1000
        text = gettext("%(amount)s CPU cores")
        return text % {"amount": number_format(cores)}
    if names.is_bytes(resource):
        text = gettext("%(amount)s GiB of memory") if resource == names.MEMORY else f"%(amount)s GiB {resource}"
        return text % {"amount": number_format(gibibytes(amount))}
    if resource == names.EFA:
        return ngettext("%(count)s EFA device", "%(count)s EFA devices", amount) % {"count": number_format(amount)}
    return f"{number_format(amount)} {resource}"


def gibibytes(amount: int) -> int | float:
    """Bytes in GiB, whole where it is whole, else to a tenth."""
    return amount // 2**30 if amount % 2**30 == 0 else round(amount / 2**30, 1)


def plain_amount(amount: int, resource: str) -> str:
    """The bare number in the unit of `amount_text`."""
    if resource == names.CPU:
        return number_format(amount // 1000 if amount % 1000 == 0 else amount / 1000)
    return number_format(gibibytes(amount) if names.is_bytes(resource) else amount)
