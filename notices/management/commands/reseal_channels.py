"""`manage.py reseal_channels`: after a new first key in PORTAL_CHANNEL_KEYS, so that the old ones can go."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from gateways.errors import ConfigurationError
from notices.models import Channel
from notices.sealing import reseal


class Command(BaseCommand):
    help = "Seal the secrets of all channels under the first key of PORTAL_CHANNEL_KEYS."

    def handle(self, *args: Any, **options: Any) -> None:
        sealed = Channel.objects.exclude(secret="")
        for channel in sealed:
            try:
                secret = reseal(channel.secret)
            except ConfigurationError as error:
                raise CommandError(f"channel {channel.pk}: {error}") from error
            Channel.objects.filter(pk=channel.pk, secret=channel.secret).update(secret=secret)
        self.stdout.write(f"{len(sealed)} secrets are sealed under the first key.")
