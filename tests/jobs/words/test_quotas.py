import pytest
from django.utils.translation import override

from jobs.models import QueueNow, Workload
from jobs.words.quotas import asks_for, consequences, lent_text, most_text, quota_sentence, share_text
from scheduling import names

GPU = names.NVIDIA_GPU


def queue_now(**figures: object) -> QueueNow:
    usual = {
        "resource": GPU, "flavor": "h100", "cohort": "shared", "listed": True, "nominal": 12, "reservation": 16,
        "borrowed": 4, "lent_low": 0, "lent_high": 0, "available": 3, "borrowing_limit": None,
    }  # fmt: skip
    return QueueNow(**{**usual, **figures})


def test_the_numbers_in_one_sentence() -> None:
    assert quota_sentence(queue_now()) == "12 of 12 own, 4 borrowed, 0 lent."
    assert quota_sentence(queue_now(reservation=5, borrowed=0, lent_low=3, lent_high=7)) == (
        "5 of 12 own, 0 borrowed, 3 to 7 lent."
    )


def test_cpu_is_told_in_cores() -> None:
    row = queue_now(resource=names.CPU, nominal=96000, reservation=1500, borrowed=0)
    assert quota_sentence(row) == "1.5 of 96 own, 0 borrowed, 0 lent."
    with override("pt-br"):
        assert "1,5" in quota_sentence(row)


@pytest.mark.parametrize(
    ("low", "high", "text"), [(0, 0, "0"), (3, 3, "3"), (0, 4, "0 to 4"), (None, None, "unknown"), (None, 4, "unknown")]
)
def test_lent_exactly_between_bounds_or_unknown(low: int | None, high: int | None, text: str) -> None:
    assert lent_text(queue_now(lent_low=low, lent_high=high)) == text


def test_no_limit_is_never_0() -> None:
    assert most_text(queue_now()) == "no limit"
    assert most_text(queue_now(borrowing_limit=0)) == "12"
    assert most_text(queue_now(borrowing_limit=4)) == "16"
    assert most_text(queue_now(cohort="")) == "12"


def told(row: QueueNow) -> list[str]:
    return list(consequences(row))


def test_what_follows_for_the_next_job() -> None:
    assert told(queue_now()) == ["What is borrowed may be taken back.", "Free to this queue now: 3 GPUs."]
    assert told(queue_now(borrowed=0, reservation=12, available=0)) == ["Free to this queue now: 0 GPUs."]


@pytest.mark.parametrize(
    ("limit", "available", "says_so"), [(4, 0, True), (5, 1, False), (5, 0, False), (None, 0, False)]
)
def test_it_is_said_where_the_borrowing_limit_holds_the_next_job_up(
    limit: int | None, available: int, says_so: bool
) -> None:
    """And not the cohort, in which nothing is free either."""
    texts = told(queue_now(borrowing_limit=limit, available=available))
    assert any(text.startswith("It borrows as much as its limit lets it") for text in texts) is says_so


def test_unknown_is_said_to_be_unknown() -> None:
    assert told(queue_now(borrowed=0, available=None)) == ["What is free now cannot be said."]


def test_over_the_limit() -> None:
    row = queue_now(cohort="", nominal=12, reservation=14, borrowed=0, available=0)
    assert told(row)[0] == "2 GPUs over the limit: nothing new starts until that is given back."


def test_an_over_committed_cohort_gives_no_figure() -> None:
    row = queue_now(over_committed=True, lent_low=None, lent_high=None)
    assert told(row)[0] == "More is in use in the cohort than there is: who lends how much cannot be said."
    assert "0 lent" not in quota_sentence(row)


def test_a_type_that_left_the_spec() -> None:
    texts = told(queue_now(listed=False, nominal=0, reservation=4))
    assert texts[0].startswith("The queue no longer lists this type")
    assert not any(text.startswith("Free") for text in texts)


def pod_set(count: int, **requests: int) -> dict[str, object]:
    return {"name": "main", "count": count, "min_count": None, "requests": requests}


def test_what_a_job_asks_for() -> None:
    assert asks_for(Workload(pod_sets=[pod_set(2, **{GPU: 8, "cpu": 4000})])) == "16 GPUs"
    assert asks_for(Workload(pod_sets=[pod_set(1, **{GPU: 1}), pod_set(3, **{GPU: 1})])) == "4 GPUs"
    assert asks_for(Workload(pod_sets=[pod_set(2, cpu=1500, memory=2**30)])) == "3 CPU cores, 2 GiB of memory"
    assert asks_for(Workload(pod_sets=[])) == "–"


def test_own_and_borrowed_in_words() -> None:
    assert [share_text(4, 0), share_text(0, 4), share_text(1, 3)] == ["own", "borrowed", "1 own, 3 borrowed"]
