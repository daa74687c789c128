import pytest
from django.test import RequestFactory

from accounts.bearer import digest, new_secret, shown_secret


def test_secrets_say_what_they_are_and_never_come_again() -> None:
    made = {new_secret("hpp") for _ in range(50)}
    assert len(made) == 50
    assert all(secret.startswith("hpp_") and len(secret) >= 40 for secret in made)


def test_a_digest_is_the_same_each_time_and_does_not_hold_the_secret() -> None:
    secret = new_secret("hpp")
    assert digest(secret) == digest(secret) != digest(new_secret("hpp"))
    assert len(digest(secret)) == 64
    assert secret not in digest(secret)


@pytest.mark.parametrize(
    ("header", "secret"),
    [("Bearer hpp_x", "hpp_x"), ("bearer  hpp_x ", "hpp_x"), ("Basic hpp_x", ""), ("Bearer", ""), ("", "")],
)
def test_only_what_is_borne_is_shown(header: str, secret: str) -> None:
    assert shown_secret(RequestFactory().get("/", headers={"Authorization": header})) == secret
