"""Messages that no channel took, for platform admins."""

from typing import Final
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.requests import Request
from notices.actions import send_again
from notices.delivery import dead
from teams.access import require_platform_permission
from teams.permissions import Permission

_MOST: Final = 200


@require_safe
def undelivered(request: Request) -> HttpResponse:
    require_platform_permission(request, Permission.LOOK_AFTER)
    context = {"messages_given_up": dead()[:_MOST], "now": timezone.now()}
    return render(request, "portal/undelivered.html", context)


@require_POST
def message_again(request: Request, message: UUID) -> HttpResponse:
    require_platform_permission(request, Permission.LOOK_AFTER)
    found = dead().filter(pk=message).first()
    if found is None:
        raise Http404("There is no such message among those given up.")
    send_again(message=found, user=request.user, now=timezone.now())
    return redirect("undelivered")
