import pytest

from gateways.errors import BadReply, Denied, NotFound
from gateways.http import Api
from gateways.owners import KINDS, owner_annotations
from tests.gateways.objects import Json
from tests.gateways.scripted import ScriptedServer, reply, status

JOB = "/apis/batch/v1/namespaces/team/jobs/train"
NOTES = {"hyperpod-portal/last-checkpoint": "2026-10-08T12:00:00Z", "other": "x"}


def ask(api: Api) -> dict[str, str]:
    return dict(owner_annotations(api, "Job", "team", "train", "u"))


def owner(**meta: object) -> Json:
    return {"kind": "PartialObjectMetadata", "metadata": {"name": "train", "uid": "u", **meta}}


def test_the_metadata_of_the_job_alone_is_asked_for(server: ScriptedServer, api: Api) -> None:
    server.on(JOB, reply(owner(annotations=NOTES)))
    assert ask(api) == NOTES
    assert server.asked[0].headers["Accept"].startswith("application/json;as=PartialObjectMetadata;")


def test_a_job_without_annotations_says_nothing(server: ScriptedServer, api: Api) -> None:
    server.on(JOB, reply(owner(annotations=None)))
    assert ask(api) == {}


def test_a_namesake_is_not_the_job(server: ScriptedServer, api: Api) -> None:
    server.on(JOB, reply(owner(uid="another", annotations=NOTES)))
    with pytest.raises(NotFound):
        ask(api)


@pytest.mark.parametrize(("code", "error"), [(403, Denied), (404, NotFound)])
def test_a_refusal_is_told(server: ScriptedServer, api: Api, code: int, error: type[Exception]) -> None:
    server.on(JOB, status(code))
    with pytest.raises(error):
        ask(api)


@pytest.mark.parametrize("answer", [{}, {"metadata": []}, owner(annotations=[1])])
def test_what_cannot_be_read_is_no_answer(server: ScriptedServer, api: Api, answer: Json) -> None:
    server.on(JOB, reply(answer))
    with pytest.raises(BadReply):
        ask(api)


def test_hyperpods_own_jobs_are_asked() -> None:
    assert {"Job", "HyperPodPyTorchJob", "PyTorchJob", "JobSet", "RayJob"} <= KINDS.keys()
