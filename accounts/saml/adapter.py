"""Where allauth asks the portal: which providers there are, whose account it is, and what a sign-in begins."""

from typing import Any, Final

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from accounts.actions import arrive, note_session
from accounts.models import IdentityProvider, User
from accounts.names import username_of
from accounts.saml.refusals import Reason, Refused
from accounts.sessions import session_end

SAML: Final = "saml"
SESSION_KEY: Final = "saml"
"""In the session: which provider signed the person in, as whom, in which of its sessions, and when it
asked them for credentials."""


def app_of(provider: IdentityProvider) -> SocialApp:
    """The provider as allauth knows it; never stored. Its accounts are told apart by `provider_id`."""
    return SocialApp(
        provider=SAML, provider_id=f"saml:{provider.slug}", client_id=provider.slug, name=provider.name[:40]
    )


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Everybody whom a provider vouches for is somebody; who they are is never asked of them."""

    def list_apps(self, request: HttpRequest, provider: str | None = None, client_id: str | None = None) -> list[Any]:
        apps = [app_of(each) for each in IdentityProvider.objects.filter(enabled=True)]
        return [
            app
            for app in apps
            if provider in (None, app.provider, app.provider_id) and client_id in (None, app.client_id)
        ]

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        if sociallogin.is_existing and not sociallogin.user.is_active:
            raise Refused(Reason.ARCHIVED)

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """The person of their first sign-in: the one whom the set-up file calls so, a new one, or the one whom another
        browser of theirs made at the same moment."""
        provider, uid = sociallogin.account.provider, sociallogin.account.uid
        username = username_of(provider.partition(":")[2], uid)
        new = {"name": username, "created_at": timezone.now()}
        user, _ = User.objects.get_or_create(username=username, defaults=new)
        if not user.is_active:
            raise Refused(Reason.ARCHIVED)
        sociallogin.user = user
        sociallogin.account, _ = SocialAccount.objects.get_or_create(
            provider=provider, uid=uid, defaults={"user": user}
        )
        return user

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, str]) -> User:
        return sociallogin.user  # type: ignore[no-any-return]


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """What a sign-in changes, and how long its session lasts."""

    def login(self, request: HttpRequest, user: User) -> None:
        claims, provider, now = request.arrival  # type: ignore[attr-defined]
        arrive(user=user, provider=provider, claims=claims, now=now)
        user.backend = settings.AUTHENTICATION_BACKENDS[0]
        super().login(request, user)
        ends_at = session_end(claims.session_until, now)
        request.session.set_expiry(ends_at)
        request.session[SESSION_KEY] = {
            "provider": provider.slug,
            "name_id": claims.name_id,
            "session_index": claims.session_index,
            "authenticated_at": min(claims.authenticated_at, now).isoformat(),
        }
        key = request.session.session_key or ""
        note_session(key=key, user=user, provider=provider, index=claims.session_index, ends_at=ends_at)
