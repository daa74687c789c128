"""What kinds of jobs the teams send, how often, and how large they are."""

from dataclasses import dataclass
from typing import Final

from emulator.world.hardware import G6E, P5, InstanceType

TRAINING_JOB: Final = "HyperPodPyTorchJob"
JOB: Final = "Job"
RAY_JOB: Final = "RayJob"
POD: Final = "Pod"


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of job. `gpus` and `cpus` are of one pod; `cpus` and `pods` are drawn from the values given. `minutes`
    is the range of its length, `per_hour` how many arrive on average, `checkpoint` the minutes between checkpoints (0:
    none), `fails` the chance to end as Failed. Without `priority` nobody set a priority class."""

    team: str
    stem: str
    owner: str
    instance: InstanceType
    per_hour: float
    minutes: tuple[float, float]
    gpus: int
    cpus: tuple[int, ...]
    pods: tuple[int, ...] = (1,)
    priority: str = "training"
    checkpoint: int = 0
    fails: float = 0.05
    asked_efa: int | None = None

    @property
    def memory(self) -> int:
        """GiB of one pod: its share of the node by GPUs, less what the system takes."""
        return self.instance.memory * self.gpus * 3 // (self.instance.gpus * 4)

    @property
    def efa(self) -> int:
        """Interfaces of one pod: training takes all of its node."""
        if self.asked_efa is not None:
            return self.asked_efa
        return self.instance.efa if self.owner == TRAINING_JOB else 0


PROFILES: Final = (
    Profile("research", "pretrain-moe", TRAINING_JOB, P5, 1.1, (40, 170), 8, (160, 170, 176), (2, 3, 4), checkpoint=30),
    Profile("research", "ablation", TRAINING_JOB, P5, 5.0, (12, 50), 8, (128, 144, 160), (1, 1, 2), checkpoint=15),
    Profile("research", "probe", JOB, G6E, 9.0, (4, 25), 1, (6, 8, 10, 12), priority="experiment", fails=0.12),
    Profile("research", "sweep", RAY_JOB, G6E, 3.0, (15, 50), 2, (16, 18, 20), (1, 2), "experiment"),
    Profile("language", "finetune", TRAINING_JOB, P5, 3.6, (20, 80), 8, (120, 140, 150), (1, 1, 2), checkpoint=20),
    Profile("language", "instruct", TRAINING_JOB, P5, 1.0, (45, 130), 8, (160, 176), (2, 3), checkpoint=30),
    Profile("language", "tokenize", JOB, G6E, 6.0, (5, 20), 1, (8, 10, 11), priority="experiment", fails=0.08),
    Profile("vision", "detector", TRAINING_JOB, P5, 2.8, (20, 70), 8, (100, 120), (1, 1, 2), checkpoint=20),
    Profile("vision", "segment", TRAINING_JOB, G6E, 6.0, (10, 45), 4, (40, 44), (1, 1, 2)),
    Profile("vision", "annotate", JOB, G6E, 8.0, (4, 20), 1, (8, 9, 10, 11), priority="experiment"),
    Profile("vision", "notebook", POD, G6E, 1.6, (30, 120), 1, (8, 12), priority=""),
    Profile("serving", "endpoint", POD, P5, 1.6, (45, 160), 8, (96, 128), priority="inference", fails=0.0),
    Profile("serving", "reranker", POD, G6E, 5.0, (30, 120), 2, (16, 20, 22), priority="inference", fails=0.0),
    Profile("serving", "canary", POD, G6E, 5.0, (4, 12), 1, (8, 10, 12), priority="inference", fails=0.1),
    # What never fits: each is short of another resource.
    Profile("research", "grand-run", TRAINING_JOB, P5, 1.0, (60, 120), 8, (160,), (24,), checkpoint=30),
    Profile("vision", "preprocess", JOB, G6E, 1.0, (20, 40), 1, (400,), priority="experiment"),
    Profile("language", "allreduce", JOB, G6E, 1.0, (10, 20), 4, (40,), priority="experiment", asked_efa=24),
)
