"""The request of a signed-in person, as views receive it."""

from typing import Any

from django.http import HttpRequest

from accounts.models import User


class Request(HttpRequest):
    """`facts` is set by `portal.live` on the pages it keeps current."""

    user: User
    facts: Any
