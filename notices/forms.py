"""Forms about notices."""

from collections.abc import Iterable, Iterator
from datetime import time
from typing import Any

from django import forms
from django.conf import settings
from django.forms.boundfield import BoundField
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from gateways.chat import is_address
from gateways.public_https import is_callable
from notices.kinds import OF_JOBS, OF_PERSON, OF_PLATFORM, USUAL, How, Kind
from notices.models import Channel, Choice, Habits, Unfollowed
from notices.sending import SERVICES
from teams.models import Team
from teams.permissions import GlobalRole
from teams.roles import roles_of

_TIME = "%H:%M"


def _choice(label: Any, choices: Iterable[tuple[str, Any]]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, widget=forms.Select({"class": "f-input"}))


class NoticesForm(forms.Form):
    """How one person wants to hear of what: a choice per kind that may concern them, a box per team of theirs."""

    quiet_from = forms.TimeField(label=_("Quiet from"), required=False)
    quiet_to = forms.TimeField(
        label=_("Quiet to"), required=False, help_text=_("By the clock of your time zone. Empty: at any hour.")
    )
    digest_at = forms.TimeField(label=_("Digest at"), help_text=_("Once a day, if there is something in it."))
    wait_hours = forms.IntegerField(
        label=_("Tell me when a job has waited for so many hours"),
        required=False,
        min_value=1,
        max_value=10_000,
        help_text=_("Empty: never."),
    )
    loss_gpu_hours = forms.IntegerField(
        label=_("Tell me when a team of mine has lost so many GPU-hours in a week"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=_("By evictions, in one cluster, from Monday (UTC) on. Empty: never."),
    )
    language = _choice(_("Language of what is sent"), settings.LANGUAGES)

    def __init__(self, user: User, data: Any = None) -> None:
        self.kinds = _kinds(user)
        self.teams = list(Team.objects.active().filter(pk__in=roles_of(user).teams))
        super().__init__(data, initial=_initial(user))
        for kind in self.kinds:
            self.fields[f"kind-{kind}"] = _choice(kind.label, How.choices)
        for team in self.teams:
            self.fields[f"team-{team.pk}"] = forms.BooleanField(label=team.name, required=False)

    def of_kinds(self) -> Iterator[BoundField]:
        return (self[f"kind-{kind}"] for kind in self.kinds)

    def of_teams(self) -> Iterator[BoundField]:
        return (self[f"team-{team.pk}"] for team in self.teams)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        start, end = found.get("quiet_from"), found.get("quiet_to")
        if not self.errors and ((start is None) != (end is None) or (start is not None and start == end)):
            self.add_error("quiet_to", _("Quiet hours need a beginning and another end."))
        return found

    @property
    def chosen(self) -> dict[str, Any]:
        """What `actions.choose` takes."""
        given = self.cleaned_data
        habits = ("quiet_from", "quiet_to", "digest_at", "wait_hours", "loss_gpu_hours", "language")
        return {
            "hows": {kind: How(given[f"kind-{kind}"]) for kind in self.kinds},
            "unfollowed": [team.pk for team in self.teams if not given[f"team-{team.pk}"]],
            **{name: given[name] for name in habits},
        }


class ChannelForm(forms.Form):
    """A new channel; its secret is typed once and never shown again."""

    kind = _choice(_("Kind"), Channel.Kind.choices)
    name = forms.CharField(label=_("Name"), max_length=60, help_text=_("What you call it, such as “on-call pager”."))
    address = forms.CharField(
        label=_("Address"),
        required=False,
        max_length=1000,
        help_text=_(
            "Of a webhook, of Slack's or of Teams' incoming webhook, or PagerDuty's integration key. E-mail "
            "goes to your own address."
        ),
    )
    key = forms.CharField(
        label=_("Signing key"),
        required=False,
        min_length=16,
        max_length=200,
        help_text=_("For a webhook: at least 16 characters by which the receiver knows that it is the portal."),
    )

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        address, kind = found.get("address", ""), found.get("kind")
        if kind != Channel.Kind.EMAIL and not settings.CHANNEL_KEYS:
            self.add_error("kind", _("The portal has no key under which it could keep a secret."))
        if kind == Channel.Kind.EMAIL and not settings.MAIL_URL:
            self.add_error("kind", _("The portal has no mail server. Ask the platform admin to set one."))
        if kind == Channel.Kind.WEBHOOK:
            if not is_callable(address, settings.INTERNAL_TARGETS):
                self.add_error("address", _("It must begin with https:// and hold no user name."))
            if not found.get("key") and "key" not in self.errors:
                self.add_error("key", _("A webhook needs a key."))
        elif kind in SERVICES and not is_address(SERVICES[Channel.Kind(kind)], address):
            self.add_error("address", _("That is no address of the service."))
        return found

    @property
    def secret(self) -> dict[str, str]:
        """What opens the channel."""
        given = self.cleaned_data
        if given["kind"] == Channel.Kind.EMAIL:
            return {}
        names = ("address", "key") if given["kind"] == Channel.Kind.WEBHOOK else ("address",)
        return {name: given[name] for name in names}


def _kinds(user: User) -> list[Kind]:
    is_admin = GlobalRole.PLATFORM_ADMIN in roles_of(user).platform
    return [kind for kind in Kind if kind in (*OF_JOBS, *OF_PERSON) or (is_admin and kind in OF_PLATFORM)]


def _initial(user: User) -> dict[str, Any]:
    chosen = dict(Choice.objects.filter(user=user).values_list("kind", "how"))
    unfollowed = set(Unfollowed.objects.filter(user=user).values_list("team", flat=True))
    habits = habits_of(user)
    return {
        "quiet_from": _written(habits.quiet_from),
        "quiet_to": _written(habits.quiet_to),
        "digest_at": _written(habits.digest_at),
        "language": habits.language,
        "wait_hours": habits.wait_hours,
        "loss_gpu_hours": habits.loss_gpu_hours,
        **{f"kind-{kind}": chosen.get(kind, USUAL[kind]) for kind in Kind},
        **{f"team-{team}": team not in unfollowed for team in roles_of(user).teams},
    }


def _written(value: time | None) -> str:
    return value.strftime(_TIME) if value else ""


def habits_of(user: User) -> Habits:
    """Theirs, or those of a person who chose nothing, in the language that is active."""
    stored = Habits.objects.filter(user=user).first()
    return stored or Habits(user=user, language=get_language() or settings.LANGUAGE_CODE)
