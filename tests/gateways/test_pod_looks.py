import pytest

from gateways.pod_looks import parse_pod_look
from scheduling import names
from scheduling.parsing import MalformedObject
from tests.pods import Pod
from tests.stories import Job, minute, stamp


def test_a_running_pod_tells_its_node_and_whose_it_is() -> None:
    look = Pod(Job(), node="node-7", bound=3).restart().look
    assert (look.node, look.bound_at, look.phase, look.restarts) == ("node-7", minute(3), "Running", 1)
    assert look.workload == "pytorchjob-train"
    assert "job-uid-hyperpod-ns-research-train" in look.job_uids
    assert (look.stop_at, look.ended_at, look.exit_code, look.reason) == (None, None, None, "")


def test_nothing_of_its_spec_is_kept() -> None:
    assert "secret" not in repr(Pod(Job()).look)


def test_how_a_pod_failed() -> None:
    look = Pod(Job()).ends(5, code=137, reason="OOMKilled").look
    assert (look.phase, look.ended_at, look.reason, look.exit_code) == ("Failed", minute(5), "OOMKilled", 137)


def test_a_deletion_is_dated_at_its_beginning() -> None:
    assert Pod(Job()).stops(5).look.stop_at == minute(5)


def test_what_disrupted_it_goes_before_how_its_containers_ended() -> None:
    look = Pod(Job()).stops(5, "DeletionByTaintManager").ends(6, code=143).look
    assert (look.reason, look.exit_code) == ("DeletionByTaintManager", 143)
    assert look.reason in names.NODE_FAULTS


def test_a_pod_lost_with_its_node_ends_when_that_was_noted() -> None:
    pod = Pod(Job()).condition(names.DISRUPTION_TARGET, 9, "DeletionByPodGC")
    pod.obj["status"]["phase"] = "Failed"
    assert pod.look.ended_at == minute(9)


def test_of_several_containers_the_last_one_ends_it() -> None:
    pod = Pod(Job()).ends(5)
    ended = {"name": "sidecar", "state": {"terminated": {"exitCode": 0, "finishedAt": stamp(8)}}}
    pod.obj["status"]["containerStatuses"].append(ended)
    assert pod.look.ended_at == minute(8)


def test_a_pod_without_a_node_is_not_bound() -> None:
    pod = Pod(Job(), node="")
    assert (pod.look.node, pod.look.bound_at) == ("", None)


def test_a_pod_of_a_group_names_its_workload_by_the_group() -> None:
    pod = Pod(Job(), annotations={}, labels={names.POD_SET_LABEL: "main", names.POD_GROUP_LABEL: "gang"})
    assert pod.look.workload == "gang"


@pytest.mark.parametrize("field", ["uid", "namespace", "name", "resourceVersion"])
def test_a_pod_without_that_cannot_be_read(field: str) -> None:
    pod = Pod(Job())
    del pod.obj["metadata"][field]
    with pytest.raises(MalformedObject):
        parse_pod_look(pod.obj)


@pytest.mark.parametrize("status", [{"containerStatuses": 3}, {"conditions": ["x"]}, [], "Running"])
def test_a_pod_with_an_odd_status_cannot_be_read(status: object) -> None:
    pod = Pod(Job())
    pod.obj["status"] = status
    if status == []:
        assert parse_pod_look(pod.obj).phase == ""
    else:
        with pytest.raises(MalformedObject):
            parse_pod_look(pod.obj)


@pytest.mark.parametrize("seconds", [90_000_000_000_000, 64_000_000_000, 2**63 - 1])
def test_a_grace_period_beyond_all_times_is_one_malformed_pod(seconds: int) -> None:
    pod = Pod(Job()).stops(5)
    pod.obj["metadata"]["deletionGracePeriodSeconds"] = seconds  # what its person asked for
    with pytest.raises(MalformedObject):
        parse_pod_look(pod.obj)
