"""What of a manifest may be shown: no values of environment variables or headers, no managed fields, and in what
controllers wrote no names of other teams. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, Final

MASK: Final = "•••"
_VALUES: Final = ("env", "httpHeaders")  # of whatever kind of container or probe
_LEFT_OUT: Final = ("managedFields",)
_WHOLE_MANIFEST: Final = "kubectl.kubernetes.io/last-applied-configuration"
_TOLD: Final = "message"


def masked(manifest: Any, veil: Callable[[str], str]) -> Any:
    """A copy of the manifest; `veil` takes what the reader may not know out of messages."""
    if isinstance(manifest, Mapping):
        return {name: _field(name, value, veil) for name, value in manifest.items() if name not in _LEFT_OUT}
    if isinstance(manifest, list):
        return [masked(item, veil) for item in manifest]
    return manifest


def _field(name: str, value: Any, veil: Callable[[str], str]) -> Any:
    if name == _WHOLE_MANIFEST:
        return MASK
    if name in _VALUES and isinstance(value, list | Mapping):
        return _hidden(value)
    return veil(value) if name == _TOLD and isinstance(value, str) else masked(value, veil)


def _hidden(values: Any) -> Any:
    """NAME=VALUE in any of the spellings that are in use: the names stay, and so does where a value comes from."""
    if isinstance(values, Mapping):
        return dict.fromkeys(values, MASK)
    return [
        {name: MASK if name == "value" else part for name, part in each.items()} if isinstance(each, Mapping) else MASK
        for each in values
    ]
