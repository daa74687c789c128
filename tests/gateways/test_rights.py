import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateways.errors import BadReply
from gateways.http import Api
from gateways.rights import RIGHTS, missing_rights
from tests.gateways.scripted import ScriptedServer, reply

ROOT = Path(__file__).parents[2]
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def deployed(kind: str) -> list[dict[str, Any]]:
    files = sorted((ROOT / "deploy/kubernetes").glob("*.yaml"))
    objects = [obj for file in files for obj in yaml.safe_load_all(file.read_text())]
    return [obj for obj in objects if obj["kind"] == kind]


def test_the_role_grants_exactly_the_rights() -> None:
    (role,) = deployed("ClusterRole")
    granted = [
        (verb, group, resource)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]
    assert sorted(granted) == sorted((right.verb, right.group, right.resource) for right in RIGHTS)


def test_no_right_writes_or_reads_secrets() -> None:
    assert {right.verb for right in RIGHTS} <= {"get", "list", "watch"}
    assert not {right.resource for right in RIGHTS} & {"secrets", "pods/exec", "pods/log", "configmaps"}


def test_the_binding_names_the_role_the_service_account_and_the_group() -> None:
    (binding,), (role,), (account,) = (deployed(k) for k in ("ClusterRoleBinding", "ClusterRole", "ServiceAccount"))
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    subjects = {subject["kind"]: subject for subject in binding["subjects"]}
    assert subjects["ServiceAccount"]["name"] == account["metadata"]["name"]
    assert subjects["ServiceAccount"]["namespace"] == account["metadata"]["namespace"]
    assert subjects["Group"]["name"] == "hyperpod-portal"


def test_the_kustomization_names_every_file() -> None:
    (kustomization,) = deployed("Kustomization")
    files = {file.name for file in (ROOT / "deploy/kubernetes").glob("*.yaml")}
    assert files == {*kustomization["resources"], "kustomization.yaml"}


def test_every_right_stands_in_the_table_of_its_feature() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / "docs/permissions.md").read_text().splitlines()
        if line.startswith("| ")
    ]
    table = {row[0]: row for row in rows if len(row) == 5}
    for right in RIGHTS:
        _, groups, resources, verbs, _ = table[right.feature]
        assert (right.group or "core") in groups
        assert right.resource in resources
        assert right.verb in verbs


def test_missing_rights_are_those_the_cluster_denies(server: ScriptedServer, api: Api) -> None:
    def review(handler: BaseHTTPRequestHandler) -> None:
        asked = json.loads(server.asked[-1].body)["spec"]["resourceAttributes"]
        denied = asked == {"verb": "get", "group": "visibility.kueue.x-k8s.io", **_PENDING}
        reply({"status": {"allowed": not denied}}, 201)(handler)

    server.on(REVIEWS, review)
    (right,) = missing_rights(api)
    assert str(right) == (
        "get clusterqueues/pendingworkloads.visibility.kueue.x-k8s.io (for: Order of a queue as Kueue tells it)"
    )
    assert len(server.asked) == len(RIGHTS)


_PENDING = {"resource": "clusterqueues", "subresource": "pendingworkloads"}


@pytest.mark.parametrize("status", [{}, {"allowed": "yes"}, {"denied": True}])
def test_what_is_not_clearly_allowed_is_missing(server: ScriptedServer, api: Api, status: Any) -> None:
    server.on(REVIEWS, reply({"status": status}, 201))
    assert missing_rights(api) == list(RIGHTS)


def test_an_answer_without_status_is_a_bad_reply(server: ScriptedServer, api: Api) -> None:
    server.on(REVIEWS, reply({"kind": "SelfSubjectAccessReview"}, 201))
    with pytest.raises(BadReply):
        missing_rights(api)
