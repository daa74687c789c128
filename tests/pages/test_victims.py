"""Whom evictions hit hardest, as platform roles read it."""

import pytest

from tests.factories import ClusterFactory
from tests.pages.reading import rows, visit, words
from tests.pages.test_query_counts import count
from tests.people import People
from tests.stories import START, Job
from tests.worlds import World

pytestmark = pytest.mark.django_db

AGAIN, BORROWERS, HISTORY = "/platform/evictions/again/", "/platform/evictions/borrowers/", "/platform/evictions/"


@pytest.fixture
def restless(shared: World) -> World:
    shared.is_read(START)
    job = Job("often", created=-900)
    for at in (-2000, -120, -90, -60):
        shared.see(job.admit(at))
        shared.see(job.evict(at + 10))
        shared.see(job.release(at + 11))
    return shared


def test_repeat_victims(restless: World, people: People) -> None:
    for user in (people.platform_admin, people.finops, people.auditor):
        (row,) = rows(visit(user, AGAIN), "Jobs")
        assert row.startswith("often PyTorchJob Research hyperpod-ns-research 4 loop, 3 times 2.7 GPU-h")
    (row,) = rows(visit(people.finops, f"{AGAIN}?time=24h"), "Jobs")
    assert "hyperpod-ns-research 3 loop, 3 times 2.0 GPU-h" in row


def test_the_count_leads_to_as_many_evictions(restless: World, people: People) -> None:
    link = visit(people.finops, f"{AGAIN}?time=24h").text.split(f'href="{HISTORY}?q=')[1].split('"')[0]
    assert "3 evictions" in words(visit(people.finops, f"{HISTORY}?q={link}".replace("&amp;", "&")))


def test_a_table_that_is_cut_says_so_to_the_page(
    restless: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that one with more evictions pushes out is not gone."""
    assert 'data-region="victims" data-rows>' in visit(people.finops, AGAIN).text
    for module in ("jobs.evictions.repeat_victims", "portal.views.victims"):
        monkeypatch.setattr(f"{module}.MOST", 1)
    assert 'data-region="victims" data-rows="some">' in visit(people.finops, AGAIN).text


@pytest.mark.parametrize("query", ["", "?time=", "?time=1h", "?time=soon"])
def test_a_week_is_shown_unless_something_else_is_asked_for(restless: World, people: People, query: str) -> None:
    assert '<a href="?time=7d" aria-current="true">' in visit(people.finops, AGAIN + query).text


def test_borrowers_without_checkpoints(shared: World, people: People) -> None:
    shared.is_read(START)
    shared.see(Job("big", gpus=16, created=-40).admit(-30))
    for user in (people.platform_admin, people.finops):
        assert rows(visit(user, BORROWERS), "Jobs") == ["big normal Research hyperpod-ns-research 16 4 8.0 GPU-h"]


def test_many_borrowers_cost_no_more_queries_than_one(shared: World, people: People) -> None:
    shared.see(Job("big", gpus=16, created=-40).admit(-30))
    few = count(people.finops, BORROWERS)
    shared.see(*(Job(f"more-{n}", "hyperpod-ns-vision", gpus=4, queue="vision-queue").admit(-20) for n in range(6)))
    assert len(rows(visit(people.finops, BORROWERS), "Jobs")) == 5
    assert count(people.finops, BORROWERS) == few <= 12


def test_the_cluster_is_named_where_there_are_several(restless: World, people: People) -> None:
    ClusterFactory(slug="gpu-two")
    restless.see(Job("big", gpus=16, created=-40).admit(-30))
    for url in (AGAIN, BORROWERS):
        assert "GPU one" in rows(visit(people.finops, url), "Jobs")[0]


def test_nothing_to_tell_is_not_nothing_known(shared: World, people: People) -> None:
    texts = {AGAIN: "No job was evicted twice", BORROWERS: "Nobody borrows without checkpoints"}
    for url, text in texts.items():
        assert text not in words(visit(people.finops, url))
    shared.is_read(START)
    for url, text in texts.items():
        assert text in words(visit(people.finops, url))


def test_the_history_leads_here_and_to_jobs_without_a_priority_class(shared: World, people: People) -> None:
    for page in (HISTORY, AGAIN, BORROWERS):
        text = visit(people.finops, page).text
        for url in (HISTORY, AGAIN, BORROWERS, "/platform/workloads/?group=now&amp;priority=-"):
            assert f'href="{url}"' in text
    assert AGAIN not in visit(people.member, "/teams/research/evictions/").text


def test_names_are_text_and_not_markup(shared: World, people: People) -> None:
    shared.is_read(START)
    job = Job("odd", gpus=16, created=-200)
    job.obj["metadata"]["ownerReferences"][0] |= {"name": "<b>bold</b>&x=1", "kind": "<i>Kind</i>"}
    for at in (-90, -60):
        shared.see(job.admit(at))
        shared.see(job.evict(at + 5))
        shared.see(job.release(at + 6))
    shared.see(job.admit(-5))
    for url in (AGAIN, BORROWERS):
        text = visit(people.finops, url).text
        assert "&lt;b&gt;bold" in text
        assert "<b>bold" not in text
        assert "<i>Kind" not in text
