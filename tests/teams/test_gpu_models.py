import pytest

from teams.gpu_models import gpu_model


@pytest.mark.parametrize(
    ("flavor", "model"),
    [
        ("ml.p5.48xlarge", "H100"),
        ("p5.48xlarge", "H100"),
        ("ml.p5en.48xlarge", "H200"),
        ("ml.p4d.24xlarge", "A100"),
        ("ml.p4de.24xlarge", "A100 80 GB"),
        ("ml.p6-b200.48xlarge", "B200"),
        ("ml.g6.12xlarge", "L4"),
        ("ml.g6e.12xlarge", "L40S"),
        ("ml.trn2.48xlarge", "Trainium2"),
    ],
)
def test_the_accelerator_of_an_instance_type(flavor: str, model: str) -> None:
    assert gpu_model(flavor) == model


@pytest.mark.parametrize(
    "flavor",
    ["", "ml", "ml.", "ml.p5", "p5", "spot", "h100", "default-flavor", "ml.p9.48xlarge", "ml.m5.large",
     "ml.p5.48xlarge.spot", "P5.48xlarge", "x.ml.p5.48xlarge", "."],
)  # fmt: skip
def test_what_is_not_known_keeps_its_own_name(flavor: str) -> None:
    assert gpu_model(flavor) == flavor
