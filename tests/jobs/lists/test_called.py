import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.lists.called import called, called_from_the_start
from jobs.models import Workload
from teams.models import Cluster
from tests.stories import Job
from tests.worlds import World

pytestmark = pytest.mark.django_db
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)


@pytest.fixture
def named(shared: World) -> World:
    shared.see(Job("llm-train"), Job("train-llm"), Job("other"))
    return shared


def titles(condition: object) -> list[str]:
    return sorted(Workload.objects.filter(condition).values_list("owner_name", flat=True))  # type: ignore[arg-type]


def test_any_part_of_a_name_finds(named: World) -> None:
    assert titles(called("llm")) == ["llm-train", "train-llm"]
    assert titles(called("pytorchjob-o")) == ["other"]
    assert titles(called("LLM")) == ["llm-train", "train-llm"]


def test_of_a_uid_only_the_beginning_finds(named: World) -> None:
    assert titles(called("uid-hyperpod-ns-research-o")) == ["other"]
    assert titles(called("research-o")) == []


def test_over_all_only_the_beginning_finds(named: World) -> None:
    clusters = [named.cluster.pk]
    assert titles(called_from_the_start("llm", clusters)) == ["llm-train"]
    assert titles(called_from_the_start("LLM", clusters)) == ["llm-train"]
    assert titles(called_from_the_start("uid-hyperpod-ns-research-t", clusters)) == ["train-llm"]
    assert titles(called_from_the_start("llm", [])) == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS)
def test_every_text_stands_for_itself(world: World, text: str) -> None:
    """Whatever is a wildcard to a database is none here."""
    name = text.lower()
    fields = {"cluster": world.cluster, "uid": f"u-{text}"[:64], "name": "plain", "owner_name": name}
    row = Workload(resource_version=1, created_at=world.now, queued_at=world.now, first_seen_at=world.now,
                   is_queued=False, is_preempting=False, priority=0, gpus=0, state="running", **fields)  # fmt: skip
    row.save()
    assert titles(called_from_the_start(name, [world.cluster.pk])) == [name]
    assert titles(called(name)) == [name]
    for wild in ("%", "_", "*", "?", "["):
        if wild not in name:
            assert titles(called_from_the_start(wild + name[1:], [world.cluster.pk])) == []
    row.delete()


def test_the_beginning_is_found_by_index(named: World) -> None:
    clusters = list(Cluster.objects.values_list("pk", flat=True))
    plan = Workload.objects.filter(called_from_the_start("llm", clusters)).order_by().explain()
    if connection.vendor == "sqlite":
        assert "SCAN" not in plan
        assert plan.count("USING INDEX") == 3
