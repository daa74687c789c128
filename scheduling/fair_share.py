"""The weighted share of a queue or cohort: how far it reaches beyond its own quota, for Fair Sharing to compare."""

import math
from collections import defaultdict
from collections.abc import Mapping

from scheduling.forest import Node
from scheduling.objects import WEIGHT_ONE, FlavorResource
from scheduling.quantities import INT64_MAX, add, subtract


def weighted_share(node: Node, potential_above: Mapping[FlavorResource, int]) -> int:
    """Thousandths of what the cohort could lend that this node borrows, by its dominant resource and over its weight.

    `potential_above` is the parent cohort's `potential` for every (flavor, resource) of its tree. 0 when nothing is
    borrowed, INT64_MAX when a node of weight 0 borrows. Only flavors and resources of the current spec count.
    """
    if node.parent is None:
        return 0
    borrowed: dict[str, int] = defaultdict(int)
    for key, quota in node.subtree.items():
        beyond = subtract(node.usage.get(key, 0), quota)
        if beyond > 0:
            borrowed[key[1]] = add(borrowed[key[1]], beyond)
    if not borrowed:
        return 0
    lendable: dict[str, int] = defaultdict(int)
    for (_, resource), amount in potential_above.items():
        lendable[resource] = add(lendable[resource], amount)
    # Floats, since Kueue's are: an exact quotient would at times round up to another integer than Kueue shows.
    ratio = max((b * 1000.0 / lendable[r] for r, b in borrowed.items() if lendable[r] > 0), default=0.0)
    if node.fair_weight == 0:
        return INT64_MAX if ratio else 0
    return min(INT64_MAX, math.ceil(ratio / (node.fair_weight / WEIGHT_ONE)))
