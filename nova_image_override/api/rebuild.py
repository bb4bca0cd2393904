"""What a rebuild does with a server's overrides."""

import collections.abc
import dataclasses
import typing

from nova import objects
from oslo_log import log as logging

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import record
from nova_image_override.api import host_scheduling
from nova_image_override.api import pipeline as pipeline_module
from nova_image_override.api.flavor import constraints
from nova_image_override.api.flavor import image_metadata
from nova_image_override.api.flavor import numa_changes
from nova_image_override.api.flavor import safe_cpu_lists
from nova_image_override.api.flavor import validation
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.nova_interfaces import interface
from nova_image_override.properties import catalog as catalog_module

LOG = logging.getLogger(__name__)

_ABSENT = object()

#: API._validate_numa_rebuild
Guard = collections.abc.Callable[[typing.Any, typing.Any, typing.Any], None]


@dataclasses.dataclass
class Rebuild:
    """One rebuild of a server that has, or is to have, overrides.

    :ivar instance: the server
    :ivar recorded: its overrides in force
    :ivar asked: the request's; None when it does not say
    :ivar image: metadata of the merged image, once Nova has fetched it
    :ivar spec: the server's request spec, once it has been checked
    """

    instance: typing.Any
    recorded: override.Overrides
    asked: override.Overrides | None
    image: objects.ImageMeta | None = None
    spec: objects.RequestSpec | None = None

    @classmethod
    def begin(
        cls, instance: typing.Any, asked: override.Overrides | None,
    ) -> 'Rebuild | None':
        """Return the rebuild, or None when overrides play no part in it.

        :param asked: the parameter; None when the request does not have it
        """
        recorded = record.in_force(instance.system_metadata)
        if not recorded and not asked:
            return None
        return cls(instance, recorded, asked)

    @property
    def overrides(self) -> override.Overrides:
        """What is to be in force after the rebuild."""
        return self.recorded if self.asked is None else self.asked

    @property
    def remedy(self) -> str:
        """What a caller can do whose server's host lacks the compute part."""
        return ('or send an empty image_props_override, which drops them'
                if self.recorded else 'or leave image_props_override out')

    @property
    def _changed(self) -> override.Overrides:
        """What the request newly asks for, which the rules have to permit.

        Going back to the image's own value needs no permission, and what is
        kept had it.
        """
        return {name: value for name, value in self.overrides.items()
                if name not in self.recorded
                or self.recorded[name] != value}

    @property
    def _set_since(self) -> dict[str, str]:
        """What was removed with null and has a value all the same.

        nova-compute's default is as good as the one it would choose now; what
        an operator has set wins.
        """
        return {} if self.asked is not None else record.set_after_removal(
            self.instance.system_metadata)

    def _kept_anew(
        self, enforcer: enforcer_module.Enforcer, context: typing.Any,
        image: dict[str, typing.Any],
    ) -> override.Overrides:
        """What is kept, but needs more of Glance than it has been granted.

        It was permitted for the image that the server has had. The record
        tells that image's value, but not under which of the property's names
        it stood: where that matters, only the same image, unchanged, is known
        to need no more.
        """
        base = image.get('properties') or {}
        image_values = record.image_values(self.instance.system_metadata)

        def needed(
            name: str, overrides: override.Overrides,
        ) -> collections.abc.Set[tuple[str, str]]:
            return enforcer.operations_needed(name, overrides, base).items()

        more = {
            name: value for name, value in self.overrides.items()
            if name not in self._changed
            and not needed(name, self.overrides)
            <= enforcer.operations_granted(name, value, image_values[name])}
        if more and self._is_unchanged(context, image):
            # What is dropped can still change what the others write.
            return {
                name: value for name, value in more.items()
                if not needed(name, self.overrides)
                <= needed(name, self.recorded)}
        return more

    def _is_unchanged(
            self, context: typing.Any, image: dict[str, typing.Any]) -> bool:
        """Say whether IMAGE is what the server has been built from."""
        had = objects.RequestSpec.get_by_instance_uuid(
            context, self.instance.uuid).image
        # Properties that Nova cannot read are refused later, by name.
        has = objects.ImageMeta.from_dict({**image, 'properties': {}})
        return had is not None and all(
            each.obj_attr_is_set(name) for each in (had, has)
            for name in ('id', 'updated_at')) and (
                had.id, had.updated_at) == (has.id, has.updated_at)

    def merge(
        self, pipeline: pipeline_module.Pipeline, context: typing.Any,
        image: dict[str, typing.Any], guard: Guard,
    ) -> None:
        """Merge the overrides into the fetched IMAGE, if they are permitted.

        The instance is changed too, but saved by Nova only when all its own
        checks have passed.

        :param guard: Nova's check that a rebuild leaves NUMA alone
        :raises errors.OverrideError: the merged image cannot be rebuilt from
        """
        catalog, changed = pipeline.catalog, self._changed
        flavor = self.instance.get_flavor()
        merged = pipeline.run(
            context, pipeline_module.Change(
                self.overrides, changed,
                self._kept_anew(pipeline.enforcer, context, image),
                self._set_since,
                # What had no effect before loses nothing by the rebuild.
                validation.ineffective(catalog, self.instance) - set(changed),
                self.instance),
            flavor, image)
        self._require_same_numa(catalog, image, merged, flavor, guard)
        image['properties'] = merged.image['properties']
        self.image = objects.ImageMeta.from_dict(image)
        host_scheduling.require_decided(
            flavor, objects.ImageMeta.from_dict(
                image_metadata.of_server(self.instance)), self.image)
        record.replace(self.instance.system_metadata, merged.record)
        LOG.info('Image properties overridden by the rebuild: %s',
                 ', '.join(sorted(self.overrides)) or 'none',
                 instance=self.instance)

    def _require_same_numa(
        self, catalog: catalog_module.Catalog, image: dict[str, typing.Any],
        merged: pipeline_module.Merged, flavor: typing.Any, guard: Guard,
    ) -> None:
        """Refuse a change of NUMA, which a rebuild does not claim anew.

        Nova asks its guard only for a new image; overrides can change NUMA
        while the image stays.
        """
        try:
            # A copy, because ImageMetaProps.from_dict changes its argument.
            guard(self.instance, {
                **image, 'properties': dict(merged.image['properties'])},
                flavor)
        except constraints.REFUSALS:
            names = numa_changes.changing(
                catalog, self.instance, safe_cpu_lists.without_unsafe_lists(
                    catalog, image.get('properties') or {}, self.overrides),
                self.overrides)
            raise errors.Invalid([errors.Problem(
                name, errors.NUMA_CHANGE,
                'a rebuild cannot change the NUMA topology of a server, boot '
                'another one')
                for name in names or [errors.PARAMETER]]) from None

    def schedule(
        self, context: typing.Any, scheduler: host_scheduling.HostScheduler,
        image_changes: collections.abc.Callable[[], bool],
    ) -> None:
        """Demand that the server's host may have the merged properties.

        :param image_changes: whether Nova itself would schedule the rebuild
        :raises errors.Conflict: it may not; nothing has been saved
        :raises errors.UnsupportedNova: nothing has been merged
        """
        if self.image is None:
            raise interface.unsupported(
                'rebuilds past API._get_image, where overrides are merged')
        self.spec = objects.RequestSpec.get_by_instance_uuid(
            context, self.instance.uuid)
        if not self.instance.host:
            # Never was on one: Nova schedules such a server anew.
            return
        # The request spec holds what the scheduler has granted before;
        # nova-compute adds its defaults to system metadata.
        before = self.spec.image if 'image' in self.spec else None
        if host_scheduling.properties_of(before) \
                != host_scheduling.properties_of(self.image) \
                or image_changes():
            scheduler.require(
                context, self.instance, self.spec, self.image, sorted(
                    name for name in {*self.recorded, *self.overrides}
                    if self.recorded.get(name, _ABSENT)
                    != self.overrides.get(name, _ABSENT)))

    def save_request_spec(self) -> None:
        """Store the merged image in the request spec.

        Nova's rebuild does so only when the image is another one, yet the
        overrides may have changed over the same.

        :raises errors.UnsupportedNova: nothing has been checked
        """
        spec = self.checked_spec()
        spec.image = self.image
        spec.save()

    def checked_spec(self) -> objects.RequestSpec:
        """Return the request spec that was checked with the merged image.

        :raises errors.UnsupportedNova: there is none
        """
        if self.image is None or self.spec is None:
            raise interface.unsupported(
                'rebuilds past API._handle_kernel_and_ramdisk, where merged '
                'overrides are checked')
        return self.spec
