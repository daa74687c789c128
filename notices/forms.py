"""Forms about notices."""

from collections.abc import Iterator
from datetime import time
from typing import Any

from django import forms
from django.conf import settings
from django.forms.boundfield import BoundField
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from notices.kinds import OF_JOBS, OF_PLATFORM, USUAL, How, Kind
from notices.models import Choice, Habits, Unfollowed
from teams.models import Team
from teams.permissions import GlobalRole
from teams.roles import roles_of

_TIME = "%H:%M"


class NoticesForm(forms.Form):
    """How one person wants to hear of what: a choice per kind that may concern them, a box per team of theirs."""

    quiet_from = forms.TimeField(label=_("Quiet from"), required=False)
    quiet_to = forms.TimeField(
        label=_("Quiet to"), required=False, help_text=_("By the clock of your time zone. Empty: at any hour.")
    )
    digest_at = forms.TimeField(label=_("Digest at"), help_text=_("Once a day, if there is something in it."))
    language = forms.ChoiceField(label=_("Language of what is sent"), choices=settings.LANGUAGES)

    def __init__(self, user: User, data: Any = None) -> None:
        self.kinds = _kinds(user)
        self.teams = list(Team.objects.active().filter(pk__in=roles_of(user).teams))
        super().__init__(data, initial=_initial(user))
        for kind in self.kinds:
            self.fields[f"kind-{kind}"] = forms.ChoiceField(label=kind.label, choices=How.choices)
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
        times = {name: given[name] for name in ("quiet_from", "quiet_to", "digest_at")}
        return {
            "hows": {kind: How(given[f"kind-{kind}"]) for kind in self.kinds},
            "unfollowed": [team.pk for team in self.teams if not given[f"team-{team.pk}"]],
            "language": given["language"],
            **times,
        }


def _kinds(user: User) -> list[Kind]:
    is_admin = GlobalRole.PLATFORM_ADMIN in roles_of(user).platform
    return [kind for kind in Kind if kind in OF_JOBS or (is_admin and kind in OF_PLATFORM)]


def _initial(user: User) -> dict[str, Any]:
    chosen = dict(Choice.objects.filter(user=user).values_list("kind", "how"))
    unfollowed = set(Unfollowed.objects.filter(user=user).values_list("team", flat=True))
    habits = habits_of(user)
    return {
        "quiet_from": _written(habits.quiet_from),
        "quiet_to": _written(habits.quiet_to),
        "digest_at": _written(habits.digest_at),
        "language": habits.language,
        **{f"kind-{kind}": chosen.get(kind, USUAL[kind]) for kind in Kind},
        **{f"team-{team}": team not in unfollowed for team in roles_of(user).teams},
    }


def _written(value: time | None) -> str:
    return value.strftime(_TIME) if value else ""


def habits_of(user: User) -> Habits:
    """Theirs, or those of a person who chose nothing, in the language that is active."""
    stored = Habits.objects.filter(user=user).first()
    return stored or Habits(user=user, language=get_language() or settings.LANGUAGE_CODE)
