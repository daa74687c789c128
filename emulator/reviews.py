"""SelfSubjectAccessReview: may I?"""

from typing import Any, Final

from emulator.access import User
from emulator.errors import bad_request
from emulator.paths import Target

GROUP: Final = "authorization.k8s.io"
PATH: Final = f"/apis/{GROUP}/v1/selfsubjectaccessreviews"


def reviewed(user: User, review: dict[str, Any]) -> dict[str, Any]:
    """The review with its answer in `status`. Raises ApiError (400) when it asks about nothing."""
    asked = (review.get("spec") or {}).get("resourceAttributes")
    if not isinstance(asked, dict):
        raise bad_request("spec.resourceAttributes: Required value")
    target = Target(
        asked.get("group", ""),
        asked.get("version", ""),
        asked.get("namespace", ""),
        asked.get("resource", ""),
        asked.get("name", ""),
        asked.get("subresource", ""),
    )
    return {**review, "metadata": {}, "status": {"allowed": user.may(asked.get("verb", ""), target)}}
