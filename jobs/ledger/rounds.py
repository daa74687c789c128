"""Several looks at one workload in the order in which they are to be stored. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise, zip_longest

from scheduling.objects import Workload
from scheduling.overwritten import is_overwritten


def in_rounds(looks: Iterable[Workload]) -> list[list[Workload]]:
    """At least one round, with each workload at most once in each. A look is left out where a later one tells all of
    it: a watch that goes on after a pause tells every step, of which most changed a message."""
    by_uid: dict[str, dict[int, Workload]] = defaultdict(dict)
    for look in looks:
        by_uid[look.uid][look.resource_version] = look
    series = [list(_worth_storing([versions[v] for v in sorted(versions)])) for versions in by_uid.values()]
    newest_first = zip_longest(*(reversed(each) for each in series))
    rounds = [[look for look in each if isinstance(look, Workload)] for each in newest_first]
    return rounds[::-1] or [[]]


def _worth_storing(series: list[Workload]) -> Iterator[Workload]:
    yield from (look for look, later in pairwise(series) if is_overwritten(look, later))
    yield series[-1]
