"""What a reader sees of their language: words, numbers, plurals, dates, and how to change it."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from portal.languages import languages_in
from tests.locale.messages import Texts, mo_text
from tests.pages.reading import rows, visit, words
from tests.people import People
from tests.stories import P5, START, Job, cluster_queue
from tests.worlds import World

pytestmark = pytest.mark.django_db

TEAM = "/teams/research/"


@pytest.fixture
def read(shared: World) -> World:
    shared.is_read(START)
    return shared


@pytest.mark.parametrize(
    ("asked", "spoken", "heading"),
    [
        ("en", "en", "Your settings"),
        ("pt-BR", "pt-br", "Suas preferências"),
        ("pt", "pt-br", "Suas preferências"),
        ("pt-PT,en;q=0.5", "pt-br", "Suas preferências"),
        ("de,pt-br;q=0.3", "pt-br", "Suas preferências"),
        ("de", "en", "Your settings"),
        ("", "en", "Your settings"),
    ],
)
def test_a_page_speaks_the_browser_s_language(people: People, asked: str, spoken: str, heading: str) -> None:
    response = visit(people.member, "/me/", asked)
    assert f'<html lang="{spoken}"' in response.text
    assert response["Content-Language"] == spoken
    assert f"<h1>{heading}</h1>" in response.text


def test_the_switch_offers_the_other_languages_by_their_own_names(people: People) -> None:
    in_english, in_portuguese = (visit(people.member, "/me/", code).text for code in ("en", "pt-br"))
    assert 'value="pt-br" lang="pt-br">Português Brasileiro</button>' in in_english
    assert 'value="en"' not in in_english
    assert 'value="en" lang="en">English</button>' in in_portuguese


def test_what_was_chosen_outlasts_the_browser_s_language_and_leads_back(people: People) -> None:
    client = Client(headers={"accept-language": "en"})
    client.force_login(people.member)
    chosen = client.post("/language/", {"language": "pt-br", "next": "/me/?a=1"})
    assert chosen.headers["Location"] == "/me/?a=1"
    assert '<html lang="pt-br"' in client.get("/me/").text
    client.post("/language/", {"language": "xx", "next": "/me/"})
    assert '<html lang="pt-br"' in client.get("/me/").text


def test_nobody_is_led_elsewhere_by_the_switch(people: People) -> None:
    response = Client().post("/language/", {"language": "en", "next": "https://elsewhere.example.com/"})
    assert response.headers["Location"] == "/"


def test_numbers_are_grouped_as_the_language_groups_them(read: World, people: People) -> None:
    read.queues(cluster_queue("research-queue", 1234))
    read.see(Job(gpus=1111).admit(-5))
    english, portuguese = (words(visit(people.member, TEAM, code)) for code in ("en", "pt-br"))
    assert "1,111 of 1,234 own, 0 borrowed, 0 lent." in english
    assert "Cota própria: 1.111 de 1.234; tomado de outros: 0; cedido: 0." in portuguese
    assert "1,111" not in portuguese


@pytest.mark.parametrize(
    ("count", "english", "portuguese"), [(0, "0 jobs", "0 job"), (1, "1 job", "1 job"), (2, "2 jobs", "2 jobs")]
)
def test_plurals_follow_the_language(read: World, people: People, count: int, english: str, portuguese: str) -> None:
    read.see(*(Job(f"waits-{n}").waits("no room") for n in range(count)))
    assert f"Waiting now {english} " in words(visit(people.member, TEAM))
    assert f"Na fila agora {portuguese} " in words(visit(people.member, TEAM, "pt-br"))


def test_dates_follow_the_language_and_the_person_s_zone(read: World, people: People) -> None:
    job = Job().admit(-60)
    read.see(job)
    people.member.time_zone = "America/Sao_Paulo"
    people.member.save()
    url = f"/clusters/gpu-one/workloads/{job.uid}/"
    assert "8 Oct 2026 08:00:00 Brasília time" in words(visit(people.member, url))
    assert "8 de out. de 2026, 08:00:00 horário de Brasília" in words(visit(people.member, url, "pt-br"))
    assert "8 de out. de 2026, 11:00:00 UTC" in words(visit(people.viewer, url, "pt-br"))


def test_reasons_are_told_in_the_reader_s_language(read: World, people: People) -> None:
    short = f"insufficient unused quota for nvidia.com/gpu in flavor {P5}, 1 more needed"
    read.see(Job(created=-30).waits(f"couldn't assign flavors to pod set main: {short}, {short.replace(' 1 ', ' 2 ')}"))
    (row,) = rows(visit(people.member, TEAM, "pt-br"), "Na fila agora")
    assert f"Não há o bastante livre em H100 ({P5}): precisa de mais 1 GPU e mais 2 GPUs. Condição original" in row
    assert row.endswith("Escalonador 30 min")


def test_a_further_language_is_one_more_folder(people: People, tmp_path: Path, settings: Any) -> None:
    texts = Texts("es")
    texts.add("Your settings", "Sus preferencias")
    (tmp_path / "es/LC_MESSAGES").mkdir(parents=True)
    (tmp_path / "es/LC_MESSAGES/django.mo").write_bytes(mo_text(texts))
    settings.LOCALE_PATHS = [tmp_path]
    settings.LANGUAGES = languages_in(tmp_path)
    page = visit(people.member, "/me/", "es").text
    assert '<html lang="es"' in page
    assert "<h1>Sus preferencias</h1>" in page
    assert 'lang="es">Español</button>' in visit(people.member, "/me/").text


def test_forms_about_notices_speak_the_reader_s_language(people: People) -> None:
    kinds = words(visit(people.member, "/me/notices/", "pt-br"))
    assert "Um job foi despejado" in kinds
    assert "A job was evicted" not in kinds
    channels = words(visit(people.member, "/me/channels/", "pt-br"))
    assert "Chave de assinatura" in channels
    assert "Signing key" not in channels
