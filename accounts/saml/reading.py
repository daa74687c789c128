"""The last good copy of a provider's metadata."""

from datetime import datetime

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts.models import IdentityProvider
from accounts.saml.metadata import BadMetadata, read_metadata
from gateways.errors import GatewayError
from gateways.identity import fetch_metadata
from portal import audit

log = structlog.get_logger(__name__)


def read_provider(provider: IdentityProvider, now: datetime) -> None:
    """Read its metadata again. What cannot be read, or is of somebody else, leaves the last good copy as it was."""
    try:
        text = fetch_metadata(provider.metadata_url, allowed=settings.INTERNAL_TARGETS)
        facts = read_metadata(text)
        known = read_metadata(provider.metadata) if provider.metadata else None
        if known and known.entity_id != facts.entity_id:
            raise BadMetadata(_("It is of another identity provider than before."))
    except (GatewayError, BadMetadata) as error:
        IdentityProvider.objects.filter(pk=provider.pk).update(error=str(error)[:300])
        log.warning("metadata not read", provider=provider.slug, error=str(error))
        return
    _keep(provider, text, now, is_other=facts != known)


@transaction.atomic
def _keep(provider: IdentityProvider, text: str, now: datetime, *, is_other: bool) -> None:
    """What was tried out before it said something else counts no more."""
    if is_other:
        provider.trials.all().delete()
    IdentityProvider.objects.filter(pk=provider.pk).update(metadata=text, read_at=now, error="")
    if text != provider.metadata:
        audit.record("identity_provider.read", target=f"identity_provider/{provider.slug}", by="worker", now=now)
