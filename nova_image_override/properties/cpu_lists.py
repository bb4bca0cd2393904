"""CPU lists such as ``0-3,^2``, read without being expanded.

``nova.virt.hardware.parse_cpu_spec`` makes a set of every range, even of a
``0-4095`` that is in a list forty times. Here each item is read as a range,
however many CPUs it has.
"""

from collections.abc import Iterable, Iterator
import itertools
import re

#: Largest vCPU id in a CPU list. QEMU's largest machine has 4096 vCPUs; the
#: bound keeps ``0-99999999999`` from being expanded into memory, which
#: ``nova.virt.hardware.parse_cpu_spec`` does without one.
CPU_ID_MAX = 4095

#: First and last CPU.
Range = tuple[int, int]


class Malformed(ValueError):
    """An item of a list, the argument, is neither a CPU nor a range."""


def _items(spec: str) -> Iterator[tuple[bool, Range]]:
    """Yield the items of SPEC, as parse_cpu_spec takes them apart.

    :returns: whether an item is excluded, and its range
    :raises Malformed: for the first item that parse_cpu_spec refuses
    """
    for item in spec.split(','):
        item = item.strip()
        if not item:
            continue
        excluded = item.startswith('^')
        first, dash, last = item.removeprefix('^').partition('-')
        try:
            span = int(first), int(last if dash else first)
        except ValueError:
            raise Malformed(item) from None
        if span[0] > span[1]:
            raise Malformed(item)
        yield excluded, span


def highest(spec: str) -> int:
    """Return the highest CPU that SPEC names, even to exclude it.

    parse_cpu_spec stops at the first item that is malformed, and so does this.

    :returns: the CPU, or -1 when SPEC names none
    """
    found = -1
    try:
        for _, (_, last) in _items(spec):
            found = max(found, last)
    except Malformed:
        pass
    return found


def can_be_expanded(spec: str) -> bool:
    """Return whether Nova can safely expand SPEC, whatever its form."""
    # Nova reads "1_0" as 10.
    return all(len(digits) <= 4 and int(digits) <= CPU_ID_MAX
               for digits in re.findall(r'0*(\d+)', spec)) and (
        highest(spec) <= CPU_ID_MAX)


def ranges(spec: str) -> list[Range]:
    """Return the CPUs of SPEC, in order and without overlap.

    :raises Malformed: SPEC is not a CPU list
    """
    included: list[Range] = []
    excluded: list[Range] = []
    for is_excluded, span in _items(spec):
        (excluded if is_excluded else included).append(span)
    result = []
    holes = _union(excluded)
    place = 0
    for first, last in _union(included):
        while place < len(holes) and holes[place][1] < first:
            place += 1
        for hole in itertools.islice(holes, place, None):
            if hole[0] > last:
                break
            if first < hole[0]:
                result.append((first, hole[0] - 1))
            first = hole[1] + 1
        if first <= last:
            result.append((first, last))
    return result


def _union(spans: list[Range]) -> list[Range]:
    result: list[Range] = []
    for first, last in sorted(spans):
        if result and first <= result[-1][1] + 1:
            result[-1] = result[-1][0], max(last, result[-1][1])
        else:
            result.append((first, last))
    return result


def spell(spans: Iterable[Range]) -> str:
    """Return the CPU list of ranges: what :func:`ranges` takes apart."""
    return ','.join(
        f'{first}-{last}' if first < last else str(first)
        for first, last in spans)


#: A list of no CPUs. To Nova, an empty text would be no list at all.
NONE = '0,^0'


def cheap(spec: str, cpus: int) -> str:
    """Return a list that is cheap to expand and means the same as SPEC.

    That is, the same for the CPUs below CPUS: the others become CPUS itself.
    Of a malformed list, the first item that is malformed is left.
    """
    return next(disjoint([spec], cpus))


def disjoint(specs: Iterable[str], cpus: int) -> Iterator[str]:
    """Yield NUMA nodes' lists, in their order, as :func:`cheap` gives them.

    A vCPU can be in only one node: ``_get_numa_topology_manual`` refuses the
    first list that has a vCPU of an earlier list, and looks at none after it.
    Those come out as NONE.
    """
    taken: list[Range] = []
    overlap = False
    for spec in specs:
        try:
            spans = _union([(min(first, cpus), min(last, cpus))
                            for first, last in ranges(spec)])
        except Malformed as exc:
            yield str(exc)
            continue
        yield NONE if overlap else spell(spans) or NONE
        if not overlap:
            total = _count(taken) + _count(spans)
            taken = _union(taken + spans)
            overlap = _count(taken) < total


def _count(spans: list[Range]) -> int:
    return sum(last - first + 1 for first, last in spans)
