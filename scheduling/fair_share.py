"""The weighted share of a queue or cohort: how far it reaches beyond its own quota, for Fair Sharing to compare."""

import math
from collections import defaultdict
from collections.abc import Mapping

from scheduling.forest import Node
from scheduling.objects import WEIGHT_ONE, FlavorResource
from scheduling.quantities import INT64_MAX, add, subtract


def by_resource(amounts: Mapping[FlavorResource, int]) -> dict[str, int]:
    """Amounts summed over flavors."""
    total: dict[str, int] = defaultdict(int)
    for (_, resource), amount in amounts.items():
        total[resource] = add(total[resource], amount)
    return total


def weighted_share(node: Node, capacity: Mapping[str, int]) -> int:
    """Thousandths of the cohort's capacity that this node borrows, by its dominant resource and over its weight.

    `capacity` is what the parent cohort could use at most, by resource. 0 at a root and when nothing is borrowed,
    INT64_MAX when a node of weight 0 borrows. Only flavors and resources of the current spec count.
    """
    if node.parent is None:
        return 0
    beyond = {key: subtract(node.usage.get(key, 0), quota) for key, quota in node.subtree.items()}
    borrowed = by_resource({key: amount for key, amount in beyond.items() if amount > 0})
    # Floats, since Kueue's are: an exact quotient would at times round up to another integer than Kueue shows.
    ratios = [amount * 1000.0 / capacity[r] for r, amount in borrowed.items() if capacity.get(r, 0) > 0]
    ratio = max(ratios, default=0.0)
    if node.fair_weight == 0:
        return INT64_MAX if ratio else 0
    return min(INT64_MAX, math.ceil(ratio / (node.fair_weight / WEIGHT_ONE)))
