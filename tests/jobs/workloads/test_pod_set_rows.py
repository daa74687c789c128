from jobs.models import Workload
from jobs.workloads.pod_set_rows import pod_set_rows

GPU, P5 = "nvidia.com/gpu", "ml.p5.48xlarge"


def pod_set(name: str = "main", count: int = 2, min_count: int | None = None, **requests: int) -> dict[str, object]:
    return {"name": name, "count": count, "min_count": min_count, "requests": {GPU: 8, "cpu": 96_000, **requests}}


def test_what_each_pod_asks_for_accelerators_first() -> None:
    (row,) = pod_set_rows(Workload(pod_sets=[pod_set(zero=0)]))
    assert (row.name, row.count, row.min_count, row.asks) == ("main", 2, None, ("8 GPUs", "96 CPU cores"))
    assert (row.flavors, row.given, row.done) == ((), None, 0)


def test_where_they_were_put_each_flavor_once() -> None:
    assigned = {"name": "main", "count": 1, "flavors": {GPU: P5, "cpu": P5, "memory": "spot"}, "usage": {}}
    status = {"assignments": [assigned], "reclaimable": {"main": 1}}
    first, second = pod_set_rows(Workload(pod_sets=[pod_set(min_count=1), pod_set("more")], status=status))
    assert (first.flavors, first.given, first.done) == (("H100 (ml.p5.48xlarge)", "spot"), 1, 1)
    assert (second.flavors, second.given, second.done) == ((), None, 0)


def test_a_workload_without_pod_sets_or_with_pods_that_ask_for_nothing() -> None:
    assert list(pod_set_rows(Workload())) == []
    (row,) = pod_set_rows(Workload(pod_sets=[{"name": "main", "count": 0, "min_count": None, "requests": {}}]))
    assert (row.count, row.asks) == (0, ())
