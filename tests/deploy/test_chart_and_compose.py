"""Compose file and chart start the same processes of the same image with the same variables and probes."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compose import PORTAL, compose, health_command, image_environment, instruction, service
from tests.deploy.chart import CHART, ROOT, container, manifest, manifests, pod

PROCESSES = pytest.mark.parametrize("process", PORTAL)
ADDED_BY_THE_VALUES = {"PORTAL_PULL_SECONDS": "30"}


def environment(process: str) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container(process)["env"]}


def portals_services() -> set[str]:
    return {name for name, each in compose()["services"].items() if each["image"].startswith("hyperpod-portal")}


def test_the_same_processes() -> None:
    workloads = {m["metadata"]["name"] for m in manifests() if m["kind"] in ("Deployment", "Job", "StatefulSet")}
    assert portals_services() == set(PORTAL)
    assert workloads == {f"portal-{name}" for name in PORTAL}


@PROCESSES
def test_the_same_image_of_this_version(process: str) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert container(process)["image"] == service(process)["image"] == f"hyperpod-portal:{version}"


@PROCESSES
def test_the_same_command(process: str) -> None:
    assert container(process)["command"] == service(process)["command"]


@PROCESSES
def test_the_same_variables(process: str) -> None:
    ours, theirs = dict(service(process)["environment"]), environment(process)
    assert ours.pop("PORTAL_HOSTS").startswith("${PORTAL_HOSTS:?")
    assert theirs.pop("PORTAL_HOSTS") == "portal.example.com,gpus.example.com"
    assert theirs == {**ours, **ADDED_BY_THE_VALUES}


def test_the_same_probes() -> None:
    web = container("web")
    readiness, liveness = web["readinessProbe"]["httpGet"]["path"], web["livenessProbe"]["httpGet"]["path"]
    assert health_command("web") == ["python", "deploy/probe.py", readiness]
    assert f'["python", "deploy/probe.py", "{liveness}"]' in instruction("HEALTHCHECK")[0]
    assert (liveness, readiness, web["startupProbe"]["httpGet"]["path"]) == ("/healthz", "/readyz", "/healthz")


def test_the_web_server_listens_where_it_is_asked() -> None:
    port = image_environment()["PORTAL_BIND"].rpartition(":")[2]
    (declared,) = container("web")["ports"]
    assert str(declared["containerPort"]) == port
    assert instruction("EXPOSE") == [port]
    assert [mapping.rpartition(":")[2] for mapping in service("web")["ports"]] == [port]
    assert manifest("Service", "portal")["spec"]["ports"][0]["targetPort"] == declared["name"]


def test_the_image_starts_the_web_server_by_default() -> None:
    (command,) = instruction("CMD")
    assert yaml.safe_load(command) == service("web")["command"]


@PROCESSES
def test_secrets_are_files_alone(process: str) -> None:
    wanted = {value for name, value in environment(process).items() if name.endswith("_FILE")}
    assert wanted == {each["target"] for each in service(process)["secrets"]}
    (mounted,) = [mount for mount in container(process)["volumeMounts"] if mount["name"] == "secrets"]
    assert {str(Path(path).parent) for path in wanted} == {mounted["mountPath"]}
    assert mounted["readOnly"]
    secret = {"PORTAL_SECRET_KEY", "PORTAL_DATABASE_URL", "PORTAL_BROKER_URL", "PORTAL_METRICS_TOKEN"}
    assert not secret & {*environment(process), *service(process)["environment"], *image_environment()}


def test_every_secret_of_the_compose_file_is_a_file_outside_the_image() -> None:
    assert {each["file"] for each in compose()["secrets"].values()} == {f"./secrets/{n}" for n in compose()["secrets"]}
    assert "!secrets" not in (ROOT / ".dockerignore").read_text()
    assert "secrets/" in (ROOT / ".gitignore").read_text().splitlines()


@PROCESSES
def test_nobody_is_root_and_nothing_is_written_but_tmp(process: str) -> None:
    theirs, ours, user = pod(process), service(process), instruction("USER")[-1]
    assert ours["user"] == user == f"{theirs['securityContext']['runAsUser']}:{theirs['securityContext']['runAsGroup']}"
    assert theirs["securityContext"]["runAsNonRoot"]
    assert ours["read_only"] and container(process)["securityContext"]["readOnlyRootFilesystem"]
    assert ours["cap_drop"] == container(process)["securityContext"]["capabilities"]["drop"] == ["ALL"]
    assert ours["security_opt"] == ["no-new-privileges:true"]
    assert container(process)["securityContext"]["allowPrivilegeEscalation"] is False
    writable = {m["mountPath"] for m in container(process)["volumeMounts"] if not m.get("readOnly")}
    assert ours["tmpfs"] == sorted(writable) == ["/tmp"] == [image_environment()["PORTAL_VAR"]]  # noqa: S108


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_database_and_broker_are_shut_in(name: str) -> None:
    its = service(name)
    assert its["user"] not in ("root", "0")
    assert its["read_only"]
    assert its["networks"] == ["inside"]
    assert compose()["networks"]["inside"]["internal"]
    assert "ports" not in its
    assert its["healthcheck"]["test"][0] == "CMD"


def test_what_waits_for_what() -> None:
    for name in ("web", "worker", "beat", "watcher"):
        assert service(name)["depends_on"] == {
            "migrate": {"condition": "service_completed_successfully"},
            "postgres": {"condition": "service_healthy"},
            "redis": {"condition": "service_healthy"},
        }
    assert service("migrate")["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    hooks = manifest("Job", "portal-migrate")["metadata"]["annotations"]
    assert hooks["helm.sh/hook"] == "pre-install,pre-upgrade"


def test_there_is_one_beat_also_during_an_upgrade() -> None:
    spec = manifest("Deployment", "portal-beat")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    assert "deploy" not in service("beat")


def test_only_processes_that_read_the_cluster_hold_its_token() -> None:
    accounts = {name: pod(name).get("serviceAccountName") for name in PORTAL}
    reading = {"web", "worker", "watcher"}
    assert accounts == {name: "portal" if name in reading else None for name in PORTAL}
    assert all(pod(name)["automountServiceAccountToken"] is False for name in set(PORTAL) - reading)


def test_the_account_is_bound_to_the_role_of_the_one_source() -> None:
    source = yaml.safe_load((ROOT / "deploy/kubernetes/reader-role.yaml").read_text())
    binding = manifest("ClusterRoleBinding", "hyperpod-portal-portal-reader")
    role = manifest("ClusterRole", binding["roleRef"]["name"])
    assert role["rules"] == source["rules"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "portal", "namespace": "hyperpod-portal"}]
    assert (CHART / "files/reader-role.yaml").resolve() == ROOT / "deploy/kubernetes/reader-role.yaml"


def test_the_service_and_the_budget_select_the_web_pods_alone() -> None:
    selectors = [
        manifest("Service", "portal")["spec"]["selector"],
        manifest("PodDisruptionBudget", "portal-web")["spec"]["selector"]["matchLabels"],
    ]
    for selector in selectors:
        chosen = [m["metadata"]["name"] for m in manifests() if m["kind"] == "Deployment" and matches(m, selector)]
        assert chosen == ["portal-web"]


def matches(deployment: dict[str, Any], selector: dict[str, str]) -> bool:
    return bool(deployment["spec"]["template"]["metadata"]["labels"].items() >= selector.items())


def test_the_ingress_routes_every_host_over_tls() -> None:
    spec = manifest("Ingress", "portal")["spec"]
    hosts = ["portal.example.com", "gpus.example.com"]
    assert [rule["host"] for rule in spec["rules"]] == hosts
    assert spec["tls"] == [{"secretName": "portal-tls", "hosts": hosts}]
    assert spec["rules"][0]["http"]["paths"][0]["backend"]["service"] == {"name": "portal", "port": {"name": "http"}}


def test_no_image_names_a_registrys_host() -> None:
    images = [each["image"] for each in compose()["services"].values()]
    images += [re.split(r"\s", name)[0] for name in instruction("FROM")]
    assert not [image for image in images if "/" in image or "@" in image]
