"""Which virt drivers the hosts of this cloud have.

The hypervisor type of a compute node shows its driver. nova-api asks at most
once a minute, and only for requests that have overrides: what it knows may be
that old, and nothing is known while a cell does not answer.
"""

import collections.abc
import dataclasses
import threading
import time
import typing

from nova import context as nova_context
from nova import objects
from nova.db.main import api as main_db
from nova.db.main import models

from nova_image_override.properties import drivers as drivers_module

#: Seconds for which the answer holds.
LIFETIME = 60

#: Seconds within which all cells must answer. Nova's own timeout is 60
#: (nova/context.py CELL_TIMEOUT), and a request would wait that long.
TIMEOUT = 5


@dataclasses.dataclass(frozen=True)
class CloudDrivers:
    """The drivers of a cloud.

    :ivar drivers: those of :data:`.driver_matrix.DRIVERS` that its hosts have
    :ivar compared: metadata keys of host aggregates, which the scheduler may
        compare with image properties (AggregateImagePropertiesIsolation)
    """

    drivers: frozenset[str]
    compared: frozenset[str] = frozenset()


@main_db.pick_context_manager_reader
def _hypervisor_types(targeted: typing.Any) -> set[str]:
    """Return the hypervisor types of the compute nodes of one cell.

    Not through Nova's objects, because a large cloud has thousands of nodes.

    :param targeted: request context, targeted at the cell
    """
    return {found for found, in targeted.session.query(
        models.ComputeNode.hypervisor_type).filter_by(deleted=0).distinct()}


def hypervisor_types(context: typing.Any) -> set[str] | None:
    """Return the hypervisor types of all cells; None if one has not answered.
    """
    nova_context.load_cells()
    found = nova_context.scatter_gather_cells(
        context, nova_context.CELLS, TIMEOUT, _hypervisor_types).values()
    if any(map(nova_context.is_cell_failure_sentinel, found)):
        return None
    return set().union(*found)


def _ask() -> CloudDrivers | None:
    """Ask the cells."""
    # Not the request's context, because aggregates are the operator's.
    context = nova_context.get_admin_context()
    drivers = drivers_module.of_types(hypervisor_types(context) or set())
    if drivers is None:
        return None
    if not drivers_module.may_refuse(drivers):
        return CloudDrivers(drivers)
    return CloudDrivers(drivers, frozenset(
        key for aggregate in objects.AggregateList.get_all(context)
        for key in aggregate.metadata))


class Memory:
    """What is known about the cloud's drivers.

    :param ask: returns the drivers, or None
    :param clock: a monotonic clock, in seconds
    """

    def __init__(
        self,
        ask: collections.abc.Callable[[], CloudDrivers | None] = _ask,
        clock: collections.abc.Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._known: CloudDrivers | None = None
        self._until: float | None = None

    def known(self) -> CloudDrivers | None:
        """Return the drivers; None while they are not known.

        While one request asks, others go on with what was known before.
        """
        now = self._clock()
        with self._lock:
            if self._until is not None and now < self._until:
                return self._known
            self._until = now + LIFETIME
        # Outside the lock, so that nobody has to wait for it.
        self._known = self._ask()
        return self._known
