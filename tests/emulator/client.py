"""A plain HTTP client of an emulator, as tests use it."""

import json
from typing import Any

import requests

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
MERGE = "application/merge-patch+json"
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class Client:
    def __init__(self, url: str, token: str | None) -> None:
        self._url = url
        self._http = requests.Session()
        self._http.trust_env = False
        if token is not None:
            self._http.headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body)
        return self._http.request(method, self._url + path, data=data, headers=headers, timeout=10)

    def get(self, path: str, accept: str = "application/json") -> Any:
        answer = self.call("GET", path, Accept=accept)
        assert answer.ok, answer.text
        return answer.json()

    def create(self, path: str, body: Any) -> Any:
        answer = self.call("POST", path, body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def patch(self, path: str, body: Any) -> Any:
        answer = self.call("PATCH", path, body, **{"Content-Type": MERGE})
        assert answer.ok, answer.text
        return answer.json()

    def refused(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str, str]:
        """Code, reason and message of the Status that refuses a request."""
        answer = self.call(method, path, body, **headers)
        status = answer.json()
        assert status["kind"] == "Status" and status["status"] == "Failure", status
        assert status["code"] == answer.status_code
        return answer.status_code, status["reason"], status["message"]

    def watched(self, path: str) -> list[dict[str, Any]]:
        """All events of a watch, until the server ends it."""
        answer = self.call("GET", path)
        assert answer.ok, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    def step(self, seconds: float = 0) -> Any:
        answer = self.call("POST", "/emulator/clock/step", {"seconds": seconds})
        assert answer.ok, answer.text
        return answer.json()


def names(listed: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]
