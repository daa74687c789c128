"""How often one address, or one secret, may ask: counted in the database, which all web processes share."""

from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address, ip_network
from math import ceil
from typing import Final

from allauth.account.adapter import get_adapter
from django.db import connection
from django.http import HttpRequest, HttpResponse

_COUNT: Final = """
    INSERT INTO accounts_requestcount (key, ends_at, count) VALUES (%s, %s, 1)
    ON CONFLICT (key) DO UPDATE SET count = accounts_requestcount.count + 1 RETURNING count
"""
_HOME: Final = 64
"""Bits of a version 6 address that one household or host has for itself."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` requests called `name` of one address, or by one secret, within each window of `seconds`."""

    name: str
    most: int
    seconds: int = 60

    def window(self, now: datetime) -> int:
        """The number of the one that `now` is in."""
        return int(now.timestamp()) // self.seconds

    def ends_at(self, now: datetime) -> datetime:
        return datetime.fromtimestamp((self.window(now) + 1) * self.seconds, UTC)

    def seconds_left(self, now: datetime) -> int:
        """Until the window ends, from 1 up."""
        return ceil((self.ends_at(now) - now).total_seconds())


def is_beyond(request: HttpRequest, limit: Limit, now: datetime) -> bool:
    """Counts the request, by the address that it came from."""
    return is_beyond_by(_host(address_of(request)), limit, now)


def is_beyond_by(key: object, limit: Limit, now: datetime) -> bool:
    """Counts a request of whoever is told apart by `key`, such as a secret's. One statement, so that requests at the
    same moment in several processes all count; it must stand outside of transactions, which would wait for each
    other."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [f"{limit.name} {limit.window(now)} {key}", limit.ends_at(now)])
        (count,) = cursor.fetchone()
    return bool(count > limit.most)


def too_many(limit: Limit, now: datetime) -> HttpResponse:
    """The answer to a request beyond the limit."""
    text = "Too many requests. Try again later."
    headers = {"Retry-After": str(limit.seconds_left(now))}
    return HttpResponse(text, status=429, content_type="text/plain", headers=headers)


def address_of(request: HttpRequest) -> str:
    """Where the request came from, as far as the proxy can be believed, without a zone; version 4 that came through a
    socket of version 6 as version 4, or everybody would count as one. Raises PermissionDenied if nobody knows."""
    address = ip_address(str(get_adapter(request).get_client_ip(request)).partition("%")[0])
    return str(getattr(address, "ipv4_mapped", None) or address)


def _host(address: str) -> str:
    if ip_address(address).version == 4:
        return address
    return str(ip_network(f"{address}/{_HOME}", strict=False).network_address)
