"""Which accelerator an instance type carries, for display only: what is not listed shows as its instance type."""

_MODELS = {
    "p3": "V100",
    "p3dn": "V100",
    "p4d": "A100",
    "p4de": "A100 80 GB",
    "p5": "H100",
    "p5e": "H200",
    "p5en": "H200",
    "p6-b200": "B200",
    "p6-b300": "B300",
    "p6e-gb200": "GB200",
    "g4dn": "T4",
    "g5": "A10G",
    "g6": "L4",
    "g6e": "L40S",
    "gr6": "L4",
    "trn1": "Trainium",
    "trn1n": "Trainium",
    "trn2": "Trainium2",
    "inf2": "Inferentia2",
}


def gpu_model(flavor: str) -> str:
    """“H100” for ml.p5.48xlarge; the flavor's own name if it is not an instance type that we know."""
    parts = flavor.removeprefix("ml.").split(".")
    return _MODELS.get(parts[0], flavor) if len(parts) == 2 else flavor
