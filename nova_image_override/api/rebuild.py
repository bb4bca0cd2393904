"""What a rebuild does with a server's overrides."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import typing

from nova import objects

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import record
from nova_image_override.api import audit
from nova_image_override.api import disk_buses
from nova_image_override.api import host_scheduling
from nova_image_override.api import pipeline as pipeline_module
from nova_image_override.api import replacement
from nova_image_override.api.flavor import image_metadata
from nova_image_override.api.flavor import numa_changes
from nova_image_override.api.flavor import validation
from nova_image_override.nova_interfaces import interface

#: Returns the image of the request spec as it is stored.
_StoredImage = collections.abc.Callable[[], 'objects.ImageMeta | None']

_REMEDY = 'and a rebuild does not move it: boot another server'


@dataclasses.dataclass
class Rebuild(replacement.Replacement):
    """One rebuild of a server that has, or is to have, overrides.

    :ivar image: metadata of the merged image, once Nova has fetched it
    :ivar spec: the server's request spec, once it has been checked
    :ivar moves: disks that move to another bus
    """

    image: objects.ImageMeta | None = None
    spec: objects.RequestSpec | None = None
    moves: disk_buses.Moves = disk_buses.NONE

    @classmethod
    def begin(
        cls, instance: typing.Any, asked: override.Overrides | None,
    ) -> Rebuild | None:
        """Return the rebuild, or None when overrides play no part in it.

        :param asked: the parameter; None when the request does not have it
        """
        recorded = record.in_force(instance.system_metadata)
        if not recorded and not asked:
            return None
        return cls(instance, recorded, asked)

    @property
    def remedy(self) -> str:
        """What a caller can do if the server's host lacks the compute part."""
        return ('or send an empty image_props_override, which drops them'
                if self.recorded else 'or leave image_props_override out')

    def _set_since(self, stored: _StoredImage) -> dict[str, str]:
        """Return what was removed with null but set by an operator since.

        ``nova-manage image_property set`` writes it into the request spec too.
        What only system metadata has is nova-compute's default, which it
        chooses again for the guest that it builds.
        """
        found = {} if self.asked is not None else record.set_after_removal(
            self.instance.system_metadata)
        if not found:
            return {}
        had = host_scheduling.properties_of(stored())
        return {name: value for name, value in found.items() if name in had}

    def merge(
        self, pipeline: pipeline_module.Pipeline, context: typing.Any,
        image: dict[str, typing.Any], guard: numa_changes.Guard,
    ) -> None:
        """Merge the overrides into the fetched IMAGE, if they are permitted.

        The instance is changed too, but Nova saves it only when all its own
        checks have passed.

        :param guard: Nova's check that a rebuild leaves NUMA alone
        :raises errors.OverrideError: the server cannot be rebuilt from the
            merged image
        """
        catalog, changed = pipeline.catalog, self.changed
        base = image.get('properties') or {}
        # Hardly any rebuild needs it, and none should read it twice.
        stored = functools.cache(
            lambda: _image_of(self.request_spec(context)))
        flavor = self.instance.get_flavor()
        merged = pipeline.run(
            context, pipeline_module.Change(
                self.overrides, changed,
                self.kept_anew(
                    pipeline.enforcer, base,
                    lambda: _is_unchanged(stored(), image)),
                self._set_since(stored),
                # What had no effect before loses nothing in the rebuild.
                validation.ineffective(catalog, self.instance) - set(changed),
                self.instance),
            flavor, image)
        # Nova asks its guard only for a new image, but overrides can change
        # NUMA while the image stays the same, and a rebuild does not claim the
        # topology again.
        _refuse(
            numa_changes.refused_by(
                guard, catalog, self.instance, base, merged.image,
                self.overrides),
            errors.NUMA_CHANGE, 'a rebuild cannot change the NUMA topology of '
            'a server, boot another one')
        image['properties'] = merged.image['properties']
        self.image = objects.ImageMeta.from_dict(image)
        server = image_metadata.of_server(self.instance)
        self.moves = self.disk_moves(
            context, dict(server['properties']), image['properties'])
        present = objects.ImageMeta.from_dict(server)
        _refuse(
            host_scheduling.decided_at_unshelve(flavor, present, self.image)
            + host_scheduling.decided_at_create(flavor, present, self.image),
            errors.CREATE_ONLY, 'takes effect only when a server is created '
            'and cannot be changed by a rebuild: keep it as it is, or boot '
            'another server')
        record.replace(self.instance.system_metadata, merged.record)
        self.moves.rename(self.instance)

    def schedule(
        self, context: typing.Any, scheduler: host_scheduling.HostScheduler,
        image_changes: collections.abc.Callable[[], bool],
    ) -> None:
        """Require that the server's host may have the merged properties.

        :param image_changes: whether Nova itself would schedule the rebuild
        :raises errors.Conflict: it may not; nothing has been saved
        :raises errors.UnsupportedNova: nothing has been merged
        """
        if self.image is None:
            raise interface.unsupported(
                'rebuilds past API._get_image, where overrides are merged')
        self.spec = self.request_spec(context)
        if not self.instance.host:
            # It never was on a host: Nova schedules such a server anew.
            return
        # The request spec holds what the scheduler has already granted, while
        # nova-compute adds its defaults to system metadata.
        if host_scheduling.properties_of(_image_of(self.spec)) \
                != host_scheduling.properties_of(self.image) \
                or image_changes():
            scheduler.require(
                context, self.instance, self.spec, self.image, self.differing,
                _REMEDY)

    def save(self, context: typing.Any) -> None:
        """Store the merged image in the request spec, and the disks' bus.

        Nova's rebuild does the former only when the image changes, yet the
        overrides may have changed over the same image, and it never does the
        latter.

        :raises errors.UnsupportedNova: nothing has been checked
        """
        spec = self.checked_spec()
        spec.image = self.image
        with self.moves.saved():
            spec.save()
        audit.changed(
            context, audit.BY_REBUILD, self.overrides, self.instance)

    def checked_spec(self) -> objects.RequestSpec:
        """Return the request spec that was checked with the merged image.

        :raises errors.UnsupportedNova: there is none
        """
        if self.image is None or self.spec is None:
            raise interface.unsupported(
                'rebuilds past API._handle_kernel_and_ramdisk, where merged '
                'overrides are checked')
        return self.spec


def _image_of(spec: objects.RequestSpec) -> objects.ImageMeta | None:
    return spec.image if 'image' in spec else None


def _is_unchanged(
    had: objects.ImageMeta | None, image: dict[str, typing.Any],
) -> bool:
    """Return whether IMAGE is HAD, which the server has been built from."""
    # Properties that Nova cannot read are refused later, by name.
    has = objects.ImageMeta.from_dict({**image, 'properties': {}})
    return had is not None and all(
        each.obj_attr_is_set(name) for each in (had, has)
        for name in ('id', 'updated_at')) and (
            had.id, had.updated_at) == (has.id, has.updated_at)


def _refuse(
    names: collections.abc.Collection[str], code: str, reason: str,
) -> None:
    """Refuse a rebuild because of NAMES, if there are any."""
    if names:
        raise errors.Invalid.of(names, code, reason)
