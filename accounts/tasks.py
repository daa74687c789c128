"""Celery's side of sign-in: metadata is read here, what has run out goes."""

from datetime import timedelta
from typing import Final

from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.actions import end_glass
from accounts.directory import read_directory
from accounts.models import BreakGlass, IdentityProvider, ProviderSession, RequestCount, SignInTrial, UsedAssertion
from accounts.saml.reading import read_provider

_TRIALS_KEPT: Final = timedelta(days=1)
"""They hold what the provider says of the admin."""
_EVERY: Final = 900
"""Seconds. A reading that waited so long is dropped, the next one does its work."""


@shared_task(name="accounts.read_providers", soft_time_limit=540, time_limit=600)
def read_providers() -> None:
    """What has run out goes first; then one task per provider, so that one that hangs or fails holds up nothing."""
    now = timezone.now()
    for glass in BreakGlass.objects.over(now):
        end_glass(glass=glass, by="portal", now=now)
    SignInTrial.objects.filter(begun_at__lt=now - _TRIALS_KEPT).delete()
    UsedAssertion.objects.filter(valid_until__lt=now).delete()
    RequestCount.objects.filter(ends_at__lt=now).delete()
    Session.objects.filter(expire_date__lt=now).delete()
    ProviderSession.objects.filter(ends_at__lt=now).delete()
    for provider_id in IdentityProvider.objects.exclude(metadata_url="").values_list("pk", flat=True):
        read_metadata_of.apply_async((provider_id,), expires=_EVERY)


@shared_task(name="accounts.read_metadata_of", soft_time_limit=60, time_limit=90)
def read_metadata_of(provider_id: int) -> None:
    """Whoever sends it byte by byte is listened to for a minute at most."""
    read_provider(IdentityProvider.objects.get(pk=provider_id), timezone.now())


@shared_task(name="accounts.read_directories", soft_time_limit=20, time_limit=30)
def read_directories() -> None:
    """People and groups of providers that cannot write them; one task per provider, too."""
    for provider_id in IdentityProvider.objects.exclude(identity_store="").values_list("pk", flat=True):
        read_directory_of.apply_async((provider_id,), expires=_EVERY)


@shared_task(name="accounts.read_directory_of", soft_time_limit=540, time_limit=600)
def read_directory_of(provider_id: int) -> None:
    read_directory(IdentityProvider.objects.get(pk=provider_id), timezone.now())
