"""E-mail against a real server on loopback."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy

import pytest

from gateways.errors import BadReply, ConfigurationError, GatewayError, Unavailable
from gateways.letters import Letter
from gateways.mail import send_mail
from tests.sinks import MailSink, mail_sink

LETTER = Letter("5a3f", "treino foi despejado:\nção", "Por quê", "https://portal.example/x", False, [])
NOW = datetime(2026, 10, 8, 12, tzinfo=UTC)
SENDER = "GPU portal <portal@example.org>"


@pytest.fixture
def sink() -> Iterator[MailSink]:
    with mail_sink() as found:
        yield found


def test_a_letter_with_its_own_id_and_a_link(sink: MailSink) -> None:
    send_mail(sink.url, SENDER, "member@example.org", LETTER, now=NOW)
    mail = message_from_bytes(sink.got[0].encode(), policy=policy.default)
    assert (mail["Message-ID"], mail["To"], mail["From"]) == ("<5a3f@example.org>", "member@example.org", SENDER)
    assert mail["Subject"] == "treino foi despejado: ção"
    assert mail["Date"] == "Thu, 08 Oct 2026 12:00:00 +0000"
    assert mail.get_content().strip() == "Por quê\n\nhttps://portal.example/x"


@pytest.mark.parametrize(("refusal", "error"), [("550 no such user", BadReply), ("450 busy", Unavailable)])
def test_a_refused_recipient(sink: MailSink, refusal: str, error: type[GatewayError]) -> None:
    sink.refusal = refusal
    with pytest.raises(error, match="refuses the recipient"):
        send_mail(sink.url, SENDER, "member@example.org", LETTER, now=NOW)


@pytest.mark.parametrize("to", ['"a\x0cb"@example.org', '"a\x1eb"@example.org'])
def test_an_address_that_no_header_can_hold_is_refused_for_good(sink: MailSink, to: str) -> None:
    with pytest.raises(ConfigurationError, match="characters that none can hold"):
        send_mail(sink.url, SENDER, to, LETTER, now=NOW)
    assert sink.got == []


def test_text_that_cannot_be_encoded_is_refused_for_good(sink: MailSink) -> None:
    with pytest.raises(ConfigurationError, match="characters that none can hold"):
        send_mail(sink.url, SENDER, "member@example.org", replace(LETTER, body="\ud800"), now=NOW)


def test_a_password_is_not_sent_without_tls(sink: MailSink) -> None:
    with pytest.raises(ConfigurationError, match="no TLS"):
        send_mail(f"smtp://me:secret@127.0.0.1:{sink.port}", SENDER, "member@example.org", LETTER, now=NOW)
    assert sink.got == []


@pytest.mark.parametrize(("server", "sender"), [("", SENDER), ("smtp://mail.example", ""), ("http://mail", SENDER)])
def test_without_a_server_or_a_sender(server: str, sender: str) -> None:
    with pytest.raises(ConfigurationError, match="PORTAL_MAIL_URL"):
        send_mail(server, sender, "member@example.org", LETTER, now=NOW)


def test_nobody_there() -> None:
    with mail_sink() as gone:
        url = gone.url
    with pytest.raises(Unavailable):
        send_mail(url, SENDER, "member@example.org", LETTER, now=NOW)
