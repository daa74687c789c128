"""E-mail through the organisation's own server."""

import smtplib
import ssl
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Final
from urllib.parse import unquote, urlsplit

from gateways.errors import BadReply, ConfigurationError, Unavailable
from gateways.letters import Letter

_SECONDS: Final = 15
_PORTS: Final = {"smtp": 25, "smtps": 465}


def send_mail(server: str, sender: str, to: str, letter: Letter, *, now: datetime) -> None:
    """`server`: smtp://[USER:PASSWORD@]HOST[:PORT], which begins TLS where it is offered, or smtps://. A password is
    never sent without TLS. The letter's id is the Message-ID.

    Raises GatewayError: Unavailable where trying again may help.
    """
    place = urlsplit(server)
    if place.scheme not in _PORTS or not place.hostname or not sender:
        raise ConfigurationError("The portal has no mail server: set PORTAL_MAIL_URL and PORTAL_MAIL_FROM.")
    try:
        with _connected(place.scheme, place.hostname, place.port or _PORTS[place.scheme]) as smtp:
            if place.username:
                if not isinstance(smtp.sock, ssl.SSLSocket):
                    raise ConfigurationError(f"{place.hostname}: no TLS, so no password is sent")
                smtp.login(unquote(place.username), unquote(place.password or ""))
            smtp.send_message(_message(sender, to, letter, now))
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        kind = BadReply if codes and min(codes) >= 500 else Unavailable
        raise kind(f"{place.hostname}: it refuses the recipient") from error
    except (OSError, smtplib.SMTPException) as error:
        raise Unavailable(f"{place.hostname}: the mail was not taken ({type(error).__name__})") from error
    except ValueError as error:  # below OSError: a certificate that is refused is both
        raise ConfigurationError("The mail holds characters that none can hold, in its address or its text.") from error


def _connected(scheme: str, host: str, port: int) -> smtplib.SMTP:
    context = ssl.create_default_context()
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=context)
    smtp = smtplib.SMTP(host, port, timeout=_SECONDS)
    smtp.ehlo()
    if smtp.has_extn("starttls"):
        smtp.starttls(context=context)
        smtp.ehlo()
    return smtp


def _message(sender: str, to: str, letter: Letter, now: datetime) -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = " ".join(letter.title.split())
    message["From"], message["To"] = sender, to
    message["Message-ID"] = f"<{letter.id}@{sender.rpartition('@')[2].rstrip('>')}>"
    message["Date"] = format_datetime(now)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(f"{letter.body}\n\n{letter.link}\n")
    return message
