"""No page shows a text that is not marked for translation: all are rendered in a language whose every text stands in
brackets, from a cluster with something in each state, and outside the brackets there may be names only."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import trans_real

from accounts.models import User
from gateways.errors import Unavailable
from gateways.records import NodeRecord
from jobs.models import Workload
from jobs.sync.sources import SOURCES
from jobs.templatetags import queue_lines
from jobs.templatetags import quota as quota_tags
from jobs.templatetags import workloads as workload_tags
from portal.models import Gap
from portal.sync_runs import record_failure
from scheduling import names
from teams.models import Cluster, Team
from teams.sync import write_nodes
from tests.locale.brackets import Brackets, unmarked
from tests.pages.reading import visit
from tests.pages.test_roles import MATRIX, address
from tests.people import People
from tests.stories import G6, GPU, P5, START, Job, cluster_queue, cohort, flavor, groups, local_queue, minute, quota
from tests.worlds import World

pytestmark = pytest.mark.django_db

GIVEN = {"main", "normal", "h100", "idle-queue", "research-queue", "vision-queue", "shared", "connection refused"}
GIVEN |= {name for _, name in settings.LANGUAGES}  # each in its own
GIVEN |= {"IAM Identity Center", "Microsoft Entra ID"}
POD_SET = "couldn't assign flavors to pod set main: "
MESSAGES = (
    f"{POD_SET}insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed",
    f"{POD_SET}borrowing limit for nvidia.com/gpu in flavor h100 exceeded",
    f"{POD_SET}flavor h100 not found",
    "LocalQueue main is stopped",
    "LocalQueue main doesn't exist",
    "in words of tomorrow",
)


@pytest.fixture(autouse=True)
def _brackets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is kept drawn by language is forgotten before, since it may be Portuguese, and after, being in brackets."""
    monkeypatch.setitem(trans_real._translations, "pt-br", Brackets("pt-br"))
    _forget_what_is_drawn()
    yield
    _forget_what_is_drawn()


def _forget_what_is_drawn() -> None:
    quota_tags._state_pill.cache_clear()
    queue_lines._drawn.cache_clear()
    workload_tags._owner_cell.cache_clear()


@pytest.fixture
def busy(shared: World) -> World:
    """Jobs in every state with every kind of end, queues that borrow and lend, facts that were not read."""
    both = {GPU: quota(8), "cpu": quota(96), "memory": quota("1Ti")}
    shared.queues(
        cluster_queue("vision-queue", flavors=groups((P5, both), (G6, {**both, GPU: quota(4, 2)}))),
        cluster_queue("idle-queue", 4, cohort=None),
        cohort("first-ring", parent="second-ring"),
        cohort("second-ring", parent="first-ring"),
        flavor(P5),
        local_queue("hyperpod-ns-research", "vision-queue", name="second"),
    )
    write_nodes(
        shared.cluster, [NodeRecord(f"node-{healthy}", P5, healthy, {GPU: 8}) for healthy in (True, False)], START
    )
    shared.see(Job("job", uid="uid-research", gpus=14).admit(-50), Job("job", "hyperpod-ns-vision", uid="uid-vision"))
    shared.see(*(Job(f"waits-{n}", created=-30).waits(message, -30) for n, message in enumerate(MESSAGES)))
    shared.see(
        Job("evicted").admit(-40).evict(-20).release(-19, "no room"),
        Job("leaves").admit(-40).evict(-20),
        Job("starts").admit(-2).condition(names.PODS_READY, False, -2),
        Job("reserved").reserve(-2),
        Job("done").admit(-60).finish(-30),
        Job("failed").admit(-60).finish(-30, names.FAILED),
        Job("off").deactivate(),
        Job("new"),
    )
    gone = Job("gone").admit(-60)
    shared.see(gone)
    shared.lose(gone, now=minute(-10), after=minute(-20))
    shared.now = START
    return shared


def known(people: People) -> set[str]:
    """The names that the data gives."""
    rows = (
        *User.objects.values_list("name", flat=True),
        *Team.objects.values_list("name", "slug", "cost_centre__name", "cost_centre__code"),
        *Cluster.objects.values_list("name", "slug"),
        *Workload.objects.values_list("owner_name", "namespace", "queue_name"),
    )
    return GIVEN | {name for row in rows for name in ([row] if isinstance(row, str) else row) if name}


def pages(user: User) -> dict[str, HttpResponse]:
    """Every page that answers this person, its refusals and its errors among them, and that of each job."""
    jobs = [workload.get_absolute_url() for workload in Workload.objects.all()]
    lists = [f"{reverse('all-workloads')}?{query}" for query in ("group=ended", "state=levitating&odd=1", "q=nobody")]
    urls = [*map(address, MATRIX), *jobs, *lists, f"{reverse('search')}?q=research", "/no/such/page/"]
    found = {url: visit(user, url, "pt-br") for url in urls}
    return {
        url: response for url, response in found.items() if response.headers.get("Content-Type", "")[:9] == "text/html"
    }


@pytest.mark.parametrize(
    ("role", "state"),
    [("platform_admin", "failing"), ("platform_admin", "never read"), ("member", "current"), ("stranger", "current")],
)
def test_no_page_says_what_nobody_can_translate(busy: World, people: People, role: str, state: str) -> None:
    if state != "never read":
        busy.is_read(START - timedelta(minutes=10 if state == "failing" else 0))
    if state == "failing":
        for source in SOURCES:
            record_failure(source, busy.cluster.slug, now=START, error=Unavailable("connection refused"))
        for cause in Gap.Cause:
            Gap.objects.create(
                cluster=busy.cluster.slug, source=f"{SOURCES[0]}", start=minute(-9), end=START, cause=cause
            )
        Cluster.objects.update(missing_rights=["list nodes"])
    found = {url: unmarked(page.text, known(people)) for url, page in pages(getattr(people, role)).items()}
    assert {url: texts for url, texts in found.items() if texts} == {}
