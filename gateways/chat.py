"""Slack, Microsoft Teams and PagerDuty, by apprise."""

import logging
import re
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qsl, urlencode

from apprise import AppriseAsset, NotifyBase, NotifyType
from apprise.exception import AppriseException
from apprise.plugins.pagerduty import NotifyPagerDuty
from apprise.plugins.slack import NotifySlack
from apprise.plugins.workflows import NotifyWorkflows

from gateways.errors import ConfigurationError, Unavailable
from gateways.letters import Letter

logging.getLogger("apprise").setLevel(logging.ERROR)  # its lines hold the addresses, which are the secrets

_ASSET: Final = AppriseAsset(app_id="GPU portal", app_desc="", app_url="", http_redirects=False)


class Service(StrEnum):
    SLACK = "slack"
    TEAMS = "teams"
    PAGER = "pager"


_SECRETS: Final = {
    Service.SLACK: re.compile(r"https://hooks\.slack\.com/services/\w+/\w+/\w+"),
    Service.TEAMS: re.compile(
        r"https://[\w.-]+\.(?:logic\.azure\.com|api\.powerplatform\.com)(?::443)?/[\w./-]*workflows/[\w/.-]+\?[\w=&%.~-]+"
    ),
    Service.PAGER: re.compile(r"[A-Za-z0-9]{20,40}"),
}
"""What each takes for an address: nothing else is handed on, since apprise would speak to any host."""

_NO_ADDRESS: Final = "That is no address of the service."

_OF_TEAMS: Final = ("api-version", "sig")
"""What opens a workflow. Of the rest of its query apprise would make settings of its own: a template to read from any
file or address, waits of hours, no look at certificates."""


def is_address(service: Service, secret: str) -> bool:
    try:
        _channel(service, secret, Letter("", "", "", "", False, ()))
    except ConfigurationError:
        return False
    return True


def send_chat(service: Service, secret: str, letter: Letter) -> None:
    """Raises ConfigurationError for what is no address of the service, Unavailable if it was not taken."""
    channel = _channel(service, secret, letter)
    urgency = NotifyType.FAILURE if letter.is_critical else NotifyType.WARNING
    if not channel.notify(title=letter.title, body=f"{letter.body}\n{letter.link}", notify_type=urgency):
        raise Unavailable(f"{service}: the message was not taken")


def _channel(service: Service, secret: str, letter: Letter) -> NotifyBase:
    if not _SECRETS[service].fullmatch(secret):
        raise ConfigurationError(_NO_ADDRESS)
    try:
        return _made(service, secret, letter)
    except AppriseException as error:
        raise ConfigurationError(_NO_ADDRESS) from error


def _made(service: Service, secret: str, letter: Letter) -> NotifyBase:
    """Of the one class: to find it by address, apprise would load every service that it knows."""
    if service is Service.PAGER:
        return NotifyPagerDuty("portal", secret, dedup=letter.id, click=letter.link, asset=_ASSET)
    kind = NotifySlack if service is Service.SLACK else NotifyWorkflows
    parts = kind.parse_native_url(_without_settings(secret))  # type: ignore[no-untyped-call]
    if parts is None:
        raise ConfigurationError(_NO_ADDRESS)
    return kind(asset=_ASSET, **parts)


def _without_settings(address: str) -> str:
    path, mark, query = address.partition("?")
    return path + mark + urlencode([(name, value) for name, value in parse_qsl(query) if name in _OF_TEAMS])
