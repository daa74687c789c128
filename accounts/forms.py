"""Forms about people."""

from datetime import timedelta
from functools import cache
from typing import Any, Final
from zoneinfo import available_timezones

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import ScimCredential, Scope

LONGEST_DAYS: Final = 365
LONGEST_SCIM_DAYS: Final = 730


@cache
def zones() -> frozenset[str]:
    """Names that people choose from: no aliases without a place."""
    return frozenset(name for name in available_timezones() if "/" in name and not name.startswith("Etc/")) | {"UTC"}


class PreferencesForm(forms.Form):
    """A person's own settings."""

    time_zone = forms.CharField(
        label=_("Time zone"),
        required=False,
        max_length=60,
        help_text=_("Such as America/Sao_Paulo. Empty: the zone of your browser."),
    )
    has_keys = forms.BooleanField(label=_("Single keys are shortcuts (/ for search, ? for help)"), required=False)

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"].strip()
        if name and name not in zones():
            raise forms.ValidationError(_("There is no such time zone. Choose one from the list."))
        return name


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(
        label=_("Name"), max_length=60, help_text=_("Where it will be used, such as “nightly report”.")
    )
    scopes = forms.MultipleChoiceField(label=_("What it may be used for"), choices=Scope.choices)
    days = forms.IntegerField(
        label=_("Expires after so many days"),
        min_value=1,
        max_value=LONGEST_DAYS,
        initial=90,
        help_text=_("365 at most."),
    )


class ScimSecretForm(forms.Form):
    """A new secret of SCIM. Valid, it holds `valid` and `scope`."""

    only_reads = forms.BooleanField(label=_("It only reads: nothing is written with it"), required=False)
    days = forms.IntegerField(
        label=_("Expires after so many days"),
        min_value=1,
        max_value=LONGEST_SCIM_DAYS,
        initial=365,
        help_text=_("730 at most. The identity provider stops when it expires."),
    )

    def clean(self) -> dict[str, Any]:
        scopes = ScimCredential.Scope
        scope = scopes.READ if self.cleaned_data.get("only_reads") else scopes.WRITE
        return {"scope": scope, "valid": timedelta(days=self.cleaned_data.get("days") or 0)}


def preferences_of(user: Any) -> dict[str, Any]:
    """The form's initial values."""
    return {"time_zone": user.time_zone, "has_keys": user.has_keys}
