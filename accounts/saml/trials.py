"""A provider tried out by an admin: the way there, and what came back. Nobody is signed in by it."""

from datetime import datetime

import structlog
from django.db import transaction

from accounts.models import IdentityProvider, SignInTrial, User
from accounts.saml.checks import claims_in
from accounts.saml.config import as_received, config_of
from accounts.saml.findings import Findings, document_of, findings_in
from accounts.saml.provider import request_to
from accounts.saml.refusals import Refused
from portal import audit

log = structlog.get_logger(__name__)


@transaction.atomic
def begin_trial(*, provider: IdentityProvider, user: User, now: datetime) -> str:
    """The address of the provider's sign-in for this one trial. Raises Refused, as a sign-in would."""
    address, request_id = request_to(provider, now=now)
    SignInTrial.objects.create(provider=provider, user=user, request_id=request_id, begun_at=now)
    target = f"identity_provider/{provider.slug}"
    audit.record("identity_provider.trial_begun", target=target, by=user.username, now=now)
    return address


def trial_answered(provider: IdentityProvider, sent: str, now: datetime) -> SignInTrial | None:
    """The open trial whose request the response says it answers. Nobody else knows the request's name."""
    trials = provider.trials.open(now)
    document = document_of(sent) if trials.exists() else None
    return trials.filter(request_id=document.get("InResponseTo")).first() if document is not None else None


@transaction.atomic
def end_trial(*, trial: SignInTrial, sent: str, now: datetime) -> None:
    """Keeps what the checks of a sign-in say of the response, and what it holds."""
    findings = _findings(trial.provider, sent, now)
    SignInTrial.objects.filter(pk=trial.pk).update(ended_at=now, findings=findings.as_json())
    details = {"reason": findings.reason, "detail": findings.detail}
    log.info("sign-in tried", provider=trial.provider.slug, **details)
    target = f"identity_provider/{trial.provider.slug}"
    audit.record("identity_provider.trial_ended", target=target, by=trial.user.username, now=now, **details)


def _findings(provider: IdentityProvider, sent: str, now: datetime) -> Findings:
    document = document_of(sent)
    try:
        received = as_received("saml-acs", provider.slug, get_data={}, post_data={})
        claims_in(sent, config_of(provider, now), received)
    except Refused as refused:
        return findings_in(document, str(refused.reason), refused.detail)
    return findings_in(document)
