"""A sign-in over HTTP, as a browser does it, at a portal that runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import requests

from tests.accounts.saml.idp import Idp, request_id, sent

_SECONDS = 60


@dataclass(slots=True)
class SignIn:
    """One browser's. `ids`: of the requests with which the portal reads the answer and begins the session."""

    idp: Idp
    name_id: str
    groups: Sequence[str]
    session: requests.Session = field(default_factory=requests.Session)
    answer: str = ""
    ids: list[str] = field(default_factory=list)

    def ask(self) -> None:
        """Sent to the identity provider, and by it with an answer to the portal."""
        self.session.trust_env = False
        address = _led_to(self._get(f"saml/{self.idp.row.slug}/login/"))
        said = {"groups": self.groups, "displayName": [self.name_id]}
        response = self.idp.response(request_id(address), name_id=self.name_id, attributes=said)
        self.answer = sent(self.idp.signed(response))

    def arrive(self) -> None:
        """Raises AssertionError if the portal does not take the answer."""
        form = {"SAMLResponse": self.answer}
        posted = self.session.post(self.idp.acs, data=form, allow_redirects=False, timeout=_SECONDS)
        finished = self._get(_led_to(posted).lstrip("/"))
        assert _led_to(finished) == "/"
        self.ids = [each.headers["X-Request-Id"] for each in (posted, finished)]

    def is_in(self) -> bool:
        answer = self._get("me/")
        return answer.status_code == 200 and self.name_id in answer.text

    def _get(self, path: str) -> requests.Response:
        return self.session.get(f"{self.idp.portal}/{path}", allow_redirects=False, timeout=_SECONDS)


def _led_to(answer: requests.Response) -> str:
    assert answer.status_code == 302, f"{answer.status_code}: {answer.text[:500]}"
    return answer.headers["Location"]
