"""What a person wants to be told, how and when."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.requests import Request
from notices.actions import choose
from notices.forms import NoticesForm


@require_http_methods(["GET", "HEAD", "POST"])
def my_notices(request: Request) -> HttpResponse:
    form = NoticesForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        choose(user=request.user, now=timezone.now(), **form.chosen)
        return redirect("my-notices")
    return render(request, "portal/my_notices.html", {"form": form})
