"""Who lends how much. Borrowing comes from a cohort's pool, so one lender's part is known only between bounds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduling.forest import Node
from scheduling.objects import FlavorResource
from scheduling.quantities import subtract


@dataclass(frozen=True, slots=True)
class Balance:
    """What a queue in a cohort uses beyond its nominal quota, and the idle quota that others may borrow."""

    borrowed: int
    lendable: int


def balance(queue: Node, key: FlavorResource) -> Balance:
    nominal, used = queue.quota(key).nominal, queue.usage.get(key, 0)
    not_lendable = max(used, queue.local_quota(key))
    return Balance(max(0, subtract(used, nominal)), max(0, subtract(nominal, not_lendable)))


@dataclass(slots=True)
class Pool:
    """One (flavor, resource) of a whole tree: all that is borrowed, and the two sources it can come from."""

    borrowed: int = 0
    lendable: int = 0
    cohorts_nominal: int = 0

    def lent_by(self, queue: Balance) -> tuple[int, int]:
        """The least and the most that this queue lends. Equal when it is the only possible lender. Meaningless in a
        tree that is over-committed."""
        by_others = self.borrowed - queue.borrowed
        elsewhere = self.cohorts_nominal + self.lendable - queue.lendable
        return max(0, by_others - elsewhere), min(queue.lendable, by_others)


def pools(
    cohorts: Iterable[Node], balances: Iterable[Mapping[FlavorResource, Balance]]
) -> Mapping[FlavorResource, Pool]:
    """The pools of the tree that these cohorts and the balances of all their queues make up."""
    found: dict[FlavorResource, Pool] = defaultdict(Pool)
    for cohort in cohorts:
        for key, quota in cohort.quotas.items():
            found[key].cohorts_nominal += quota.nominal
    for of_queue in balances:
        for key, each in of_queue.items():
            pool = found[key]
            pool.borrowed += each.borrowed
            pool.lendable += each.lendable
    return found
