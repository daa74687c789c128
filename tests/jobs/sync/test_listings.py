import pytest

from gateways.records import ObjectVersion, Page
from jobs.models import Workload
from jobs.sync.listings import SpecListing, WorkloadListing, is_doubtful
from portal.sync_runs import Counts
from teams.models import SpecVersion
from teams.sync import QueueRecord, live_names
from tests.stories import Job, cluster_queue, local_queue, minute, next_version
from tests.worlds import World

pytestmark = pytest.mark.django_db
Kind = SpecVersion.Kind


def page(*jobs: Job, restarted: bool = False, is_last: bool = True, unread: tuple[Job, ...] = ()) -> Page:
    versions = tuple(ObjectVersion(job.uid, job.namespace, job.record.name, job.version) for job in unread)
    sentences = tuple(f"Workload {job.uid}: unreadable" for job in unread)
    return Page(tuple(job.record for job in jobs), sentences, next_version(), restarted, is_last, versions)


def queue_page(*records: QueueRecord, **more: bool) -> Page:
    return Page(records, (), next_version(), more.get("restarted", False), True)


@pytest.mark.parametrize(
    ("absent", "live", "doubtful"), [(0, 0, False), (1, 2, False), (2, 3, True), (1, 1, True), (5, 10, False)]
)
def test_more_than_half_absent_is_doubtful(absent: int, live: int, doubtful: bool) -> None:
    assert is_doubtful(range(absent), range(live)) is doubtful


def test_what_a_complete_list_lacks_is_gone_between_the_last_good_read_and_now(world: World) -> None:
    kept, lost = Job("kept"), Job("lost").admit(1)
    world.see(kept, lost)
    listing = WorkloadListing(world.cluster, Counts(), minute(5))
    listing.take(page(kept), minute(6))
    assert listing.absent() == {lost.uid}
    listing.close(listing.absent(), minute(6))
    row = world.row(lost)
    assert (row.gone_after, row.gone_before) == (minute(5), minute(6))
    assert listing.counts.absent == 1


def test_a_restarted_list_forgets_its_earlier_pages(world: World) -> None:
    first, second = Job("first"), Job("second")
    world.see(first, second)
    counts = Counts()
    listing = WorkloadListing(world.cluster, counts, minute(5))
    listing.take(page(first, is_last=False, unread=(Job("odd"),)), minute(6))
    listing.take(page(second, restarted=True), minute(6))
    assert listing.absent() == {first.uid}
    assert (counts.seen, counts.malformed) == (1, [])


def test_an_object_that_cannot_be_read_is_counted_but_not_absent(world: World) -> None:
    odd, good = Job("odd"), Job("good")
    world.see(odd, good)
    counts = Counts()
    listing = WorkloadListing(world.cluster, counts, minute(5))
    listing.take(page(good, unread=(odd,)), minute(6))
    assert listing.absent() == set()
    assert counts.malformed == [f"Workload {odd.uid}: unreadable"]


def test_a_list_with_an_object_without_metadata_marks_nothing_absent(world: World) -> None:
    job = Job()
    world.see(job)
    listing = WorkloadListing(world.cluster, Counts(), minute(5))
    listing.take(Page((), ("an object without metadata",), next_version(), False, True), minute(6))
    assert listing.absent() == set()


def test_versions_tell_what_is_news(world: World) -> None:
    known, changed, new = Job("known"), Job("changed"), Job("new")
    world.see(known, changed)
    stored = dict(Workload.objects.values_list("uid", "resource_version"))
    changed.touch()
    versions = tuple(ObjectVersion(job.uid, job.namespace, "x", job.version) for job in (known, changed, new))
    listing = WorkloadListing(world.cluster, Counts(), minute(5))
    news = listing.note(Page(versions, (), next_version(), False, True), stored)
    assert [version.uid for version in news] == [changed.uid, new.uid]


def test_a_spec_list_marks_absent_queues_deleted(world: World) -> None:
    world.queues(cluster_queue("a"), cluster_queue("b"), cluster_queue("c"))
    counts = Counts()
    listing = SpecListing(world.cluster, Kind.CLUSTER_QUEUE, counts)
    listing.take(queue_page(cluster_queue("a"), cluster_queue("c")), minute(5))
    listing.close(listing.absent(), minute(5))
    assert live_names(world.cluster, Kind.CLUSTER_QUEUE) == {"a", "c"}
    assert (counts.seen, counts.written, counts.absent) == (2, 0, 1)


def test_a_restarted_spec_list_forgets_its_earlier_pages(world: World) -> None:
    world.queues(cluster_queue("a"), cluster_queue("b"))
    listing = SpecListing(world.cluster, Kind.CLUSTER_QUEUE, Counts())
    listing.take(queue_page(cluster_queue("a")), minute(5))
    listing.take(queue_page(cluster_queue("b"), restarted=True), minute(5))
    assert listing.absent() == {"a"}


def test_a_local_queue_that_cannot_be_read_is_known_by_namespace_and_name(world: World) -> None:
    world.queues(local_queue("ns", "a"))
    listing = SpecListing(world.cluster, Kind.LOCAL_QUEUE, Counts())
    unread = ObjectVersion("uid", "ns", "main-queue", 5)
    listing.take(Page((), ("LocalQueue ns/main-queue: odd",), next_version(), False, True, (unread,)), minute(5))
    assert listing.absent() == set()
