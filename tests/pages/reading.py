"""How tests read a page: as one person sees it, in words."""

import html
import re

from django.http import HttpResponse
from django.test import Client

from accounts.models import User


def visit(user: User | None, url: str, language: str = "en") -> HttpResponse:
    client = Client(headers={"accept-language": language})
    if user is not None:
        client.force_login(user)
    return client.get(url)  # type: ignore[return-value]


def words(response: HttpResponse) -> str:
    """The text of the page without tags, blanks collapsed."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", response.text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def rows(response: HttpResponse, heading: str) -> list[str]:
    """The table rows of the section under a heading, in words."""
    section = response.text.split(f">{heading}</h2>", 1)[1].split("</section>", 1)[0]
    bodies = " ".join(re.findall(r"<tbody\b.*?</tbody>", section, flags=re.DOTALL))
    found = re.findall(r"<tr\b.*?</tr>", bodies, flags=re.DOTALL)
    return [" ".join(html.unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in found]
