"""The request of a signed-in person, as views receive it."""

from django.http import HttpRequest

from accounts.models import User


class Request(HttpRequest):
    user: User
