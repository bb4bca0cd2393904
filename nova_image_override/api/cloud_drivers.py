"""Which virt drivers the hosts of this cloud have.

Compute nodes say it by their hypervisor type. nova-api asks at most once a
minute, and only for requests that have overrides: what it knows is as old as
that, and none of it is known while a cell does not answer.
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

#: Seconds in which all cells must answer. Nova's own are 60 (nova/context.py
#: CELL_TIMEOUT), for which a request would wait.
TIMEOUT = 5


@dataclasses.dataclass(frozen=True)
class CloudDrivers:
    """The drivers of a cloud.

    :ivar drivers: of :data:`.driver_matrix.DRIVERS`, those that its hosts have
    :ivar compared: keys of the metadata of host aggregates, with which the
        scheduler may compare image properties
        (AggregateImagePropertiesIsolation)
    """

    drivers: frozenset[str]
    compared: frozenset[str] = frozenset()


@main_db.pick_context_manager_reader
def _hypervisor_types(targeted: typing.Any) -> set[str]:
    """Return the hypervisor types of the compute nodes of one cell.

    Not by Nova's objects: a large cloud has thousands of nodes.

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
    # Not the request's: aggregates are the operator's.
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
    """What is known of the cloud's drivers.

    :param ask: returns it, or None
    :param clock: seconds that only grow
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
        # Outside of the lock, which nobody is to wait for.
        self._known = self._ask()
        return self._known
