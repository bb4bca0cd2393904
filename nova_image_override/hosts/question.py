"""Which override keeps hosts from taking a server."""
from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from nova import objects
from nova.scheduler import utils as scheduler_utils
from nova.virt import hardware

from nova_image_override import errors
from nova_image_override.api.change.plan import Change
from nova_image_override.api.guest import guest
from nova_image_override.hosts.scheduler import Answer
from nova_image_override.hosts.scheduler import Scheduler

#: Questions about one server, besides the first.
MOST = 10


def asked(
    scheduler: Scheduler, context: Any, spec: objects.RequestSpec,
    change: Change,
) -> Iterator[tuple[tuple[str, ...], Answer]]:
    """Yield overrides, and which hosts can take the server without them.

    At most :data:`MOST`; the last is without any override, where no host can
    take it without one of them.

    :param spec: the request spec of the server, with its overrides
    :param change: the overrides, and what its image has without them
    """
    groups: dict[str, list[str]] = {}
    every = sorted(change.after.names)
    for each in every:
        # Nova refuses one list of a topology without the others.
        groups.setdefault(
            'hw_numa_' if each.startswith('hw_numa_') else each,
            []).append(each)
    specs = [(tuple(names), other) for names in groups.values()
             if (other := _without(names, spec, change)) is not None]
    # Those first that change what Placement is asked for, or the topology.
    mine = _wanted(spec)
    specs.sort(key=lambda each: _wanted(each[1]) == mine)
    found = len(groups) < 2
    for names, other in specs[:MOST - 1]:
        answer = scheduler.ask(context, other)
        found = found or bool(answer.able)
        yield names, answer
    if not found and (bare := _without(every, spec, change)) is not None:
        yield tuple(every), scheduler.ask(context, bare)


def _without(
    names: Collection[str], spec: objects.RequestSpec, change: Change,
) -> objects.RequestSpec | None:
    """Return SPEC without the overrides NAMES, None if Nova refuses it."""
    spec = spec.obj_clone()
    rest = change.after.only(change.after.names - {*names})
    try:
        spec.image = guest.read(guest.boot_metadata(
            change.image, rest.merge(change.base)))
        spec.numa_topology = hardware.numa_get_constraints(
            spec.flavor, spec.image)
    except (errors.Invalid, *guest.REFUSALS):
        return None
    return spec


def _wanted(spec: objects.RequestSpec) -> tuple[str, str]:
    return (
        str(scheduler_utils.ResourceRequest.from_request_spec(spec)),
        str(spec.numa_topology and spec.numa_topology.obj_to_primitive()))
