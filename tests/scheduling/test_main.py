"""The support command, started as a user starts it."""

import io
import json
import subprocess
import sys

import pytest

from scheduling.__main__ import main
from tests.scheduling.builders import (
    GPU,
    P5,
    admitted_json,
    cohort_json,
    gpus,
    groups,
    local_queue_json,
    queue_json,
    quota,
    workload_json,
)


@pytest.fixture
def run(monkeypatch, capsys):
    def run_on(dump):
        text = dump if isinstance(dump, bytes) else json.dumps(dump).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        code = main(["usage", "-"])
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if captured.out else None, captured.err

    return run_on


def listed(*items):
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


A = queue_json("a", gpus(6), "shared")
B = queue_json("b", gpus(5), "shared")


class TestUsage:
    def test_the_figures_of_every_queue_as_canonical_quantities(self, run):
        running = [admitted_json("a1", "a", {GPU: "2"}), admitted_json("b1", "b", {GPU: "8"})]
        code, result, err = run(listed(A, B, cohort_json("shared"), *running))
        assert (code, err) == (0, "")
        assert result["clusterqueues"]["b"] == {
            "flavors": {
                P5: {
                    GPU: {
                        "nominal": "5",
                        "reservation": "8",
                        "usage": "8",
                        "borrowed": "3",
                        "lent_low": "0",
                        "lent_high": "0",
                        "available": "1",
                    }
                }
            },
            "weighted_share": 273,
            "order": [],
        }
        lent = result["clusterqueues"]["a"]["flavors"][P5][GPU]
        assert (lent["lent_low"], lent["lent_high"]) == ("3", "3")

    def test_cpu_and_memory_are_printed_as_in_a_status(self, run):
        both = queue_json("a", groups(("f", {"cpu": quota("1500m"), "memory": quota("64Gi")})))
        _, result, _ = run(listed(both))
        flavor = result["clusterqueues"]["a"]["flavors"]["f"]
        assert (flavor["cpu"]["nominal"], flavor["memory"]["available"]) == ("1500m", "64Gi")

    def test_the_order_names_waiting_workloads_by_namespace(self, run):
        waiting = [workload_json("late", {GPU: "1"}, created=9), workload_json("early", {GPU: "1"}, created=1)]
        _, result, _ = run(listed(A, local_queue_json("ns", "lq", "a"), *waiting))
        assert result["clusterqueues"]["a"]["order"] == ["ns/early", "ns/late"]

    def test_a_flavor_that_left_the_spec_is_listed_while_in_use(self, run):
        _, result, _ = run(listed(queue_json("a", []), admitted_json("w", "a", {GPU: "2"})))
        line = result["clusterqueues"]["a"]["flavors"][P5][GPU]
        assert (line["nominal"], line["reservation"], line["available"]) == ("0", "2", "0")

    def test_what_cannot_be_known_is_null(self, run):
        ring = [cohort_json("x", parent="y"), cohort_json("y", parent="x")]
        _, result, _ = run(listed(queue_json("a", gpus(2), "x"), *ring))
        standing = result["clusterqueues"]["a"]
        assert standing["weighted_share"] is None
        assert (standing["flavors"][P5][GPU]["available"], standing["flavors"][P5][GPU]["nominal"]) == (None, "2")

    def test_both_versions_of_the_api_count_alike(self, run):
        old = json.loads(json.dumps(A).replace("v1beta2", "v1beta1").replace("cohortName", "cohort"))
        assert run(listed(old, B)) == run(listed(A, B))


class TestLists:
    def test_an_empty_list_has_no_queues(self, run):
        assert run(listed()) == (0, {"clusterqueues": {}}, "")

    def test_an_api_servers_own_list_names_its_kind_once(self, run):
        bare = {key: value for key, value in A.items() if key not in ("kind", "apiVersion")}
        _, result, _ = run({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueueList", "items": [bare]})
        assert list(result["clusterqueues"]) == ["a"]

    def test_other_kinds_are_left_out(self, run):
        stranger = {"apiVersion": "example.com/v1", "kind": "Workload", "metadata": {"name": "w"}}
        code, result, err = run(listed(A, {"apiVersion": "v1", "kind": "Pod"}, stranger))
        assert (code, list(result["clusterqueues"]), err) == (0, ["a"], "")

    def test_a_malformed_object_is_counted_and_named_and_the_rest_computed(self, run):
        broken = admitted_json("broken", "a", {GPU: "many"})
        code, result, err = run(listed(A, broken, "nonsense", admitted_json("w", "a", {GPU: "2"})))
        assert code == 0
        assert result["clusterqueues"]["a"]["flavors"][P5][GPU]["reservation"] == "2"
        assert err.startswith("2 object(s) left out:")
        assert "Workload ns/broken: 'many' is not a quantity" in err


class TestUnreadable:
    @pytest.mark.parametrize(
        "text", [b"", b"no JSON", b"[]", b"5", b"{}", b'{"items": 5}', b"\xff\xfe\x00", b"[" * 99999]
    )
    def test_it_ends_with_exit_2_and_a_sentence(self, run, text):
        code, result, err = run(text)
        assert (code, result) == (2, None)
        assert err.startswith("cannot read -: ")
        assert err.count("\n") == 1

    def test_a_file_that_is_not_there(self, capsys, tmp_path):
        assert main(["usage", str(tmp_path / "none.json")]) == 2
        assert "cannot read" in capsys.readouterr().err


@pytest.mark.slow
def test_it_runs_as_a_module(tmp_path):
    file = tmp_path / "dump.json"
    file.write_text(json.dumps(listed(A)))
    done = subprocess.run([sys.executable, "-m", "scheduling", "usage", file], capture_output=True, check=True)
    assert list(json.loads(done.stdout)["clusterqueues"]) == ["a"]
