"""Lines of tasks: which, how long, how it ended; no arguments, no results."""

from typing import Any

import pytest
import structlog

from portal.celery import app


@app.task(name="tests.does", shared=False)
def does(name: str) -> str:
    structlog.get_logger("tests.task").info("at work")
    return name * 2


@app.task(name="tests.breaks", shared=False)
def breaks(name: str) -> None:
    raise ZeroDivisionError


def lines(caplog: pytest.LogCaptureFixture, logger: str = "portal.celery") -> list[Any]:
    return [record.msg for record in caplog.records if record.name == logger]


@pytest.mark.parametrize(("task", "outcome"), [(does, "success"), (breaks, "failure")])
def test_a_task_leaves_one_line(caplog: pytest.LogCaptureFixture, task: Any, outcome: str) -> None:
    caplog.set_level("INFO", "portal.celery")
    result = task.apply(("zebra",))
    (line,) = lines(caplog)
    assert (line["event"], line["name"], line["outcome"]) == ("task", task.name, outcome)
    assert line["task_id"] == result.id
    assert line["seconds"] >= 0
    assert "zebra" not in str(lines(caplog))


def test_what_a_task_logs_carries_its_id(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    result = does.apply(("zebra",))
    (line,) = lines(caplog, "tests.task")
    assert line["task_id"] == result.id
    assert "task_id" not in structlog.contextvars.get_contextvars()
