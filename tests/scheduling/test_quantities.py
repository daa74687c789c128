"""Quantities as Kueue and Kubernetes read and print them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.quantities import (
    INT64_MAX,
    INT64_MIN,
    BadQuantity,
    add,
    format_quantity,
    parse_milli,
    parse_quantity,
    subtract,
)

amounts = st.integers(INT64_MIN, INT64_MAX)


@pytest.mark.parametrize(
    ("text", "resource", "amount"),
    [
        ("8", "nvidia.com/gpu", 8),
        (8, "nvidia.com/gpu", 8),
        ("2", "cpu", 2000),
        ("250m", "cpu", 250),
        ("0.5", "cpu", 500),
        ("1u", "cpu", 1),
        ("100m", "memory", 1),
        ("-100m", "memory", -1),
        ("1.5Gi", "memory", 1610612736),
        ("1k", "memory", 1000),
        ("1e3", "memory", 1000),
        ("1E", "memory", 10**18),
        ("12E-1", "cpu", 1200),
        ("+5", "nvidia.com/gpu", 5),
        (".5Ki", "memory", 512),
        ("1E", "cpu", INT64_MAX),
        ("10E", "memory", INT64_MAX),
        ("-10E", "memory", INT64_MIN),
    ],
)
def test_quantity_is_read_in_the_smallest_unit(text, resource, amount):
    assert parse_quantity(text, resource) == amount


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "one", "1KB", "1ki", "0x1", "1e", "--1", "1.2.3", "٣", "1" * 65, "nan"]
)
def test_what_is_no_quantity_is_refused(text):
    with pytest.raises(BadQuantity):
        parse_quantity(text, "memory")


@pytest.mark.parametrize(
    ("amount", "resource", "text"),
    [
        (0, "cpu", "0"),
        (1500, "cpu", "1500m"),
        (2000, "cpu", "2"),
        (2_000_000, "cpu", "2k"),
        (1_200_000, "nvidia.com/gpu", "1200k"),
        (12, "nvidia.com/gpu", "12"),
        (1024, "memory", "1Ki"),
        (1536 * 1024**2, "memory", "1536Mi"),
        (2 * 1024**4, "memory", "2Ti"),
        (1000, "memory", "1k"),
        (1025, "memory", "1025"),
        (2048, "hugepages-2Mi", "2Ki"),
        (-2048, "memory", "-2Ki"),
    ],
)
def test_amount_is_printed_as_in_a_queues_status(amount, resource, text):
    assert format_quantity(amount, resource) == text


@pytest.mark.slow
@given(amounts, st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "hugepages-1Gi", "pods"]))
def test_what_is_printed_reads_back_the_same(amount, resource):
    assert parse_quantity(format_quantity(amount, resource), resource) == amount


@pytest.mark.slow
@given(amounts, amounts)
def test_sums_and_differences_stay_within_int64(amount, other):
    assert INT64_MIN <= add(amount, other) <= INT64_MAX
    assert INT64_MIN <= subtract(amount, other) <= INT64_MAX


@pytest.mark.slow
@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_sums_and_differences_of_ordinary_amounts_are_exact(amount, other):
    assert add(amount, other) == amount + other
    assert subtract(amount, other) == amount - other


@pytest.mark.slow
@given(st.integers(INT64_MIN, INT64_MAX - 1))
def test_unlimited_stays_unlimited(amount):
    assert add(INT64_MAX, amount) == add(amount, INT64_MAX) == INT64_MAX
    assert subtract(INT64_MAX, amount) == INT64_MAX
    assert subtract(amount, INT64_MAX) == INT64_MIN
    assert subtract(INT64_MAX, INT64_MAX) == 0


def test_a_weight_is_read_in_thousandths():
    assert (parse_milli("0.3"), parse_milli(2), parse_milli("1500m")) == (300, 2000, 1500)
