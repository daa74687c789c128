"""The channels by which a person is reached outside the portal."""

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.requests import Request
from notices.actions import add_channel, remove_channel
from notices.forms import ChannelForm
from notices.models import Channel


@require_http_methods(["GET", "HEAD", "POST"])
def my_channels(request: Request) -> HttpResponse:
    form = ChannelForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        given = form.cleaned_data
        now = timezone.now()
        add_channel(user=request.user, kind=given["kind"], name=given["name"], secret=form.secret, now=now)
        return redirect("my-channels")
    channels = Channel.objects.filter(user=request.user).defer("secret")
    context = {"form": form, "channels": channels, "has_keys": bool(settings.CHANNEL_KEYS), "now": timezone.now()}
    return render(request, "portal/my_channels.html", context)


@require_POST
def channel_remove(request: Request, channel: int) -> HttpResponse:
    found = Channel.objects.filter(user=request.user, pk=channel).first()
    if found is None:
        raise Http404("You have no such channel.")
    remove_channel(user=request.user, channel=found, now=timezone.now())
    return redirect("my-channels")
