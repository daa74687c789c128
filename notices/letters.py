"""From the notices of one message to what is sent, in its reader's language and without what they may not see."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.translation import ngettext

from accounts.models import User
from gateways.letters import Letter
from notices.inbox import inbox_of
from notices.kinds import Severity
from notices.models import Message, Notice

_MOST_TITLES: Final = 20


class Words(Protocol):
    """What a notice says. `path` is where the portal shows it."""

    @property
    def title(self) -> str: ...
    @property
    def lines(self) -> Sequence[str]: ...
    @property
    def path(self) -> str: ...


WordsOf = Callable[[Iterable[Notice], User], Mapping[UUID, Words]]


def letter_of(message: Message, words_of: WordsOf) -> Letter | None:
    """None if its reader may see none of it any more."""
    reader = message.channel.user
    seen = inbox_of(reader).filter(deliveries__message=message).select_related("notice__cluster", "notice__team")
    notices = [receipt.notice for receipt in seen.order_by("notice__at", "pk")]
    if not notices:
        return None
    habits = getattr(reader, "habits", None)
    with translation.override(habits.language if habits else settings.LANGUAGE_CODE):
        words = words_of(notices, reader)
        write = _single if len(notices) == 1 else _digest
        title, body, path = write([words[notice.pk] for notice in notices])
        facts = [_fact(notice, words[notice.pk]) for notice in notices]
    is_critical = any(notice.severity == Severity.CRITICAL for notice in notices)
    return Letter(str(message.pk), title, body, _link(path), is_critical, facts)


def _single(words: Sequence[Words]) -> tuple[str, str, str]:
    (only,) = words
    return only.title, "\n".join(only.lines), only.path


def _digest(words: Sequence[Words]) -> tuple[str, str, str]:
    title = ngettext("%(count)d notice", "%(count)d notices", len(words)) % {"count": len(words)}
    lines = [f"• {each.title}" for each in words[:_MOST_TITLES]]
    more = len(words) - _MOST_TITLES
    if more > 0:
        lines.append(ngettext("and %(count)d more", "and %(count)d more", more) % {"count": more})
    return title, "\n".join(lines), reverse("inbox")


def _fact(notice: Notice, words: Words) -> dict[str, Any]:
    return {
        "id": str(notice.pk),
        "kind": notice.kind,
        "severity": notice.severity,
        "cluster": notice.cluster.slug,
        "team": notice.team.slug if notice.team else None,
        "at": notice.at.isoformat(),
        "title": words.title,
        "lines": list(words.lines),
        "url": _link(words.path),
    }


def _link(path: str) -> str:
    return f"{settings.PORTAL_ADDRESS}{path}"
