"""Who lends how much. Borrowing comes from a cohort's pool, so one lender's part is known only between bounds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduling.forest import Node
from scheduling.objects import FlavorResource
from scheduling.quantities import subtract


def borrowed(queue: Node, key: FlavorResource) -> int:
    """What a queue in a cohort uses beyond its nominal quota."""
    return max(0, subtract(queue.usage.get(key, 0), queue.quota(key).nominal))


def lendable(queue: Node, key: FlavorResource) -> int:
    """Idle quota of a queue in a cohort that others may borrow: what the lending limit keeps back stays out."""
    nominal = queue.quota(key).nominal
    return max(0, subtract(nominal, max(queue.usage.get(key, 0), queue.local_quota(key))))


@dataclass(slots=True)
class Pool:
    """One (flavor, resource) of a whole tree: all that is borrowed, and the two sources it can come from."""

    borrowed: int = 0
    lendable: int = 0
    cohorts_nominal: int = 0

    def lent(self, queue_borrowed: int, queue_lendable: int) -> tuple[int, int]:
        """The least and the most that a queue with these figures lends. Equal when it is the only possible lender.
        Meaningless in a tree that is over-committed."""
        by_others = self.borrowed - queue_borrowed
        elsewhere = self.cohorts_nominal + self.lendable - queue_lendable
        return max(0, by_others - elsewhere), min(queue_lendable, by_others)


def pools(cohorts: Iterable[Node]) -> Mapping[FlavorResource, Pool]:
    """The pools of the tree that these cohorts make up."""
    found: dict[FlavorResource, Pool] = defaultdict(Pool)
    for cohort in cohorts:
        for key, quota in cohort.quotas.items():
            found[key].cohorts_nominal += quota.nominal
        for queue in cohort.queues:
            for key in queue.quotas.keys() | queue.usage.keys():
                found[key].borrowed += borrowed(queue, key)
                found[key].lendable += lendable(queue, key)
    return found
