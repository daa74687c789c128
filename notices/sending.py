"""Which gateway each kind of channel is, and what it needs to open it."""

import json
from datetime import datetime
from typing import Final

from django.conf import settings

from gateways.chat import Service, send_chat
from gateways.errors import ConfigurationError
from gateways.letters import Letter
from gateways.mail import send_mail
from gateways.webhooks import post_signed
from notices.models import Channel
from notices.sealing import unseal

Kind = Channel.Kind

SERVICES: Final = {Kind.SLACK: Service.SLACK, Kind.TEAMS: Service.TEAMS, Kind.PAGER: Service.PAGER}


def send(channel: Channel, letter: Letter, now: datetime) -> None:
    """Once, outside any transaction. Raises GatewayError."""
    if channel.kind == Kind.EMAIL:
        if not channel.user.email:
            raise ConfigurationError("The person has no e-mail address.")
        return send_mail(settings.MAIL_URL, settings.MAIL_FROM, channel.user.email, letter, now=now)
    secret = json.loads(unseal(channel.secret))
    if channel.kind == Kind.WEBHOOK:
        allowed = settings.INTERNAL_TARGETS
        return post_signed(secret["address"], secret["key"], letter, now=now, allowed=allowed)
    return send_chat(SERVICES[Kind(channel.kind)], secret["address"], letter)
