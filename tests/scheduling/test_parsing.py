"""From the API server's JSON, in either version, to records."""

from datetime import UTC, datetime, timedelta

import pytest

from scheduling.parsing import (
    MalformedObject,
    parse_cluster_queue,
    parse_cohort,
    parse_priority_class,
    parse_resource_flavor,
    parse_time,
    parse_workload,
    pod_requests,
)
from tests.scheduling.builders import (
    GPU,
    admitted_json,
    cohort_json,
    condition,
    gpus,
    local_queue,
    meta,
    pending,
    queue_json,
    workload_json,
)


class TestVersions:
    def test_a_cluster_queue_of_v1beta1_reads_as_one_of_v1beta2(self):
        new = queue_json("a", gpus(4), "shared")
        old = queue_json("a", gpus(4))
        old["apiVersion"] = "kueue.x-k8s.io/v1beta1"
        old["spec"]["cohort"] = "shared"
        assert parse_cluster_queue(old) == parse_cluster_queue(new)
        assert parse_cluster_queue(old).spec["cohortName"] == "shared"

    def test_a_workload_of_v1beta1_keeps_its_priority_class_and_misspelt_seconds(self):
        old = workload_json("w", {GPU: "1"}, spec={"priorityClassName": "high"})
        old["status"] = {"accumulatedPastExexcutionTimeSeconds": 40}
        new = workload_json("w", {GPU: "1"}, spec={"priorityClassRef": {"name": "high"}})
        new["status"] = {"accumulatedPastExecutionTimeSeconds": 40}
        assert parse_workload(old) == parse_workload(new)
        assert (parse_workload(old).priority_class, parse_workload(old).accumulated_seconds) == ("high", 40)


class TestClusterQueue:
    def test_defaults_are_kueues(self):
        queue = parse_cluster_queue({"metadata": meta("a"), "spec": {}})
        assert (queue.cohort, queue.strategy, queue.stop_policy) == (None, "BestEffortFIFO", "None")
        assert (queue.fair_weight, queue.preemption.within_cluster_queue) == (1000, "Never")

    def test_no_limit_is_none_and_a_limit_of_zero_is_zero(self):
        quotas = parse_cluster_queue(queue_json("a", gpus(4, borrow=0))).groups[0].flavors[0].resources
        assert (quotas[GPU].borrowing_limit, quotas[GPU].lending_limit) == (0, None)

    def test_weight_zero_is_not_the_default_weight(self):
        assert parse_cluster_queue(queue_json("a", [], fairSharing={"weight": "0"})).fair_weight == 0

    def test_status_is_read_as_a_second_opinion(self):
        obj = queue_json("a", gpus(4))
        line = {"name": "f", "resources": [{"name": "cpu", "total": "1500m", "borrowed": "500m"}]}
        obj["status"] = {"flavorsReservation": [line], "fairSharing": {"weightedShare": 7}, "pendingWorkloads": 3}
        status = parse_cluster_queue(obj).status
        reported = status.reservation["f", "cpu"]
        assert (reported.total, reported.borrowed, status.weighted_share, status.pending) == (1500, 500, 7, 3)

    def test_preemption_policies_are_read(self):
        policies = {
            "withinClusterQueue": "LowerPriority",
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100},
        }
        preemption = parse_cluster_queue(queue_json("a", [], preemption=policies)).preemption
        assert (preemption.borrow_within_cohort, preemption.borrow_max_priority) == ("LowerPriority", 100)


class TestWorkload:
    def test_unknown_conditions_reasons_and_resources_are_kept_as_they_are(self):
        obj = admitted_json("w", "a", {"example.com/quantum": "3"})
        obj["status"]["conditions"].append(condition("Levitating", "Unknown", "NobodyKnows", "?"))
        workload = parse_workload(obj)
        assert workload.conditions["Levitating"].status is None
        assert workload.admission.pod_sets[0].usage == {"example.com/quantum": 3}

    def test_conditions_may_be_missing_altogether(self):
        obj = workload_json("w", {GPU: "1"})
        del obj["status"]
        assert parse_workload(obj).conditions == {}

    def test_priorities_reach_int32s_ends(self):
        assert pending("w", priority=-(2**31)).effective_priority == -(2**31)

    @pytest.mark.parametrize(("text", "boost"), [("150", 150), ("-5", -5), ("much", 0), ("", 0)])
    def test_a_boost_that_is_no_number_boosts_nothing(self, text, boost):
        obj = workload_json("w", {GPU: "1"}, priority=10)
        obj["metadata"]["annotations"] = {"kueue.x-k8s.io/priority-boost": text}
        assert parse_workload(obj).effective_priority == 10 + boost

    def test_the_controller_owns_it_or_else_the_only_owner(self):
        obj = workload_json("w", {GPU: "1"})
        one = {"kind": "Pod", "name": "p", "uid": "p1"}
        obj["metadata"]["ownerReferences"] = [one, {"kind": "Job", "name": "j", "uid": "j1", "controller": True}]
        assert parse_workload(obj).owner.kind == "Job"
        obj["metadata"]["ownerReferences"] = [one, dict(one)]
        assert parse_workload(obj).owner is None
        obj["metadata"]["ownerReferences"] = [one]
        assert parse_workload(obj).job_uid == "p1"

    def test_evictions_are_counted_by_reason_and_cause(self):
        stats = {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 2}]}
        evictions = pending("w", status={"schedulingStats": stats}).evictions
        assert [(e.reason, e.cause, e.count) for e in evictions] == [("Preempted", "", 2)]


class TestMalformed:
    @pytest.mark.parametrize(
        ("change", "why"),
        [
            (lambda w: w["metadata"].pop("uid"), "Workload ns/w: field uid is missing"),
            (lambda w: w["metadata"].update(uid=5), "Workload ns/w: a field has an unexpected form"),
            (lambda w: w["metadata"].update(labels=["a"]), "labels is list"),
            (lambda w: w["spec"].update(priority="high"), "a field has an unexpected form"),
            (lambda w: w["spec"].update(priority=float("inf")), "a field has an unexpected form"),
            (lambda w: w["spec"].update(podSets=5), "a field has an unexpected form"),
            (lambda w: w.update(status="gone"), "a field has an unexpected form"),
            (lambda w: w.update(status={"conditions": [{"type": "Admitted"}]}), "field status is missing"),
            (lambda w: w["metadata"].update(creationTimestamp="yesterday"), "a field has an unexpected form"),
            (
                lambda w: w.update(status={"resourceRequests": [{"name": "main", "resources": {GPU: "many"}}]}),
                "'many' is not a quantity",
            ),
        ],
    )
    def test_the_sentence_names_the_object_and_the_fault(self, change, why):
        obj = workload_json("w", {GPU: "1"})
        change(obj)
        with pytest.raises(MalformedObject, match=why):
            parse_workload(obj)

    @pytest.mark.parametrize("obj", [{}, {"metadata": None}, {"metadata": {}}, {"metadata": {"name": "x"}}])
    def test_an_object_without_metadata_is_malformed(self, obj):
        with pytest.raises(MalformedObject):
            parse_cohort(obj)


class TestPodRequests:
    @staticmethod
    def container(**resources):
        return {"resources": {"requests": resources}}

    def test_containers_add_up_and_limits_stand_in_for_requests(self):
        limited = {"resources": {"limits": {"cpu": "2", GPU: "8"}, "requests": {"cpu": "1"}}}
        assert pod_requests({"spec": {"containers": [limited, self.container(cpu="1")]}}) == {"cpu": 2000, GPU: 8}

    def test_the_largest_init_container_counts_when_it_is_larger(self):
        spec = {"containers": [self.container(cpu="1")], "initContainers": [self.container(cpu="3")]}
        assert pod_requests({"spec": spec}) == {"cpu": 3000}

    def test_a_sidecar_runs_beside_the_containers_and_the_later_init_containers(self):
        sidecar = {**self.container(cpu="1"), "restartPolicy": "Always"}
        spec = {"containers": [self.container(cpu="1")], "initContainers": [sidecar, self.container(cpu="2")]}
        assert pod_requests({"spec": spec}) == {"cpu": 3000}
        spec["initContainers"].reverse()
        assert pod_requests({"spec": spec}) == {"cpu": 2000}

    def test_overhead_comes_on_top(self):
        spec = {"containers": [self.container(cpu="1")], "overhead": {"cpu": "250m"}}
        assert pod_requests({"spec": spec}) == {"cpu": 1250}

    def test_requests_of_the_pod_as_a_whole_come_before_those_of_its_containers(self):
        spec = {"containers": [self.container(cpu="1", memory="1Gi")], "resources": {"requests": {"cpu": "4"}}}
        assert pod_requests({"spec": spec}) == {"cpu": 4000, "memory": 2**30}

    def test_an_empty_template_asks_for_nothing(self):
        assert pod_requests({}) == {}


def test_times_are_utc():
    assert parse_time("2026-10-08T09:00:00+02:00") == datetime(2026, 10, 8, 7, tzinfo=UTC)
    assert parse_time("2026-10-08T07:00:00.123456Z").microsecond == 123456
    assert parse_time("2026-10-08T09:00:00+02:00").utcoffset() == timedelta()
    assert parse_time(None) is None


@pytest.mark.parametrize("beyond", ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"])
def test_a_time_that_utc_has_not_is_none(beyond):
    with pytest.raises(ValueError, match="beyond all years"):
        parse_time(beyond)


def test_other_kinds_are_read():
    labels = {"node.kubernetes.io/instance-type": "ml.p5.48xlarge"}
    flavor = parse_resource_flavor({"metadata": meta("f"), "spec": {"nodeLabels": labels}})
    assert flavor.node_labels == labels
    assert parse_priority_class({"metadata": meta("high"), "value": 100}).value == 100
    assert local_queue("ns", "lq", "a").stop_policy == "None"
    assert parse_cohort(cohort_json("c", gpus(2), parent="root")).parent == "root"


@pytest.mark.parametrize("odd", [5, 2**70, [1], {"odd": 1}, True])
def test_a_field_of_a_queue_that_is_no_text_is_named(odd):
    for field in ("cohortName", "stopPolicy", "queueingStrategy"):
        with pytest.raises(MalformedObject, match=f"{field} is {type(odd).__name__}"):
            parse_cluster_queue(queue_json("a", gpus(4), **{field: odd}))
    with pytest.raises(MalformedObject, match="name is"):
        parse_cluster_queue({"metadata": meta("a") | {"name": odd}, "spec": {}})
    flavored, measured = gpus(4), gpus(4)
    flavored[0]["flavors"][0]["name"] = odd
    measured[0]["flavors"][0]["resources"][0]["name"] = odd
    for resource_groups in (flavored, measured):
        with pytest.raises(MalformedObject):
            parse_cohort(cohort_json("c", resource_groups))


def test_a_version_beyond_64_bits_is_none():
    assert parse_cluster_queue({"metadata": meta("a") | {"resourceVersion": str(2**63 - 1)}, "spec": {}})
    with pytest.raises(MalformedObject, match="beyond 64 bits"):
        parse_cluster_queue({"metadata": meta("a") | {"resourceVersion": str(2**63)}, "spec": {}})
