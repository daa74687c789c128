"""Which version of an API group a cluster serves."""

from collections.abc import Iterable
from dataclasses import dataclass

from gateways.errors import BadReply, NotFound
from gateways.http import Api


@dataclass(frozen=True, slots=True)
class ServedGroup:
    """`root` is the path of one version of the group, `resources` the plurals served there."""

    root: str
    resources: frozenset[str]


def served_group(api: Api, group: str, versions: Iterable[str]) -> ServedGroup:
    """The first of `versions` that is served. Raises GatewayError, NotFound when none is."""
    for version in versions:
        root = f"/apis/{group}/{version}"
        try:
            answer = api.get(root)
        except NotFound:
            continue
        try:
            return ServedGroup(root, frozenset(str(resource["name"]) for resource in answer["resources"]))
        except (KeyError, TypeError) as error:
            raise BadReply(f"{root}: no list of resources") from error
    raise NotFound(f"the cluster does not serve {group} in any of the versions {', '.join(versions)}")
