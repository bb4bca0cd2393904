"""CPU lists such as ``0-3,^2``, judged without being expanded.

``nova.virt.hardware.parse_cpu_spec`` makes a set of every range, even of a
``0-4095`` that is in a list forty times. Here each item is read as a range,
however many CPUs it has.
"""
from __future__ import annotations

from typing import NamedTuple

#: Largest vCPU id in a CPU list. QEMU's largest machine has 4096 vCPUs.
CPU_ID_MAX = 4095

#: Most CPUs in all items of a list, and in the lists of all NUMA nodes: if they
#: name more, they name some twice.
CPUS_MAX = CPU_ID_MAX + 1


class Extent(NamedTuple):
    """How far a CPU list goes.

    :ivar highest: the highest CPU that it names, even to exclude it, or -1
    :ivar named: how many CPUs it names, repeated and excluded ones included
    :ivar fault: why Nova must not expand it, whatever its form, or None; what
        comes after the fault is not read
    """

    highest: int
    named: int
    fault: str | None = None


def extent(spec: str) -> Extent:
    """Return how far SPEC goes.

    parse_cpu_spec stops at the first item that is malformed, and so does this.
    """
    highest, named = -1, 0
    for item in filter(None, (each.strip() for each in spec.split(','))):
        begin, dash, end = item.removeprefix('^').partition('-')
        try:
            first, last = int(begin), int(end if dash else begin)
        except ValueError:
            break
        if first > last:
            break
        highest, named = max(highest, last), named + last - first + 1
        if last > CPU_ID_MAX:
            return Extent(highest, named, f'names CPUs beyond {CPU_ID_MAX}')
        if named > CPUS_MAX:
            return Extent(highest, named, f'names more than {CPUS_MAX} CPUs, '
                          'repeated ones included')
    return Extent(highest, named)
