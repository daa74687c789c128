"""What a person was told, newest first."""

from typing import Final
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.requests import Request
from jobs.lists.addresses import page_links, read_page
from jobs.lists.paging import cut_page
from jobs.telling.words import words_of
from notices.inbox import inbox_of, mark_read
from notices.kinds import OF_PLATFORM
from notices.lasting import acknowledge
from teams.access import require_platform_permission
from teams.permissions import Permission

_PER_PAGE: Final = 50


@require_safe
def inbox(request: Request) -> HttpResponse:
    receipts = inbox_of(request.user).order_by("-at", "-pk")
    ordered = receipts.select_related("notice__cluster", "notice__team", "notice__acknowledged_by")
    wanted = read_page(request.GET.dict())
    page = cut_page(lambda start, end: ordered[start:end], receipts.count(), wanted.page, _PER_PAGE)
    words = words_of([receipt.notice for receipt in page.rows], request.user)
    context = {
        "rows": [(receipt, words[receipt.notice_id]) for receipt in page.rows],
        "page": page,
        "pages": page_links(wanted, page.number, page.pages),
        "lasting_kinds": OF_PLATFORM,
        "now": timezone.now(),
    }
    return render(request, "portal/inbox.html", context)


@require_POST
def inbox_read(request: Request) -> HttpResponse:
    mark_read(request.user, timezone.now())
    return redirect("inbox")


@require_POST
def notice_acknowledge(request: Request, notice: UUID) -> HttpResponse:
    require_platform_permission(request, Permission.LOOK_AFTER)
    receipt = (
        inbox_of(request.user).filter(notice=notice, notice__kind__in=OF_PLATFORM).select_related("notice").first()
    )
    if receipt is None:
        raise Http404("There is no such notice in your inbox.")
    acknowledge(notice=receipt.notice, user=request.user, now=timezone.now())
    return redirect("inbox")
