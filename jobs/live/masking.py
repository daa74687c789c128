"""What of a manifest may be shown: no values of environment variables or headers, nothing that looks like a secret, no
managed fields, and in what controllers wrote no names of other teams. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from jobs.live.secret_shapes import MASK, arguments_without_secrets, is_secret_name, without_secrets, without_shapes

_VALUES: Final = ("env", "httpHeaders")  # of whatever kind of container or probe
_ARGUMENTS: Final = ("command", "args")
_NOTES: Final = ("annotations", "labels", "volumeAttributes", "options")  # whose keys are anybody's choice
_IMAGES: Final = ("image", "imageID")  # “registry/auth:v1” is no secret of that name
_KEY: Final = "key"  # of a taint, a label, an entry of a Secret: names, no value
_LEFT_OUT: Final = ("managedFields",)
_TOLD: Final = "message"


def masked(manifest: Any, veil: Callable[[str], str]) -> Any:
    """A copy of the manifest; `veil` takes what the reader may not know out of messages."""
    if isinstance(manifest, Mapping):
        shown = {name: _field(name, value, veil) for name, value in manifest.items() if name not in _LEFT_OUT}
        return shown | _command_line(manifest)
    if isinstance(manifest, list):
        return [masked(item, veil) for item in manifest]
    return without_secrets(manifest) if isinstance(manifest, str) else manifest


def messages_of(manifest: Any) -> Iterator[str]:
    """All messages in the manifest: what `veil` will be asked to take names out of."""
    if isinstance(manifest, Mapping):
        told = manifest.get(_TOLD)
        if isinstance(told, str):
            yield told
        manifest = list(manifest.values())
    if isinstance(manifest, list):
        for item in manifest:
            yield from messages_of(item)


def _field(name: str, value: Any, veil: Callable[[str], str]) -> Any:
    if name in _VALUES and isinstance(value, list | Mapping):
        return _hidden(value)
    if name in _NOTES and isinstance(value, Mapping):
        return {key: _note(key, text) for key, text in value.items()}
    if is_secret_name(name) and name != _KEY:
        return _secret(value, veil)
    if name in _IMAGES and isinstance(value, str):
        return without_shapes(value)
    return veil(without_secrets(value)) if name == _TOLD and isinstance(value, str) else masked(value, veil)


def _command_line(container: Mapping[str, Any]) -> dict[str, Any]:
    """Kubernetes appends the arguments to the command: a flag in one may have its value in the other."""
    lines = {name: container[name] for name in _ARGUMENTS if isinstance(container.get(name), list)}
    before = lines.get("command", [])
    return {name: arguments_without_secrets(line, before if name == "args" else ()) for name, line in lines.items()}


def _secret(value: Any, veil: Callable[[str], str]) -> Any:
    """What a secret's name stands over. Objects there (secret, serviceAccountToken) tell where one is kept."""
    if isinstance(value, list):
        return [_secret(item, veil) for item in value]
    return masked(value, veil) if value is None or isinstance(value, bool | Mapping) else MASK


def _hidden(values: Any) -> Any:
    """NAME=VALUE in any of the spellings that are in use: the names stay, and so does where a value comes from."""
    if isinstance(values, Mapping):
        return dict.fromkeys(values, MASK)
    return [
        {name: MASK if name == "value" else part for name, part in each.items()} if isinstance(each, Mapping) else MASK
        for each in values
    ]


def _note(name: str, text: Any) -> Any:
    """An annotation or a label. Tools keep whole manifests in annotations, environment and all."""
    if not isinstance(text, str):
        return MASK
    return MASK if is_secret_name(name) or text.lstrip()[:1] in ("{", "[") else without_secrets(text)
