import pytest
from django.utils.translation import override

from jobs.words.amounts import amount_text, plain_amount, resource_word
from scheduling import names

GIB = 2**30


@pytest.mark.parametrize(
    ("amount", "resource", "english"),
    [
        (1, names.NVIDIA_GPU, "1 GPU"),
        (8, names.NVIDIA_GPU, "8 GPUs"),
        (0, names.NVIDIA_GPU, "0 GPUs"),
        (2, "nvidia.com/mig-1g.10gb", "2 GPUs"),
        (2000, names.CPU, "2 CPU cores"),
        (1000, names.CPU, "1 CPU core"),
        (1500, names.CPU, "1.5 CPU cores"),
        (250, names.CPU, "0.25 CPU cores"),
        (1, names.CPU, "0.001 CPU cores"),
        (64 * GIB, names.MEMORY, "64 GiB of memory"),
        (3 * GIB // 2, names.MEMORY, "1.5 GiB of memory"),
        (200 * 2**20, names.MEMORY, "200 MiB of memory"),
        (2**20 + 1, names.MEMORY, "1 MiB of memory"),
        (2**63 - 1, names.MEMORY, "8,589,934,592 GiB of memory"),
        (1, names.MEMORY, "1 B of memory"),
        (0, names.MEMORY, "0 GiB of memory"),
        (10 * GIB, names.EPHEMERAL_STORAGE, "10 GiB ephemeral-storage"),
        (1, names.EFA, "1 EFA device"),
        (4, names.EFA, "4 EFA devices"),
        (3, "example.com/quantum", "3 example.com/quantum"),
        (-2, names.NVIDIA_GPU, "-2 GPUs"),
    ],
)
def test_amounts_in_words(amount: int, resource: str, english: str) -> None:
    assert amount_text(amount, resource) == english


def test_numbers_are_written_as_the_reader_writes_them() -> None:
    with override("pt-br"):
        assert plain_amount(1500, names.CPU) == "1,5"
        assert amount_text(3 * GIB // 2, names.MEMORY).startswith("1,5 ")


@pytest.mark.parametrize(
    ("amount", "resource", "plain"),
    [
        (12, names.NVIDIA_GPU, "12"),
        (96000, names.CPU, "96"),
        (1500, names.CPU, "1.5"),
        (2**63 - 1, names.CPU, "9,223,372,036,854,775.807"),
        (1024 * GIB, names.MEMORY, "1,024"),
        (GIB // 2, names.MEMORY, "0.5"),
        (0, names.MEMORY, "0"),
        (3, "example.com/quantum", "3"),
    ],
)
def test_bare_numbers(amount: int, resource: str, plain: str) -> None:
    assert plain_amount(amount, resource) == plain


@pytest.mark.parametrize("amount", [1, 2**20, GIB // 20 - 1])
def test_a_little_is_not_nothing(amount: int) -> None:
    assert plain_amount(amount, names.MEMORY) == "< 0.1"
    assert not amount_text(amount, names.MEMORY).startswith("0 ")


@pytest.mark.parametrize(
    ("resource", "word"),
    [
        (names.NVIDIA_GPU, "GPU"),
        ("aws.amazon.com/neurondevice", "GPU"),
        (names.CPU, "CPU"),
        (names.MEMORY, "memory"),
        (names.EFA, "EFA"),
        ("example.com/quantum", "example.com/quantum"),
    ],
)
def test_words_for_resources(resource: str, word: str) -> None:
    assert resource_word(resource) == word
