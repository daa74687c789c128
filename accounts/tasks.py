"""Celery's side of sign-in: metadata is read here, what has run out goes."""

from datetime import timedelta
from typing import Final

from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.actions import end_glass
from accounts.directory import read_directory
from accounts.models import BreakGlass, IdentityProvider, RequestCount, SignInTrial, UsedAssertion
from accounts.saml.reading import read_provider

_TRIALS_KEPT: Final = timedelta(days=1)
"""They hold what the provider says of the admin."""


@shared_task(name="accounts.read_providers", soft_time_limit=540, time_limit=600)
def read_providers() -> None:
    now = timezone.now()
    for provider in IdentityProvider.objects.exclude(metadata_url=""):
        read_provider(provider, now)
    for glass in BreakGlass.objects.over(now):
        end_glass(glass=glass, by="portal", now=now)
    SignInTrial.objects.filter(begun_at__lt=now - _TRIALS_KEPT).delete()
    UsedAssertion.objects.filter(valid_until__lt=now).delete()
    RequestCount.objects.filter(ends_at__lt=now).delete()
    Session.objects.filter(expire_date__lt=now).delete()


@shared_task(name="accounts.read_directories", soft_time_limit=540, time_limit=600)
def read_directories() -> None:
    """People and groups of providers that cannot write them."""
    for provider in IdentityProvider.objects.exclude(identity_store=""):
        read_directory(provider, timezone.now())
