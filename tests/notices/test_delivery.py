"""From the outbox to channels on loopback: nothing lost, nothing doubled but by a death in between."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, time, timedelta
from email import message_from_string
from email.policy import default
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from cryptography.fernet import Fernet

from accounts.models import User
from gateways.errors import BadReply, Unavailable
from gateways.letters import Letter
from jobs.telling.words import words_of
from notices.actions import add_channel, choose, send_again
from notices.delivery import MOST_ATTEMPTS, dead, deliver, pause
from notices.kinds import How, Kind
from notices.letters import WordsOf
from notices.models import Channel, Choice, Delivery, Habits, Message, Notice, Receipt
from notices.packing import pack
from notices.recipients import address
from notices.sending import send
from scheduling import names
from scheduling.preemption_messages import preempted
from teams.models import Membership
from tests.factories import MembershipFactory
from tests.people import People
from tests.sinks import HttpSink, http_sink, mail_sink
from tests.stories import START, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

THEIRS = "22222222-2222-4222-8222-222222222222"


@pytest.fixture(autouse=True)
def _keys(settings: Any) -> None:
    settings.CHANNEL_KEYS = [Fernet.generate_key().decode()]
    settings.INTERNAL_TARGETS = frozenset({"127.0.0.1"})
    settings.PORTAL_ADDRESS = "https://portal.example"


@pytest.fixture
def sink() -> Iterator[HttpSink]:
    with http_sink() as found:
        yield found


@pytest.fixture
def channel(people: People, sink: HttpSink) -> Channel:
    secret = {"address": sink.url, "key": "sixteen characters"}
    return add_channel(user=people.member, kind="webhook", name="mine", secret=secret, now=START)


def evict(world: World, count: int = 1, at: float = 5) -> None:
    jobs = [Job(f"job-{at}-{n}", gpus=1).admit(0) for n in range(count)]
    world.see(*jobs, now=minute(1))
    world.see(*(job.evict(at) for job in jobs), now=minute(at))


def tell(now: datetime, sender: Any = send, words: WordsOf = words_of) -> None:
    """What the task does."""
    address(now)
    pack(now)
    deliver(words, sender, lambda: now)


def ids(sink: HttpSink) -> list[str]:
    return [post.headers["webhook-id"] for post in sink.got]


def test_an_eviction_reaches_the_webhook_within_the_minute(shared: World, channel: Channel, sink: HttpSink) -> None:
    evict(shared)
    tell(minute(5))
    (post,) = sink.got
    body = json.loads(post.body)
    (notice,) = body["notices"]
    assert body["title"] == "job-5-0 was evicted: Lender took it back"
    assert (notice["kind"], notice["team"], notice["cluster"]) == ("evicted", "research", "gpu-one")
    assert notice["url"].startswith("https://portal.example/clusters/gpu-one/workloads/uid-")
    message = Message.objects.get()
    assert (str(message.pk), message.sent_at, message.attempts) == (ids(sink)[0], minute(5), 1)
    tell(minute(6))
    assert len(sink.got) == 1


def test_mail_goes_to_the_persons_own_address_in_their_language(shared: World, people: People, settings: Any) -> None:
    people.member.email = "member@example.org"
    people.member.save()
    Habits.objects.create(user=people.member, language="pt-br")
    add_channel(user=people.member, kind="email", name="mail", secret={}, now=START)
    with mail_sink() as mails:
        settings.MAIL_URL, settings.MAIL_FROM = mails.url, "portal@example.org"
        evict(shared)
        tell(minute(5))
    (mail,) = mails.got
    assert "To: member@example.org" in mail
    assert f"Message-ID: <{Message.objects.get().pk}@example.org>" in mail
    read = message_from_string(mail, policy=default)
    body = read.get_body(("plain", "html"))
    assert read["Subject"] == "job-5-0 foi despejado: Quem cedeu pediu de volta"
    assert body is not None and "Perdido:" in body.get_content()


def test_no_channel_names_a_team_that_the_reader_may_not_know(
    shared: World, people: People, channel: Channel, sink: HttpSink
) -> None:
    theirs = Job("secret-llm", "hyperpod-ns-vision", queue="vision-queue", uid=THEIRS).admit(2)
    mine = Job("mine", gpus=1).admit(0)
    shared.see(mine, theirs, now=minute(3))
    taken = preempted(THEIRS, "job", names.IN_COHORT_RECLAMATION, ("all", "vision-queue"), ("all", "research-queue"))
    shared.see(mine.evict(5, message=taken), now=minute(5))
    tell(minute(5))
    (told,) = [post.body.decode() for post in sink.got]
    assert "a workload of another team" in told
    assert not [name for name in ("vision", "secret-llm", THEIRS) if name in told.lower()]
    MembershipFactory(user=people.member, team=people.vision)
    shared.see(mine.release(6).admit(7), now=minute(7))
    shared.see(mine.evict(9, message=taken), now=minute(9))
    tell(minute(9))
    assert "secret-llm of Vision" in sink.got[-1].body.decode()


def test_a_channel_that_is_away_gets_it_later_with_the_same_id(shared: World, channel: Channel, sink: HttpSink) -> None:
    sink.answers = [503, 503]
    evict(shared)
    for at in (5, 5.5, 6, 7, 8, 9):
        tell(minute(at))
    assert len(sink.got) == 3
    assert len(set(ids(sink))) == 1
    message = Message.objects.get()
    assert (message.sent_at, message.attempts, message.last_error) == (minute(8), 3, "")


def test_what_is_never_taken_is_given_up_and_sent_again_on_demand(
    shared: World, people: People, channel: Channel, sink: HttpSink
) -> None:
    sink.answers = [500] * MOST_ATTEMPTS
    evict(shared)
    now = minute(5)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        assert not dead().exists()
        tell(now)
        now += pause(attempt)
    message = dead().get()
    assert (message.attempts, message.last_error) == (MOST_ATTEMPTS, "127.0.0.1: 500")
    tell(now + timedelta(days=1))
    assert len(sink.got) == MOST_ATTEMPTS
    send_again(message=message, user=people.platform_admin, now=now)
    tell(now)
    assert (len(sink.got), dead().count()) == (MOST_ATTEMPTS + 1, 0)


@pytest.fixture
def _quiet(people: People) -> None:
    """From 12:06 to 13:00 by the clock of the stories."""
    Habits.objects.create(user=people.member, language="en", quiet_from=time(12, 6), quiet_to=time(13))


@pytest.mark.usefixtures("_quiet")
def test_what_is_tried_again_waits_for_the_end_of_quiet_hours(shared: World, channel: Channel, sink: HttpSink) -> None:
    sink.answers = [503]
    evict(shared)
    for at in (5, 6, 30, 59):
        tell(minute(at))
    assert len(sink.got) == 1
    tell(minute(60))
    message = Message.objects.get()
    assert (len(sink.got), message.sent_at, message.attempts) == (2, minute(60), 2)


@pytest.mark.usefixtures("_quiet")
def test_a_flood_that_is_held_back_into_quiet_hours_comes_after_them(
    shared: World, channel: Channel, sink: HttpSink
) -> None:
    evict(shared, 3, at=2)
    tell(minute(2))
    evict(shared, 9, at=5)
    tell(minute(5))
    evict(shared, 2, at=5.5)
    tell(minute(5.5))
    before = len(sink.got)
    for at in (6, 13, 16, 59):
        tell(minute(at))
    assert (len(sink.got), Delivery.objects.filter(message__sent_at=None).count()) == (before, 2)
    tell(minute(60))
    assert not Delivery.objects.filter(message__sent_at=None).exists()


@pytest.mark.usefixtures("_quiet")
def test_a_worker_that_comes_back_in_quiet_hours_sends_after_them(
    shared: World, channel: Channel, sink: HttpSink
) -> None:
    evict(shared)
    address(minute(5))
    tell(minute(20))
    assert sink.got == []
    tell(minute(60))
    assert len(sink.got) == 1


def test_a_channel_that_says_no_is_not_asked_again(shared: World, channel: Channel, sink: HttpSink) -> None:
    sink.answers = [410]
    evict(shared)
    tell(minute(5))
    assert dead().get().attempts == 1


def test_one_channel_that_hangs_does_not_take_the_others_along(shared: World, people: People, channel: Channel) -> None:
    other = add_channel(user=people.viewer, kind="email", name="mail", secret={}, now=START)
    tried: list[int] = []

    def sender(to: Channel, letter: Letter, now: datetime) -> None:
        tried.append(to.pk)
        if to == channel:
            raise Unavailable("silent")

    evict(shared, 3)
    tell(minute(5), sender)
    assert tried.count(channel.pk) == 1
    assert tried.count(other.pk) == 3


def test_a_notice_that_cannot_be_worded_holds_nobody_up_and_is_given_up(
    shared: World, people: People, channel: Channel
) -> None:
    add_channel(user=people.viewer, kind="email", name="mail", secret={}, now=START)
    taken: list[str] = []

    def unworded(notices: Iterable[Notice], reader: User) -> Any:
        if reader == people.member:
            raise LookupError
        return words_of(notices, reader)

    def take(to: Channel, letter: Letter, now: datetime) -> None:
        taken.append(to.kind)

    evict(shared)
    now = minute(5)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        with pytest.raises(LookupError):
            tell(now, take, unworded)
        tell(now, take, unworded)
        now += pause(attempt)
    tell(now, take, unworded)
    assert taken == ["email"]
    assert dead().get().channel == channel


def test_a_worker_that_dies_before_it_notes_the_answer_doubles_with_the_same_id(
    shared: World, channel: Channel, sink: HttpSink
) -> None:
    def dies(to: Channel, letter: Letter, now: datetime) -> None:
        send(to, letter, now)
        raise SystemExit

    evict(shared)
    with pytest.raises(SystemExit):
        tell(minute(5), dies)
    tell(minute(6))
    tell(minute(7))
    assert len(sink.got) == 2
    assert len(set(ids(sink))) == 1


def test_a_worker_that_dies_before_the_answer_loses_nothing(shared: World, channel: Channel, sink: HttpSink) -> None:
    def dies(to: Channel, letter: Letter, now: datetime) -> None:
        raise SystemExit

    evict(shared)
    with pytest.raises(SystemExit):
        tell(minute(5), dies)
    tell(minute(6))
    assert len(sink.got) == 1


def test_a_channel_that_outlasts_every_worker_holds_nobody_up_and_is_given_up(
    shared: World, people: People, channel: Channel
) -> None:
    add_channel(user=people.viewer, kind="email", name="mail", secret={}, now=START)
    taken: list[str] = []

    def hangs(to: Channel, letter: Letter, now: datetime) -> None:
        if to == channel:
            raise SoftTimeLimitExceeded
        taken.append(to.kind)

    evict(shared)
    now = minute(5)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        with pytest.raises(SoftTimeLimitExceeded):
            tell(now, hangs)
        tell(now, hangs)
        now += pause(attempt)
    tell(now, hangs)
    assert taken == ["email"]
    assert dead().get().last_error == "no attempt came to an end"


def test_two_workers_do_not_send_the_same(shared: World, channel: Channel, sink: HttpSink) -> None:
    def while_another_sends(to: Channel, letter: Letter, now: datetime) -> None:
        deliver(words_of, send, lambda: minute(5))
        send(to, letter, now)

    evict(shared)
    tell(minute(5), while_another_sends)
    assert len(sink.got) == 1


@pytest.mark.slow
def test_a_thousand_evictions_in_a_minute_are_a_few_messages_and_none_is_missing(
    shared: World, people: People, channel: Channel, sink: HttpSink
) -> None:
    for quarter in range(4):
        at = 5 + quarter / 4
        evict(shared, 250, at)
        tell(minute(at))
    for at in (6, 10, 15.1, 26):
        tell(minute(at))
    told = [notice["id"] for post in sink.got for notice in json.loads(post.body)["notices"]]
    assert (len(told), len(set(told)), len(sink.got)) == (1000, 1000, 2)
    assert Receipt.objects.filter(user=people.member).count() == 1000
    assert not Delivery.objects.filter(message__isnull=True).exists()


def test_quiet_hours_hold_it_back_and_the_digest_waits_for_its_hour(
    shared: World, people: People, channel: Channel, sink: HttpSink
) -> None:
    Habits.objects.create(user=people.member, language="en", quiet_from=time(12), quiet_to=time(13), digest_at=time(15))
    Choice.objects.create(user=people.member, kind=Kind.FAILED, how=How.DIGEST)
    failing = [Job(f"bad-{n}").admit(0) for n in range(2)]
    shared.see(*failing, now=minute(1))
    shared.see(*(job.finish(4, "Failed") for job in failing), now=minute(4))
    evict(shared)
    tell(minute(5))
    assert sink.got == []
    tell(minute(60))
    assert [json.loads(post.body)["title"] for post in sink.got] == ["job-5-0 was evicted: Lender took it back"]
    tell(minute(180))
    assert json.loads(sink.got[1].body)["title"] == "2 notices"


def test_who_wants_to_hear_of_it_no_more_gets_no_digest_of_it(
    shared: World, people: People, channel: Channel, sink: HttpSink
) -> None:
    habits: dict[str, Any] = {"unfollowed": (), "language": "en", "digest_at": time(15)}
    habits |= dict.fromkeys(("quiet_from", "quiet_to", "wait_hours", "loss_gpu_hours"))

    def wish(failed: How, now: datetime) -> None:
        hows = {Kind.FAILED: failed, Kind.EVICTED: How.DIGEST}
        choose(user=people.member, hows=hows, now=now, **habits)

    wish(How.DIGEST, minute(0))
    failing = Job("bad").admit(0)
    shared.see(failing, now=minute(1))
    shared.see(failing.finish(4, "Failed"), now=minute(4))
    evict(shared)
    tell(minute(5))
    wish(How.NEVER, minute(6))
    tell(minute(180))
    assert [json.loads(post.body)["title"] for post in sink.got] == ["job-5-0 was evicted: Lender took it back"]
    assert Receipt.objects.filter(user=people.member).count() == 2


def test_who_left_the_team_before_it_was_sent_gets_nothing(
    shared: World, people: People, channel: Channel, sink: HttpSink
) -> None:
    evict(shared)
    address(minute(5))
    pack(minute(5))
    Membership.objects.filter(user=people.member).delete()
    deliver(words_of, send, lambda: minute(5))
    assert (sink.got, Message.objects.count()) == ([], 0)


def test_a_webhook_that_points_inside_gets_nothing_and_is_given_up(
    shared: World, channel: Channel, sink: HttpSink, settings: Any
) -> None:
    settings.INTERNAL_TARGETS = frozenset()
    evict(shared)
    tell(minute(5))
    assert (sink.got, dead().count()) == ([], 1)


def test_sending_stops_when_another_worker_may(shared: World, channel: Channel, sink: HttpSink) -> None:
    evict(shared, 3)
    address(minute(5))
    pack(minute(5))
    turns = iter([True, False])
    deliver(words_of, send, lambda: minute(5), lambda: next(turns))
    assert len(sink.got) == 1


def test_an_error_is_cut_and_never_holds_the_secret(shared: World, channel: Channel) -> None:
    def refuses(to: Channel, letter: Letter, now: datetime) -> None:
        raise BadReply("x" * 1000)

    evict(shared)
    tell(minute(5), refuses)
    assert dead().get().last_error == "x" * 300
