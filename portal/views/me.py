"""A person's own settings."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.actions import set_preferences
from accounts.forms import PreferencesForm, preferences_of, zones
from accounts.requests import Request


@require_http_methods(["GET", "HEAD", "POST"])
def me(request: Request) -> HttpResponse:
    form = PreferencesForm(request.POST or None, initial=preferences_of(request.user))
    if request.method == "POST" and form.is_valid():
        set_preferences(user=request.user, now=timezone.now(), **form.cleaned_data)
        return redirect("me")
    return render(request, "portal/me.html", {"form": form, "zones": sorted(zones())})
