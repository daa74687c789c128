import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.live.masking import masked, messages_of
from jobs.live.secret_shapes import MASK

SECRET = "s3cr3t-v4lue"
NAMED = {"name": "HF_TOKEN", "value": SECRET}
BY_REFERENCE = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "api-key"}}}


def shown(manifest: Any) -> Any:
    return masked(manifest, lambda text: text.replace("zebra", "?"))


@pytest.mark.parametrize("kind", ["containers", "initContainers", "ephemeralContainers", "whatever"])
def test_values_of_the_environment_are_hidden_in_whatever_kind_of_container(kind: str) -> None:
    pod = {"template": {"spec": {kind: [{"name": "main", "env": [NAMED, BY_REFERENCE], "image": "train"}]}}}
    (container,) = shown(pod)["template"]["spec"][kind]
    assert container == {"name": "main", "env": [{"name": "HF_TOKEN", "value": MASK}, BY_REFERENCE], "image": "train"}


@pytest.mark.parametrize(
    ("env", "hidden"),
    [
        ({"A": SECRET}, {"A": MASK}),
        ([f"A={SECRET}"], [MASK]),
        ([{"value": [SECRET]}], [{"value": MASK}]),
        ([[SECRET], None], [MASK, MASK]),
        ([], []),
    ],
)
def test_other_spellings_of_an_environment(env: Any, hidden: Any) -> None:
    assert shown({"env": env}) == {"env": hidden}


def test_headers_of_probes_are_hidden() -> None:
    probe = {"httpGet": {"path": "/", "httpHeaders": [{"name": "X-Key", "value": SECRET}]}}
    assert shown({"livenessProbe": probe})["livenessProbe"]["httpGet"]["httpHeaders"][0]["value"] == MASK


def test_command_lines_without_keys_in_containers_probes_and_hooks() -> None:
    words = ["--api-key", SECRET, f"--token={SECRET}", "--lr", "1"]
    hook = {"preStop": {"exec": {"command": words}}}
    hidden = ["--api-key", MASK, f"--token={MASK}", "--lr", "1"]
    found = shown({"command": words, "args": words, "lifecycle": hook})
    assert (found["command"], found["args"]) == (hidden, hidden)
    assert found["lifecycle"]["preStop"]["exec"]["command"] == hidden


def test_a_command_line_goes_on_in_its_arguments() -> None:
    assert shown({"command": ["login", "--token"], "args": [SECRET]})["args"] == [MASK]
    assert shown({"args": [f"-p{SECRET}"], "command": ["mysql"]})["args"] == [f"-p{MASK}"]


@pytest.mark.parametrize(
    ("manifest", "hidden"),
    [
        ({"csi": {"volumeAttributes": {"password": SECRET, "secretKey": SECRET, "key": SECRET, "share": "/data"}}},
         {"csi": {"volumeAttributes": {"password": MASK, "secretKey": MASK, "key": MASK, "share": "/data"}}}),
        ({"flexVolume": {"options": {"password": SECRET, "fs": "x"}}},
         {"flexVolume": {"options": {"password": MASK, "fs": "x"}}}),
        ({"httpGet": {"path": f"/h?token={SECRET}", "port": 80}},
         {"httpGet": {"path": f"/h?token={MASK}", "port": 80}}),
        ({"any": {"apiKey": SECRET, "pwd": 12345, "token": [SECRET, {"name": "x"}]}},
         {"any": {"apiKey": MASK, "pwd": MASK, "token": [MASK, {"name": "x"}]}}),
        ({"runtimeEnvYAML": f"env_vars:\n  HF_TOKEN: {SECRET}\n"},
         {"runtimeEnvYAML": f"env_vars:\n  HF_TOKEN: {MASK}\n"}),
        ({"message": f"Get http://x/?token={SECRET}: zebra"}, {"message": f"Get http://x/?token={MASK} ?"}),
    ],
)  # fmt: skip
def test_texts_under_or_after_a_secrets_name_are_hidden_anywhere(manifest: Any, hidden: Any) -> None:
    assert shown(manifest) == hidden


@given(
    st.lists(st.sampled_from(["spec", "csi", "x", "options", "template", "0"])), st.sampled_from(["password", "apiKey"])
)
def test_a_text_under_a_secrets_name_is_hidden_however_deep(path: list[str], name: str) -> None:
    manifest: Any = {name: SECRET}
    for step in path:
        manifest = [manifest] if step == "0" else {step: manifest}
    assert SECRET not in repr(shown(manifest))


@pytest.mark.parametrize(
    "manifest",
    [
        {"volumes": [{"secret": {"secretName": "db-password", "items": [{"key": "token", "path": "a/token"}]}}]},
        {"env_from": {"secretKeyRef": {"name": "db-password", "key": "password", "optional": True}}},
        {"serviceAccountToken": {"path": "token", "audience": "sts", "expirationSeconds": 3600}},
        {"imagePullSecrets": [{"name": "registry-token"}], "automountServiceAccountToken": True, "token": None},
        {"nodePublishSecretRef": {"name": "csi-secret"}},
        {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]},
        {"topologyKey": "kubernetes.io/hostname", "image": "registry/auth:v1"},
        {"imageID": "registry/auth@sha256:" + "0a" * 32},
        {"containerID": "containerd://" + "0a" * 32, "uid": "22222222-2222-4222-8222-222222222222"},
        {"creationTimestamp": "2026-01-01T10:00:00Z", "apiVersion": "kueue.x-k8s.io/v1beta2"},
    ],
)  # fmt: skip
def test_what_only_names_a_secret_or_has_nothing_of_one_is_read(manifest: Any) -> None:
    assert shown(manifest) == manifest


def test_annotations_that_hold_manifests_or_secrets() -> None:
    notes = {
        "kubectl.kubernetes.io/last-applied-configuration": f'{{"env":[{{"value":"{SECRET}"}}]}}\n',
        "tool.io/before": f' ["{SECRET}"]',
        "my.io/api-token": SECRET,
        "note": f"password={SECRET} is old",
        "odd": [SECRET],
        "plain": "ml.p5.48xlarge",
    }
    assert shown({"metadata": {"annotations": notes}})["metadata"]["annotations"] == {
        "kubectl.kubernetes.io/last-applied-configuration": MASK,
        "tool.io/before": MASK,
        "my.io/api-token": MASK,
        "note": f"password={MASK} is old",
        "odd": MASK,
        "plain": "ml.p5.48xlarge",
    }


def test_known_shapes_are_hidden_anywhere() -> None:
    assert shown({"any": ["AKIA0123456789ABCDEF"], "image": "https://me:pw@host/x"}) == {
        "any": [MASK], "image": f"https://{MASK}@host/x",
    }  # fmt: skip


def test_managed_fields_are_left_out_and_messages_veiled() -> None:
    status = {"conditions": [{"message": "for zebra", "reason": "zebra"}], "message": {"zebra": "zebra"}}
    found = shown({"metadata": {"managedFields": [{}], "name": "zebra"}, "status": status})
    assert found["metadata"] == {"name": "zebra"}
    assert found["status"] == {
        "conditions": [{"message": "for ?", "reason": "zebra"}], "message": {"zebra": "zebra"},
    }  # fmt: skip


def test_all_messages_are_found() -> None:
    manifest = {"status": {"conditions": [{"message": "a"}, {"message": 7}], "message": "b", "x": [[{"message": "c"}]]}}
    assert sorted(messages_of(manifest)) == ["a", "b", "c"]
    assert list(messages_of(None)) == []


@pytest.mark.parametrize("odd", [None, 7, "text", [], {}, {"env": 7}, {"env": None}, {"args": "x"}, {"labels": ["x"]}])
def test_odd_manifests_are_shown_as_they_are(odd: Any) -> None:
    assert shown(odd) == odd


def test_the_manifest_itself_is_left_alone() -> None:
    manifest = {
        "env": [dict(NAMED)],
        "args": ["--token", SECRET],
        "metadata": {"managedFields": [], "annotations": {"a": "{"}},
    }
    before = copy.deepcopy(manifest)
    shown(manifest)
    assert manifest == before
