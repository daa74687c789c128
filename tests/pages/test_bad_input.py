"""Whatever is put into an address or is called a name: no answer is an error of the portal, and no name is markup."""

import re
from collections.abc import Iterator
from dataclasses import fields
from itertools import product
from urllib.parse import quote, urlencode

import pytest
from django.conf import settings
from django.test import Client
from django.urls import get_resolver, reverse
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from jobs.evictions.filter import EvictionFilter
from jobs.models import Eviction
from jobs.workloads.filter import WorkloadFilter
from notices.models import Notice
from notices.recipients import address
from teams.models import Cluster, CostCentre, Team
from tests.pages.crawl import PART, Crawl, addresses, routes
from tests.people import People
from tests.pods import Pod, see_pods
from tests.stories import START, Job, cluster_queue, local_queue
from tests.terminals import reach_by_terminal
from tests.worlds import World

pytestmark = [pytest.mark.django_db, pytest.mark.crawl]

LONGEST = "n" * 253
RIGHT_TO_LEFT = "\u202eעבודה مهمة"
SCRIPT = "</script><script>alert('x')</script><img src=x onerror=alert(1)>\"' &amp;"
ODD = (
    "", " ", "0", "-1", "1e9", "9" * 400, "²", "١", "null", "[]", "{}", "%", "%25", "%zz", "\\", "'", '"', ";", "..",
    "../..", "//evil.example", "a/b", "a\tb", "a\r\nSet-Cookie: x=y", "\ufeff", "\U0001f600", RIGHT_TO_LEFT, SCRIPT,
    LONGEST, LONGEST * 20, "' OR 1=1 --", "{{7*7}}", "=1+1", "-", "--since",
)  # fmt: skip
"""What people, programs and attackers put where a value belongs."""

PARAMETERS = (
    *(field.name for each in (WorkloadFilter, EvictionFilter) for field in fields(each)),
    "next",
    "pod",
    "period",
    "language",
    "unknown",
    "q[]",
    "",
)
EXPECTED = {200, 204, 302, 304, 400, 401, 403, 404, 405, 429}

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(ODD)


@pytest.fixture
def urls(shared: World) -> dict[str, str]:
    """One address of each route, of things that are there."""
    evicted = Job("evicted", uid="uid-evicted").admit(-9)
    shared.see(evicted, Job("runs", uid="uid-runs").admit(-9), Job("waits", uid="uid-waits").waits("no room"))
    see_pods(shared, Pod(evicted, bound=-8))
    shared.see(evicted.evict(-5))
    shared.is_read()
    reach_by_terminal(shared.cluster, "research")
    key = str(Eviction.objects.values_list("pk", flat=True).get())
    address(START)
    values = {
        "key": [key],
        "cluster": ["gpu-one"],
        "name": ["node-1"],
        "uid": ["uid-evicted"],
        "slug": ["gpu-one", "research"],
        **of_notices(),
    }
    found = {name: url for url, name in addresses(values).items() if "teams/gpu-one" not in url}
    return found | {"cluster": reverse("cluster", args=["gpu-one"])}


def of_notices() -> dict[str, list[str]]:
    """Values for the addresses of what people were told."""
    keys = [str(key) for key in Notice.objects.values_list("pk", flat=True)]
    ours = {"channel": ["1"], "token": ["1"], "credential": ["1"], "path": ["Users"]}
    return {"notice": keys, "message": keys[:1], "trial": keys[:1], **ours}


@pytest.fixture
def clients(people: People) -> list[Client]:
    """Of a member and of somebody who may open every page."""
    found = [Client(), Client()]
    for client, user in zip(found, (people.member, people.platform_admin), strict=True):
        client.force_login(user)
    return found


@pytest.mark.parametrize("odd", ODD)
def test_any_text_in_every_parameter_of_every_url(urls: dict[str, str], clients: list[Client], odd: str) -> None:
    query = urlencode(dict.fromkeys(PARAMETERS, odd))
    for name, url in urls.items():
        assert clients[1].get(f"{url}?{query}").status_code in EXPECTED, name


@hypothesis_settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data(), told=st.dictionaries(st.sampled_from(PARAMETERS), anything, max_size=6))
def test_any_mixture(urls: dict[str, str], clients: list[Client], data: st.DataObject, told: dict[str, str]) -> None:
    url = urls[data.draw(st.sampled_from(sorted(urls)))]
    headers = PART if data.draw(st.booleans()) else {}
    for client in clients:
        assert client.get(f"{url}?{urlencode(told)}", headers=headers).status_code in EXPECTED


@pytest.mark.parametrize(
    "query", ["%", "%00", "q=%00", "%ff=%fe", "&&&", "=", "q", "q=a&q=b", "?" * 50, "q=" + "%F0%9F" * 500]
)
def test_queries_that_are_none(urls: dict[str, str], clients: list[Client], query: str) -> None:
    for (name, url), client in product(urls.items(), clients):
        assert client.get(f"{url}?{query}").status_code in EXPECTED, name


@pytest.mark.parametrize("odd", [text for text in (*ODD, "\0", "ünï", "A" * 51) if text])
def test_any_text_in_every_part_of_every_path(urls: dict[str, str], clients: list[Client], odd: str) -> None:
    patterns = [str(pattern.pattern) for pattern in get_resolver().url_patterns]
    holding = [pattern for pattern in patterns if "<" in pattern]
    assert len(holding) == sum(bool(route.parameters) for route in routes())
    for pattern, client in product(holding, clients):
        for place in re.findall("<[^>]+>", pattern):
            path = re.sub("<[^>]+>", "gpu-one", pattern.replace(place, quote(odd, safe="")))
            assert client.get(f"/{path}").status_code in EXPECTED - {200}, path


@pytest.mark.parametrize("odd", [text for text in ODD if "\n" not in text and text.isascii()])
def test_any_text_in_headers_and_cookies(urls: dict[str, str], clients: list[Client], odd: str) -> None:
    names = (
        "If-None-Match",
        "If-Modified-Since",
        "Accept-Language",
        "Accept-Encoding",
        "Range",
        "HX-Current-URL",
        "Accept",
    )
    client = clients[0]
    for name, url in urls.items():
        client.cookies[settings.LANGUAGE_COOKIE_NAME] = client.cookies["zone"] = client.cookies["csrftoken"] = odd
        assert client.get(url, headers={**dict.fromkeys(names, odd), **PART}).status_code in EXPECTED, name
    stranger = Client()
    stranger.cookies[settings.SESSION_COOKIE_NAME] = odd
    assert stranger.get("/").status_code == 302


@pytest.mark.parametrize("odd", [*ODD, "\0"])
def test_any_text_in_every_form(urls: dict[str, str], clients: list[Client], odd: str) -> None:
    form = dict.fromkeys(("username", "next", "language", "time_zone", "has_keys", "name", "unknown"), odd)
    for name, url in urls.items():
        assert clients[0].post(url, form).status_code in EXPECTED, name


NAMES = {"longest": LONGEST, "right to left": RIGHT_TO_LEFT, "script": SCRIPT}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return NAMES[request.param]


@pytest.fixture
def called(shared: World, people: People, name: str) -> Iterator[dict[str, str]]:
    """Everything that has a name has this one, as far as its column holds it."""
    shared.queues(
        cluster_queue("research-queue", 12),
        local_queue("hyperpod-ns-research", "research-queue", name, uid="uid-queue"),
    )
    Team.objects.filter(slug="research").update(name=name[:100])
    CostCentre.objects.update(name=name[:100])
    Cluster.objects.update(name=name[:100], kueue_version=name[:50], missing_rights=[name])
    for user in (people.member, people.platform_admin):
        user.name = name[:200]
        user.save()
    jobs = [
        _called(Job("runs", uid="uid-runs", queueName=name).admit(-9), name),
        _called(Job("waits", uid="uid-waits", queueName=name).waits(name, reason=name), name),
        _called(
            Job("evicted", uid="uid-evicted").admit(-9).evict(-5, reason=name, message=name).release(-4, name), name
        ),
    ]
    shared.see(*jobs)
    shared.is_read()
    see_pods(shared, *(Pod(job, name, "node-1", bound=-8) for job in jobs[:1]))
    keys = [str(key) for key in Eviction.objects.values_list("pk", flat=True)]
    address(START)
    values = {"key": keys, "cluster": ["gpu-one"], "uid": [job.uid for job in jobs], "slug": ["gpu-one", "research"]}
    values["name"] = ["node-1"]
    values |= of_notices()
    yield addresses(values) | {f"/search/?{urlencode({'q': name[:20]})}": "search"}


def _called(job: Job, name: str) -> Job:
    meta = job.obj["metadata"]
    meta["name"] = name
    meta["labels"][name] = name
    meta["ownerReferences"][0] |= {"name": name, "kind": name[:100]}
    job.obj["spec"]["podSets"][0]["name"] = name
    job.obj["spec"]["priorityClassRef"]["name"] = name
    return job.condition(name, True, -3, name, name)


@pytest.mark.parametrize("role", ["member", "platform_admin"])
def test_names_of_any_kind_are_shown_as_text(called: dict[str, str], people: People, name: str, role: str) -> None:
    crawl = Crawl(getattr(people, role))
    crawl.visit(called)
    assert {answer.status for answer in crawl.answers} <= EXPECTED
    for answer in crawl.answers:
        assert "<script>alert" not in answer.content or _is_csv(answer.headers), answer.url
        assert "<img" not in answer.content or _is_csv(answer.headers), answer.url
    shown = "\n".join(answer.content for answer in crawl.answers if not _is_csv(answer.headers))
    assert any(text in shown for text in (name[:100], "&lt;/script&gt;&lt;script&gt;alert"))


def _is_csv(headers: str) -> bool:
    return "Content-Type: text/csv" in headers and "nosniff" in headers
