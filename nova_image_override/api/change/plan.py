"""The one way from a change of overrides to the properties to be stored.

Authorise, merge over the image, check against flavor and drivers. Create,
check, rebuild and update all go this way, and then do different things with
the result.
"""
from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
import dataclasses
import functools
from typing import Any

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api.guest import check
from nova_image_override.api.guest import no_effect
from nova_image_override.api.guest.guest import boot_metadata
from nova_image_override.authorization.caller import Caller, Callers
from nova_image_override.authorization.discovery_schema import Overridable
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.authorization.presets import Preset
from nova_image_override.override import (
    ImageProperties,
    NONE,
    Overrides,
)
from nova_image_override.properties import request_schema
from nova_image_override.properties.property import Schema

#: Nova's policy rule for reading the extra specs of a flavor.
_READS_SPECS = 'os_compute_api:os-flavor-extra-specs:index'

_FLAVOR_DECIDES = (
    'the flavor decides this, with extra specs that you may not read: leave '
    'the property out, or choose another flavor')


@dataclasses.dataclass(frozen=True)
class Change:
    """The overrides of a server become others.

    :ivar image: metadata of its image, or volume, with the image's own
        properties
    :ivar after: the overrides that are to be in force
    :ivar new: those of them that the rules have to permit
    :ivar before: the overrides in force; none for a server that is created
    :ivar images: the properties that the image itself has, in each form that
        is possible; by default those of ``image``
    :ivar fixed: values that replace merged ones
    :ivar ineffective: names of the overrides that may have no effect
    :ivar owner: the instance whose project and user policy compares with; by
        default those of the request
    """

    flavor: Any
    image: Mapping[str, Any]
    after: Overrides
    new: Overrides
    before: Overrides = NONE
    images: Sequence[ImageProperties] = ()
    fixed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    ineffective: Collection[str] = ()
    owner: Any = None

    @property
    def base(self) -> ImageProperties:
        """The image's own properties."""
        return self.image.get('properties') or {}

    @functools.cached_property
    def differing(self) -> list[str]:
        """Names of the overrides that are added, removed or changed."""
        return self.after.differing(self.before)


@dataclasses.dataclass(frozen=True)
class Plan:
    """Image properties for a server, authorised and checked.

    :ivar image: the image's metadata with the merged properties, and with all
        else that Nova's functions read
    :ivar virt_drivers: those of the cloud's hosts
    """

    change: Change
    image: dict[str, Any]
    virt_drivers: Set[str] = frozenset()

    @property
    def base(self) -> ImageProperties:
        """The image's own properties, as far as they are known."""
        return self.change.images[0] if self.change.images \
            else self.change.base

    @property
    def recorded(self) -> dict[str, str]:
        """The image properties that record the overrides."""
        return self.change.after.recorded(self.base)

    @property
    def stored(self) -> dict[str, Any]:
        """The image properties to be stored, with the record."""
        return {**self.image['properties'], **self.recorded}


@dataclasses.dataclass(frozen=True)
class Planner:
    """Makes plans by the rules of one deployment.

    :ivar virt_drivers: those of the cloud's hosts; with none, nothing is
        refused because of them
    """

    enforcer: Enforcer
    callers: Callers
    virt_drivers: Set[str]

    def refused(
        self, context: Any, new: Overrides,
        images: Sequence[ImageProperties] = (), owner: Any = None,
    ) -> list[errors.Problem]:
        """Return which of the overrides NEW the rules do not permit.

        :param images, owner: as :class:`Change` has them; without IMAGES,
            Glance's protections are not asked
        """
        # A preset that the request names has to be open even if nothing is
        # new.
        if not new and (new.is_kept or not new.preset):
            return []
        return self.enforcer.refusals(
            self.callers.caller(context, owner), new, images)

    def overridable(self, caller: Caller) -> Iterator[Overridable]:
        """Yield what CALLER may override, and what some host acts on."""
        for each in self.enforcer.overridable(caller):
            yield from no_effect.limit(self.virt_drivers, each)

    def schema(self, caller: Caller, version: versions.Version) -> Schema:
        """Return the JSON Schema of what CALLER may send in VERSION."""
        return request_schema.build(version, {
            each.names: each.schema for each in self.overridable(caller)})

    def usable(self, caller: Caller) -> Iterator[Preset]:
        """Yield the presets that CALLER may use, and some host can build."""
        for preset in self.enforcer.usable(caller):
            if not any(no_effect.on_hosts(
                    self.virt_drivers, {}, None, preset.overrides)):
                yield preset

    def reads_specs(self, context: Any) -> bool:
        """Return whether Nova shows flavors' extra specs to the caller."""
        return self.callers.caller(context).can(_READS_SPECS)

    def problems(
        self, context: Any, flavor: Any, *others: Any,
    ) -> dict[str, errors.Problem]:
        """Check merged properties, as :func:`check.problems` does.

        Callers who may not read the flavor's extra specs get the reasons of
        those problems only that it would have without them.
        """
        find = functools.partial(
            check.problems, virt_drivers=self.virt_drivers)
        found = find(flavor, *others)
        if not found or self.reads_specs(context):
            return found
        bare = flavor.obj_clone()
        bare.extra_specs = {}
        public = find(bare, *others)
        return {name: each if each == public.get(name) else (
            dataclasses.replace(each, reason=_FLAVOR_DECIDES))
            for name, each in found.items()}

    def plan(
        self, context: Any, change: Change, *, authorises: bool = True,
    ) -> Plan:
        """Authorise a change, merge it over its image and check the result.

        Nothing is stored.

        :param authorises: False to ask about the guest alone
        :raises errors.OverrideError: the change is refused
        """
        base = change.base
        problems = {each.name: each for each in self.refused(
            context, change.new, change.images or (base,), change.owner)
            } if authorises else {}
        # Properties of the image itself build no guest.
        never = {name for name, each in problems.items()
                 if each.code == errors.NEVER}
        after = change.after.only(change.after.names - never)
        try:
            merged = boot_metadata(
                change.image, {**after.merge(base), **change.fixed})
        except errors.Invalid as exc:
            problems = {
                **{each.name: each for each in exc.problems}, **problems}
            raise errors.refusal(
                problems.values(), after.names - {*problems}) from None
        # Problems of hosts take precedence: another flavor would not fix
        # them.
        problems = {
            **self.problems(context, change.flavor, merged, base, after,
                            change.ineffective),
            **{each.name: each for each in no_effect.on_hosts(
                self.virt_drivers, base, merged['properties'],
                change.new.only(after.names))},
            **problems}
        if problems:
            raise errors.refusal(problems.values())
        return Plan(change, merged, self.virt_drivers)
