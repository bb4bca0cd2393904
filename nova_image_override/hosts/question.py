"""Which override keeps hosts from taking a server."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
import dataclasses
from typing import Any

from nova import objects
from nova.scheduler import utils as scheduler_utils
from nova.virt import hardware

from nova_image_override import errors
from nova_image_override.api.guest import guest
from nova_image_override.hosts.scheduler import Answer
from nova_image_override.hosts.scheduler import Scheduler
from nova_image_override.override import ImageProperties, Overrides

#: Questions about one server, besides the first.
MOST = 10


@dataclasses.dataclass(frozen=True)
class Question:
    """A server that is looked for a host.

    :ivar spec: its request spec, with the overrides
    :ivar image: metadata of its image
    :ivar base: the image's own properties
    :ivar overrides: its overrides
    """

    spec: objects.RequestSpec
    image: Mapping[str, Any]
    base: ImageProperties
    overrides: Overrides

    def asked(
        self, scheduler: Scheduler, context: Any,
    ) -> Iterator[tuple[tuple[str, ...], Answer]]:
        """Yield overrides, and which hosts can take the server without them.

        At most :data:`MOST`; the last is without any override.
        """
        groups: dict[str, list[str]] = {}
        for each in sorted(self.overrides.names):
            # Nova refuses one list of a topology without the others.
            groups.setdefault(
                'hw_numa_' if each.startswith('hw_numa_') else each,
                []).append(each)
        specs = [(tuple(names), spec) for names in groups.values()
                 if (spec := self._without(names)) is not None]
        # Those first that change what Placement is asked for, or the topology.
        mine = _wanted(self.spec)
        specs.sort(key=lambda each: _wanted(each[1]) == mine)
        every = tuple(sorted(self.overrides.names))
        if len(groups) > 1 and (bare := self._without(every)) is not None:
            specs[MOST - 1:] = [(every, bare)]
        for names, spec in specs[:MOST]:
            yield names, scheduler.ask(context, spec)

    def _without(
        self, names: tuple[str, ...] | list[str],
    ) -> objects.RequestSpec | None:
        """Return the request spec without the overrides called NAMES.

        :returns: None where Nova builds no such server
        """
        spec = self.spec.obj_clone()
        rest = self.overrides.only({*self.overrides.names} - {*names})
        try:
            spec.image = guest.read(guest.boot_metadata(
                self.image, rest.merge(self.base)))
            spec.numa_topology = hardware.numa_get_constraints(
                spec.flavor, spec.image)
        except (errors.Invalid, *guest.REFUSALS):
            return None
        return spec


def _wanted(spec: objects.RequestSpec) -> tuple[str, str]:
    return (
        str(scheduler_utils.ResourceRequest.from_request_spec(spec)),
        str(spec.numa_topology and spec.numa_topology.obj_to_primitive()))
