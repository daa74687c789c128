"""allauth's SAML provider, told apart by our own rows and reading from claims that are checked already."""

from datetime import datetime
from typing import Any, Final

from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.saml.provider import SAMLProvider
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from onelogin.saml2.auth import OneLogin_Saml2_Auth as Auth

from accounts.claims import Claims
from accounts.models import IdentityProvider
from accounts.saml.config import as_received, config_of

SINCE: Final = "authenticated_since"
_NO_RELAY_STATE: Final = ""


class PortalSAMLProvider(SAMLProvider):  # type: ignore[misc]
    """The person is the NameID: no attribute may name somebody else, and no e-mail address finds an account."""

    def extract_uid(self, data: Claims) -> str:
        return data.name_id

    def extract_extra_data(self, data: Claims) -> dict[str, Any]:
        """Nothing: what is kept of it has its own place."""
        return {}

    def extract_common_fields(self, data: Claims) -> dict[str, str]:
        return {}

    def send_to(
        self, request: HttpRequest, provider: IdentityProvider, next_url: str, *, anew: bool, now: datetime
    ) -> HttpResponse:
        """To the provider's sign-in; the session remembers the request that its answer must name, and since when the
        provider must have asked for credentials if they are asked `anew`. Raises Refused."""
        address, request_id = request_to(provider, anew=anew, now=now)
        since = {SINCE: now.isoformat()} if anew else {}
        self.stash_redirect_state(request, AuthProcess.LOGIN, next_url, state_id=request_id, **since)
        return HttpResponseRedirect(address)


def request_to(provider: IdentityProvider, *, anew: bool = False, now: datetime) -> tuple[str, str]:
    """The provider's sign-in with a request of ours, and the name that its answer has to give. Raises Refused."""
    auth = Auth(as_received("saml-login", provider.slug, get_data={}), config_of(provider, now))
    address: str = auth.login(return_to=_NO_RELAY_STATE, force_authn=anew)
    return address, auth.get_last_request_id()
