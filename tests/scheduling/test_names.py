"""Names of the outside world that mean something to people."""

import pytest

from scheduling import names


@pytest.mark.parametrize(
    ("resource", "counts"),
    [
        ("nvidia.com/gpu", True),
        ("nvidia.com/mig-1g.10gb", True),
        ("aws.amazon.com/neurondevice", True),
        ("aws.amazon.com/neuroncore", True),
        ("amd.com/gpu", True),
        ("vpc.amazonaws.com/efa", False),
        ("cpu", False),
        ("example.com/gpu", False),
    ],
)
def test_whole_devices_and_slices_are_accelerators(resource, counts):
    assert names.is_accelerator(resource) == counts


@pytest.mark.parametrize(
    ("resource", "is_bytes", "is_pod_level"),
    [
        ("memory", True, True),
        ("ephemeral-storage", True, False),
        ("hugepages-2Mi", True, True),
        ("cpu", False, True),
        ("nvidia.com/gpu", False, False),
    ],
)
def test_kinds_of_resources(resource, is_bytes, is_pod_level):
    assert names.is_bytes(resource) == is_bytes
    assert names.is_pod_level(resource) == is_pod_level


def test_hyperpods_queue_for_idle_capacity_is_recognised():
    assert names.is_idle_queue("hyperpod-ns-idle-resource-sharing-cq-0")
    assert not names.is_idle_queue("hyperpod-ns-team-a-clusterqueue")
