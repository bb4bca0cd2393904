"""CPU lists such as ``0-3,^2``, judged without being expanded.

``nova.virt.hardware.parse_cpu_spec`` makes a set of every range, even of a
``0-4095`` that is in a list forty times. Here each item is read as a range,
however many CPUs it has.
"""
from __future__ import annotations

from collections.abc import Iterator

#: Largest vCPU id in a CPU list. QEMU's largest machine has 4096 vCPUs.
CPU_ID_MAX = 4095

#: Most CPUs in all items of a list, and in the lists of all NUMA nodes: if they
#: name more, they name some twice.
CPUS_MAX = CPU_ID_MAX + 1


def _ranges(spec: str) -> Iterator[tuple[int, int]]:
    """Yield first and last CPU of each item of SPEC, excluded ones too.

    parse_cpu_spec stops at the first item that is malformed, and so does this.
    """
    for item in spec.split(','):
        item = item.strip()
        if not item:
            continue
        first, dash, last = item.removeprefix('^').partition('-')
        try:
            span = int(first), int(last if dash else first)
        except ValueError:
            return
        if span[0] > span[1]:
            return
        yield span


def highest(spec: str) -> int:
    """Return the highest CPU that SPEC names, even to exclude it.

    :returns: the CPU, or -1 when SPEC names none
    """
    return max((last for _, last in _ranges(spec)), default=-1)


def named(spec: str) -> int:
    """Return how many CPUs SPEC names, repeated and excluded ones included."""
    return sum(last - first + 1 for first, last in _ranges(spec))


def too_large(spec: str) -> str | None:
    """Return why Nova must not expand SPEC, whatever its form, or None."""
    if highest(spec) > CPU_ID_MAX:
        return f'names CPUs beyond {CPU_ID_MAX}'
    cpus = named(spec)
    if cpus > CPUS_MAX:
        return (f'names {cpus} CPUs, repeated ones included: at most '
                f'{CPUS_MAX}')
    return None
