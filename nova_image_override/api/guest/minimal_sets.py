"""The search for conflicts: which of many items exclude each other.

Pure: it knows neither overrides nor Nova, only a function that tests sets.
"""

import collections
import collections.abc
import dataclasses
import typing

Item = typing.TypeVar('Item', bound=collections.abc.Hashable)


@dataclasses.dataclass(frozen=True)
class Conflict(typing.Generic[Item]):
    """Why a set of items conflicts.

    :ivar reason: in words
    :ivar read: the items that were looked at to find out; the set conflicts
        even without the others
    :ivar kind: what distinguishes this conflict from others
    """

    reason: str
    read: collections.abc.Set[Item]
    kind: object = None


#: Tests a set; None when it does not conflict.
Test = collections.abc.Callable[[frozenset[Item]], Conflict[Item] | None]


def minimal_sets(
    items: collections.abc.Iterable[Item], test: Test[Item], limit: int,
) -> collections.abc.Iterator[tuple[frozenset[Item], Conflict[Item]]]:
    """Find disjoint sets of ITEMS that conflict, and why each does.

    Takes away one set after another until what is left does not conflict.
    Each is minimal: without any one of its items it does not conflict, or its
    conflict is of another kind. When two lists do not go together and the list
    of CPUs is left out, the complaint that it is missing says nothing about
    either. The empty set comes last: what conflicts without items conflicts
    with any.

    When LIMIT sets have been tested, the smallest set that is known to
    conflict is the last one, minimal or not.

    :param test: tests a set; called once for each
    :param limit: how many sets may be tested, at least 1
    """
    known: dict[frozenset[Item], Conflict[Item] | None] = {}

    def tested(chosen: frozenset[Item]) -> Conflict[Item] | None:
        if chosen not in known:
            if len(known) >= limit:
                return None
            known[chosen] = test(chosen)
        return known[chosen]

    left = frozenset(items)
    while (conflict := tested(left)) is not None:
        def same(
            chosen: frozenset[Item], kind: object = conflict.kind,
        ) -> Conflict[Item] | None:
            found = tested(chosen)
            return found if found and found.kind == kind else None

        needed = _shrunk(left & conflict.read, same)
        yield needed, tested(needed) or conflict
        if not needed:
            return
        left -= needed


def _shrunk(chosen: frozenset[Item], tested: Test[Item]) -> frozenset[Item]:
    """Return a minimal subset of CHOSEN, which conflicts, that still does."""
    waiting = collections.deque(sorted(chosen, key=str))
    # How many in a row cannot be left out.
    kept = 0
    while kept < len(waiting):
        item = waiting.popleft()
        if tested(frozenset(waiting)) is None:
            waiting.append(item)
            kept += 1
        else:
            kept = 0
    return frozenset(waiting)
