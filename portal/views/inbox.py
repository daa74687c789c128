"""What a person was told, newest first."""

from typing import Final
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.requests import Request
from jobs.lists.addresses import page_number
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
    page = cut_page(lambda start, end: ordered[start:end], receipts.count(), _page(request), _PER_PAGE)
    words = words_of([receipt.notice for receipt in page.rows], request.user)
    context = {
        "rows": [(receipt, words[receipt.notice_id]) for receipt in page.rows],
        "page": page,
        "pages": _links(page.number, page.pages),
        "lasting_kinds": OF_PLATFORM,
        "now": timezone.now(),
    }
    return render(request, "portal/inbox.html", context)


def _page(request: Request) -> int:
    try:
        return page_number(request.GET.get("page", "1"))
    except ValueError:
        return 1


def _links(number: int, pages: int) -> dict[str, str]:
    others = {"first": 1, "previous": number - 1, "next": number + 1, "last": pages}
    return {name: f"?page={other}" for name, other in others.items() if other != number and 1 <= other <= pages}


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
