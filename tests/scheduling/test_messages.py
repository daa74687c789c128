"""Why a workload waits, read from Kueue's own text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling import messages
from scheduling.messages import Mention, Obstacle, parse_pending
from scheduling.quantities import INT64_MAX

SEEN = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor ml.p5.48xlarge, "
    "8 more needed"
)


def only(message: str) -> Mention:
    (mention,) = parse_pending(message).mentions
    return mention


class TestQuota:
    def test_the_missing_amount_is_exact_and_in_the_smallest_unit(self):
        mention = only(SEEN)
        assert (mention.obstacle, mention.pod_set) == (Obstacle.INSUFFICIENT_UNUSED_QUOTA, "main")
        assert (mention.resource, mention.flavor, mention.missing) == ("nvidia.com/gpu", "ml.p5.48xlarge", 8)

    @pytest.mark.parametrize(
        ("amount", "resource", "missing"),
        [("500m", "cpu", 500), ("2", "cpu", 2000), ("5Mi", "memory", 5 * 2**20), ("<unlimited>", "cpu", None)],
    )
    def test_amounts_of_every_resource(self, amount, resource, missing):
        message = f"couldn't assign flavors to pod set m: insufficient unused quota for {resource} in flavor f, "
        assert only(f"{message}{amount} more needed").missing == missing

    @pytest.mark.parametrize(
        "reason",
        [
            "insufficient unused quota in cohort for cpu in flavor one, 1 more needed",
            "insufficient unused quota in cohort for cpu flavor one, 1 more needed",
            "insufficient unused quota for cpu in flavor one in ClusterQueue, 1 more needed",
        ],
    )
    def test_older_wording(self, reason):
        mention = only(f"couldn't assign flavors to pod set main: {reason}")
        assert (mention.obstacle, mention.flavor, mention.missing) == (Obstacle.INSUFFICIENT_UNUSED_QUOTA, "one", 1000)

    @pytest.mark.parametrize(
        ("reason", "missing"),
        [
            (
                "insufficient quota for nvidia.com/gpu in flavor f, previously considered podsets requests (16) + "
                "current podset request (8) > maximum capacity (16)",
                8,
            ),
            ("insufficient quota for nvidia.com/gpu in flavor f, request > maximum capacity (24 > 16)", 8),
            ("insufficient quota for nvidia.com/gpu in flavor f in ClusterQueue", None),
            ("borrowing limit for nvidia.com/gpu in flavor f exceeded", None),
        ],
    )
    def test_more_than_there_ever_is(self, reason, missing):
        mention = only(f"couldn't assign flavors to pod set worker: {reason}")
        assert (mention.obstacle, mention.resource, mention.flavor) == (Obstacle.EXCEEDS_MAXIMUM, "nvidia.com/gpu", "f")
        assert (mention.missing, mention.pod_set, mention.raw) == (missing, "worker", reason)


class TestOtherReasons:
    @pytest.mark.parametrize(
        ("reason", "obstacle", "resource", "flavor"),
        [
            ("resource example.com/gpu unavailable in ClusterQueue", Obstacle.NOT_COVERED, "example.com/gpu", ""),
            (
                "untolerated taint {instance spot NoSchedule <nil>} in flavor spot",
                Obstacle.UNTOLERATED_TAINT,
                "",
                "spot",
            ),
            ("flavor h100 doesn't match node affinity", Obstacle.NODE_AFFINITY, "", "h100"),
            ("flavor gone not found", Obstacle.FLAVOR_NOT_FOUND, "", "gone"),
            (
                'topology "racks" doesn\'t allow to fit any of 1 pod(s). Total nodes: 6; excluded: resource "cpu": 6',
                Obstacle.TOPOLOGY,
                "",
                "",
            ),
            ('topology "racks" allows to fit only 2 out of 4 pod(s)', Obstacle.TOPOLOGY, "", ""),
            ('Flavor "f" does not support TopologyAwareScheduling', Obstacle.TOPOLOGY, "", "f"),
        ],
    )
    def test_of_a_pod_set(self, reason, obstacle, resource, flavor):
        mention = only(f"couldn't assign flavors to pod set main: {reason}")
        assert (mention.obstacle, mention.resource, mention.flavor) == (obstacle, resource, flavor)
        assert (mention.pod_set, mention.raw) == ("main", reason)

    @pytest.mark.parametrize(
        ("message", "obstacle"),
        [
            ("ClusterQueue a is inactive", Obstacle.QUEUE_STOPPED),
            ("LocalQueue lq is stopped", Obstacle.QUEUE_STOPPED),
            ("ClusterQueue a not found", Obstacle.QUEUE_MISSING),
            ("LocalQueue lq doesn't exist", Obstacle.QUEUE_MISSING),
            ("ClusterQueue a is terminating or missing", Obstacle.QUEUE_MISSING),
            ("workload namespace doesn't match ClusterQueue selector", Obstacle.NAMESPACE_MISMATCH),
            ("The workload has failed admission checks", Obstacle.ADMISSION_CHECKS),
            ("Admission is gated by: example.com/gate", Obstacle.ADMISSION_GATED),
            ("resources validation failed: spec.podSets[0]: Invalid value", Obstacle.INVALID_RESOURCES),
            (
                "waiting for all admitted workloads to be in PodsReady condition",
                Obstacle.WAITING_FOR_PODS_READY,
            ),
            ("Workload no longer fits after processing another workload", Obstacle.OUTRUN),
            (
                "Workload has overlapping preemption targets with another workload",
                Obstacle.OVERLAPPING_PREEMPTION,
            ),
        ],
    )
    def test_of_the_workload_as_a_whole(self, message, obstacle):
        mention = only(message)
        assert (mention.obstacle, mention.pod_set, mention.raw) == (obstacle, "", message)


class TestSeveral:
    def test_flavors_and_resources_are_told_apart(self):
        message = (
            "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor on-demand, 5 more "
            "needed, untolerated taint {key val NoSchedule <nil>} in flavor spot-tainted"
        )
        first, second = parse_pending(message).mentions
        assert (first.flavor, first.missing) == ("on-demand", 5000)
        assert (second.obstacle, second.flavor) == (Obstacle.UNTOLERATED_TAINT, "spot-tainted")

    def test_pod_sets_are_told_apart(self):
        message = (
            "couldn't assign flavors to pod set driver: flavor a doesn't match node affinity; "
            "couldn't assign flavors to pod set worker: resource x unavailable in ClusterQueue"
        )
        assert [m.pod_set for m in parse_pending(message).mentions] == ["driver", "worker"]

    def test_unknown_parts_are_kept_between_known_ones(self):
        message = f"{SEEN}, the moon is in the wrong phase, flavor b doesn't match node affinity"
        known, unknown, last = parse_pending(message).mentions
        assert (known.missing, last.flavor) == (8, "b")
        assert unknown == Mention(Obstacle.OTHER, "main", "", "", None, "the moon is in the wrong phase")

    def test_victims_it_waits_for_are_counted(self):
        pending = parse_pending(f"{SEEN}. Pending the preemption of 3 workload(s)")
        assert pending.preempting == 3
        assert [m.raw for m in pending.mentions] == [only(SEEN).raw]
        assert messages.is_pending_preemption(f"{SEEN}. Pending the preemption of 3 workload(s)")
        assert not messages.is_pending_preemption(SEEN)

    def test_an_empty_message_mentions_nothing(self):
        assert parse_pending("") == messages.PendingMessage((), 0)


class TestWriting:
    def test_as_kueue_was_seen_to_write_it(self):
        reason = messages.insufficient_unused("nvidia.com/gpu", "ml.p5.48xlarge", 8)
        assert messages.pod_set_message("main", [reason]) == SEEN

    def test_reasons_are_sorted(self):
        assert messages.pod_set_message("main", ["b", "a"]) == "couldn't assign flavors to pod set main: a, b"

    def test_an_unlimited_amount_is_written_as_such(self):
        assert "(<unlimited>)" in messages.exceeds_maximum("cpu", "f", 0, 1, INT64_MAX)

    @pytest.mark.slow
    @given(st.integers(1, 10**12), st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]))
    def test_what_is_written_reads_back(self, amount, resource):
        reasons = [
            messages.insufficient_unused(resource, "f.1", amount),
            messages.exceeds_maximum(resource, "f.2", 0, amount + 1, 1),
            messages.not_covered(resource),
            messages.untolerated_taint("key", "", "NoExecute", "f.3"),
            messages.node_affinity_mismatch("f.4"),
            messages.flavor_not_found("f.5"),
        ]
        text = messages.pending_preemption(messages.pod_set_message("main", reasons), 2)
        pending = parse_pending(text)
        assert sorted(m.raw for m in pending.mentions) == sorted(reasons)
        assert {m.missing for m in pending.mentions} == {amount, None}
        assert pending.preempting == 2


@pytest.mark.slow
@given(st.text(max_size=200))
def test_no_text_breaks_it(text):
    assert all(m.raw in text for m in parse_pending(text).mentions if "Pending the preemption" not in text)
