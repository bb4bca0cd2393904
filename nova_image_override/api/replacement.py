"""A set of overrides that takes the place of the one in force."""

from __future__ import annotations

import collections.abc
import dataclasses
import typing

from nova import objects

from nova_image_override import override
from nova_image_override import record
from nova_image_override.api import disk_buses
from nova_image_override.authorization import enforcer as enforcer_module

_ABSENT = object()


@dataclasses.dataclass
class Replacement:
    """One server's overrides, about to be replaced or kept.

    :ivar instance: the server
    :ivar recorded: its overrides in force
    :ivar asked: the request's overrides; None without the parameter
    """

    instance: typing.Any
    recorded: override.Overrides
    asked: override.Overrides | None

    @property
    def overrides(self) -> override.Overrides:
        """The overrides that are to be in force."""
        return self.recorded if self.asked is None else self.asked

    @property
    def changed(self) -> override.Overrides:
        """What the request newly asks for, which the rules have to permit.

        Going back to the image's own value needs no permission, and what is
        kept was permitted before.
        """
        return {name: value for name, value in self.overrides.items()
                if name not in self.recorded
                or self.recorded[name] != value}

    @property
    def differing(self) -> list[str]:
        """Names of the overrides that are added, removed or changed."""
        return sorted(
            name for name in {*self.recorded, *self.overrides}
            if self.recorded.get(name, _ABSENT)
            != self.overrides.get(name, _ABSENT))

    def request_spec(self, context: typing.Any) -> objects.RequestSpec:
        """Return the server's request spec as it is stored."""
        return objects.RequestSpec.get_by_instance_uuid(
            context, self.instance.uuid)

    def disk_moves(
        self, context: typing.Any, before: override.ImageProperties,
        after: override.ImageProperties,
    ) -> disk_buses.Moves:
        """Return the disks that overrides move from one bus to another.

        Where the image alone has another bus, Nova leaves the disks alone.

        :param before: the properties that the server has
        :param after: those that it is to have
        :raises errors.Invalid: the bus does not take that many disks
        """
        if disk_buses.PROPERTY not in self.differing:
            return disk_buses.NONE
        return disk_buses.between(context, self.instance, before, after)

    def kept_anew(
        self, enforcer: enforcer_module.Enforcer,
        base: override.ImageProperties,
        is_unchanged: collections.abc.Callable[[], bool],
    ) -> override.Overrides:
        """Return what is kept but needs more of Glance than was granted.

        It was permitted for the image that the server has had. The record
        holds that image's value, but not under which of the property's names
        it stood: where that matters, only the same, unchanged image is known
        to need no more.

        :param base: properties of the image that the server is to have
        :param is_unchanged: returns whether that is the image that it has had
        """
        image_values = record.image_values(self.instance.system_metadata)

        def needed(
            name: str, overrides: override.Overrides,
        ) -> collections.abc.Set[tuple[str, str]]:
            return enforcer.operations_needed(name, overrides, base).items()

        more = {
            name: value for name, value in self.overrides.items()
            if name not in self.changed
            and not needed(name, self.overrides)
            <= enforcer.operations_granted(name, value, image_values[name])}
        if more and is_unchanged():
            # Dropping an override can still change what the others write.
            return {
                name: value for name, value in more.items()
                if not needed(name, self.overrides)
                <= needed(name, self.recorded)}
        return more
