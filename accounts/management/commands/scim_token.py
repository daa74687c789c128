"""`manage.py scim_token make|list|end`: the secrets with which an identity provider writes people and groups."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.forms import LONGEST_SCIM_DAYS
from accounts.models import IdentityProvider, ScimCredential
from accounts.scim.credentials import TooMany, end_credential, make_credential

_ACTOR = "manage.py"


class Command(BaseCommand):
    help = "Make, list or end the bearer secrets of SCIM (docs/provisioning.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        make = acts.add_parser("make", help="Make one and tell its secret, once.")
        make.add_argument("provider", help="slug of the identity provider")
        make.add_argument("--days", type=int, default=365, help=f"how long it is valid, 1 to {LONGEST_SCIM_DAYS}")
        make.add_argument("--read-only", action="store_true")
        acts.add_parser("list", help="List those in force.").add_argument("provider")
        end = acts.add_parser("end", help="End one.")
        end.add_argument("provider")
        end.add_argument("number", type=int, help="as `list` shows it")

    def handle(self, *args: Any, act: str, provider: str, **options: Any) -> None:
        found = IdentityProvider.objects.filter(slug=provider).first()
        if found is None:
            raise CommandError(f"There is no identity provider {provider!r}.")
        {"make": self._make, "list": self._list, "end": self._end}[act](found, options)

    def _make(self, provider: IdentityProvider, options: dict[str, Any]) -> None:
        scope = ScimCredential.Scope.READ if options["read_only"] else ScimCredential.Scope.WRITE
        if not 1 <= options["days"] <= LONGEST_SCIM_DAYS:
            raise CommandError(f"--days must be 1 to {LONGEST_SCIM_DAYS}.")
        valid = timedelta(days=options["days"])
        try:
            made, secret = make_credential(provider=provider, scope=scope, valid=valid, by=_ACTOR, now=timezone.now())
        except TooMany as error:
            raise CommandError("Two are in force already. End one of them first.") from error
        self.stderr.write(f"{made.pk}: {scope}, valid until {made.expires_at:%Y-%m-%d %H:%M} UTC. Not shown again:")
        self.stdout.write(secret)

    def _list(self, provider: IdentityProvider, options: dict[str, Any]) -> None:
        found = provider.scim_credentials.in_force(timezone.now())
        if not found:
            self.stdout.write(f"{provider.slug} has none in force.")
        for each in found:
            used = f"{each.last_used_at:%Y-%m-%d %H:%M}" if each.last_used_at else "never"
            self.stdout.write(f"{each.pk}: {each.scope}, valid until {each.expires_at:%Y-%m-%d %H:%M}, used {used}")

    def _end(self, provider: IdentityProvider, options: dict[str, Any]) -> None:
        now = timezone.now()
        found = provider.scim_credentials.in_force(now).filter(pk=options["number"]).first()
        if found is None:
            raise CommandError(f"{provider.slug} has none with the number {options['number']} in force.")
        end_credential(credential=found, by=_ACTOR, now=now)
        self.stdout.write(f"{found.pk} ended")
