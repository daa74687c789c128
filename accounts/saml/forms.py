"""What an admin says of an identity provider."""

import re
from typing import Any, Final

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from accounts.models import IdentityProvider
from accounts.saml.metadata import BadMetadata, read_metadata
from gateways.public_https import is_callable

_SLUG: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")


class ConnectForm(forms.Form):
    """The beginning: what kind it is, and what it is called here."""

    kind = forms.ChoiceField(label=_("Which one is it?"), choices=IdentityProvider.Kind.choices)
    name = forms.CharField(label=_("Name"), max_length=100, help_text=_("What people read on the sign-in page."))
    slug = forms.CharField(
        label=_("Short name"),
        max_length=50,
        help_text=_(
            "Lower-case letters, digits and dashes, such as corp. It is part of every address that you paste there and "
            "of every person's key, and can never be changed."
        ),
    )

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if not _SLUG.fullmatch(slug):
            raise forms.ValidationError(_("Use lower-case letters, digits and dashes, at most 50."))
        if IdentityProvider.objects.filter(slug=slug).exists():
            raise forms.ValidationError(_("Another identity provider is called so."))
        return slug


class ProviderForm(forms.Form):
    """How the portal reads what the provider says. An empty `metadata` leaves what is known."""

    name = forms.CharField(label=_("Name"), max_length=100)
    metadata_url = forms.CharField(
        label=_("Address of its metadata"),
        required=False,
        max_length=500,
        help_text=_("Read at once and every 15 minutes; when it does not answer, the last good copy stays."),
    )
    metadata = forms.CharField(
        label=_("Or its metadata as XML"),
        required=False,
        help_text=_("Where there is no address. A new certificate has to be pasted then before the old one ends."),
    )
    groups_attribute = forms.CharField(
        label=_("Attribute with the groups"),
        max_length=200,
        help_text=_("Exactly as it is called there, upper and lower case included."),
    )
    signs_response = forms.BooleanField(label=_("It signs the response, not the assertion alone"), required=False)

    def __init__(self, provider: IdentityProvider, data: Any = None) -> None:
        self.provider = provider
        names = ("name", "metadata_url", "groups_attribute", "signs_response")
        super().__init__(data, initial={name: getattr(provider, name) for name in names})

    def clean_metadata_url(self) -> str:
        url: str = self.cleaned_data["metadata_url"]
        if url and not is_callable(url, settings.INTERNAL_TARGETS):
            raise forms.ValidationError(_("It has to begin with https:// and hold no user name."))
        return url

    def clean_metadata(self) -> str:
        text: str = self.cleaned_data["metadata"]
        if not text:
            return ""
        try:
            facts = read_metadata(text)
        except BadMetadata as error:
            problem = {"problem": str(error)}
            raise forms.ValidationError(_("It cannot be used. %(problem)s"), params=problem) from error
        if self.provider.enabled and facts.entity_id != _known(self.provider):
            raise forms.ValidationError(
                _(
                    "It is of another identity provider than the one that is switched on. Connect that one under a "
                    "short name of its own."
                )
            )
        return text

    def clean(self) -> dict[str, Any]:
        """Pasted, read from the address or as it was: what an address said before does not outlive it while the
        provider is switched off, since it may be of another one."""
        given = self.cleaned_data
        if given.get("metadata") and given.get("metadata_url"):
            self.add_error("metadata", _("Give the address or the XML, not both."))
        moved = given.get("metadata_url") and given["metadata_url"] != self.provider.metadata_url
        stays = "" if moved and not self.provider.enabled else self.provider.metadata
        return {**given, "metadata": given.get("metadata") or stays}


def _known(provider: IdentityProvider) -> str:
    try:
        return read_metadata(provider.metadata).entity_id
    except BadMetadata:
        return ""
