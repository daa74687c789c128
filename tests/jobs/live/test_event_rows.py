from gateways.records import EventRecord
from jobs.live.event_rows import event_rows
from jobs.redaction import Redaction
from tests.stories import START

VEILED = Redaction(False, frozenset(), frozenset({"zebra"}))


def told(message: str, reporter: str) -> str:
    event = EventRecord("Pod", "p", True, "Odd", message, reporter, 3, START, START)
    (row,) = event_rows([event], VEILED)
    assert (row.about, row.is_warning, row.reason, row.count, row.last_at) == ("Pod", True, "Odd", 3, START)
    return row.message


def test_what_kueue_says_of_namespaces_is_hidden_even_if_unknown() -> None:
    assert told("made way for new-team/new-job", "kueue-admission") == "made way for [another team]"
    assert told("made way for zebra", "kueue-admission") == "made way for [another team]"


def test_what_others_say_is_hidden_where_it_names_somebody() -> None:
    assert told("0/16 nodes: image repo/train", "default-scheduler") == "0/16 nodes: image repo/train"
    assert told("preempted by zebra/job-1", "default-scheduler") == "preempted by [another team]"


def test_no_secret_is_shown() -> None:
    assert told("exec failed: train --token=s3cr3t-v4lue", "kubelet") == "exec failed: train --token=•••"
