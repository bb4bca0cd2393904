"""CPU topologies, found among divisors only.

``nova.virt.hardware._get_possible_cpu_topologies`` tries each combination up
to the number of vCPUs, which takes a second for 300 of them.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from nova import exception
from nova.virt import hardware


class Topology(NamedTuple):
    """Sockets, cores per socket and threads per core."""

    sockets: int
    cores: int
    threads: int


def _all(vcpus: int) -> Iterator[Topology]:
    """Yield the topologies that make VCPUS."""
    divisors = [n for n in range(1, vcpus + 1) if vcpus % n == 0]
    for sockets in divisors:
        for cores in divisors:
            if vcpus % (sockets * cores) == 0:
                yield Topology(sockets, cores, vcpus // (sockets * cores))


def best(flavor: Any, image_meta: Any, threads: bool = True) -> Topology | None:
    """Return the topology that hardware.get_best_cpu_topology prefers.

    :param threads: whether cores may have several threads
    :returns: None where the limits leave none
    :raises nova.exception.NovaException: flavor and image do not agree
    """
    want, most = (
        Topology(each.sockets, each.cores, each.threads) for each
        in hardware.get_cpu_topology_constraints(flavor, image_meta))
    return max(
        (each for each in _all(flavor.vcpus)
         if each.sockets <= most.sockets and each.cores <= most.cores
         and each.threads <= (most.threads if threads else 1)),
        # hardware._sort_possible_cpu_topologies
        key=lambda each: (
            sum(a == b for a, b in zip(each, want)),
            each.sockets * each.cores, each.sockets),
        default=None)


def check(flavor: Any, image_meta: Any) -> None:
    """Check as hardware.get_best_cpu_topology does.

    :raises nova.exception.ImageVCPULimitsRangeImpossible: no topology has as
        many vCPUs as the flavor
    """
    if best(flavor, image_meta) is None:
        most = hardware.get_cpu_topology_constraints(flavor, image_meta)[1]
        raise exception.ImageVCPULimitsRangeImpossible(
            vcpus=flavor.vcpus, sockets=min(flavor.vcpus, most.sockets),
            cores=min(flavor.vcpus, most.cores),
            threads=min(flavor.vcpus, most.threads))
