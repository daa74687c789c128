"""Search over the teams, jobs, queues and nodes that a person may see."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.requests import Request
from jobs.lists.addresses import searched_text
from jobs.workloads.search import MOST, search


@require_safe
def search_page(request: Request) -> HttpResponse:
    text = searched_text(request.GET.get("q", ""))
    now = timezone.now()
    found = search(request.user, text, now) if text else None
    context = {"query": text, "found": found, "most": MOST, "now": now}
    response = render(request, "portal/search.html", context)
    response["Cache-Control"] = "private, no-store"
    return response
