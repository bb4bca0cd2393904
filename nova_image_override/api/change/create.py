"""Create of servers with overrides."""

from __future__ import annotations

from collections.abc import Iterable
import dataclasses
from typing import Any

from nova import exception
from nova import objects
from nova.limit import local

from nova_image_override import metadata_keys
from nova_image_override.api import audit
from nova_image_override.api.change import disks
from nova_image_override.api.change import dry_run
from nova_image_override.api.change.plan import Change, Plan, Planner
from nova_image_override.api.operation import Operation
from nova_image_override.nova_interfaces import interface
from nova_image_override.override import Overrides


def forget_forged_record(boot_image: dict[str, Any]) -> None:
    """Take out of BOOT_IMAGE what looks like a record of overrides.

    Glance reserves the names that it begins with; whoever owns a volume can
    give its metadata any.
    """
    properties = boot_image.get('properties')
    if properties and any(map(metadata_keys.is_property, properties)):
        boot_image['properties'] = {
            name: value for name, value in properties.items()
            if not metadata_keys.is_property(name)}


@dataclasses.dataclass
class Create(Operation):
    """A create with overrides."""

    _planner: Planner
    asked: Overrides
    _plan: Plan | None = dataclasses.field(default=None, init=False)
    _auto_disk_config: bool | None = dataclasses.field(
        default=None, init=False)

    def before_image(self, auto_disk_config: bool | None) -> bool | None:
        """Hold auto_disk_config back if its property is overridden.

        Nova's _check_auto_disk_config runs before the merge, and again after
        it, in _inherit_properties_from_image.
        """
        if 'hw_auto_disk_config' not in self.asked:
            return auto_disk_config
        self._auto_disk_config = auto_disk_config
        return None

    def image_known(
        self, context: Any, flavor: Any, boot_meta: dict[str, Any],
    ) -> dict[str, Any]:
        """Authorise the overrides and merge them over the boot metadata.

        :raises errors.OverrideError: they are refused
        """
        after = self.asked.over(boot_meta.get('properties') or {})
        # A copy: what Nova merges from here on is not the image's own.
        change = Change(flavor, dict(boot_meta), after, after)
        if self.asked:
            self._plan = self._planner.plan(context, change)
            boot_meta.update(self._plan.image)
        else:
            # Of a blank volume, Nova has no metadata, and asks nothing.
            self._plan = Plan(
                change, {**change.image, 'properties': change.base})
        return {} if self._auto_disk_config is None else {
            'auto_disk_config': self._auto_disk_config}

    def disks_known(
        self, mappings: Iterable[Any], base_options: dict[str, Any],
    ) -> None:
        """Require that the drives can be where they are asked for."""
        if self._plan is not None:
            disks.complete(mappings)
            disks.place_images(self._plan, mappings, base_options)
            disks.require_room(
                self._plan, mappings, base_options.get('config_drive'))

    def populated(self, instance: Any) -> None:
        """Record the overrides of an instance that is about to be stored."""
        # Not with the boot metadata, which Nova copies many times.
        instance.system_metadata.update({
            metadata_keys.IMAGE_PREFIX + name: value
            for name, value in self._merged.recorded.items()})

    def storing(self, context: Any, spec: Any, instance: Any) -> None:
        """Report the overrides of a server that nothing refuses any more."""
        audit.changed(context, 'at boot', self._merged.change.after, instance)

    @property
    def _merged(self) -> Plan:
        """The plan, once the overrides are merged."""
        if self._plan is None:
            raise interface.unsupported(
                'creates servers past _validate_and_build_base_options, '
                'which merges their overrides')
        return self._plan


@dataclasses.dataclass
class Check(Create):
    """A create that ends with the answer before anything is stored."""

    _asks_hosts: bool = False

    def validating(self, mappings: Any) -> Any:
        """Leave volumes out: Nova reserves them as soon as they are valid."""
        result = mappings.obj_clone()
        for mapping in result:
            mapping.volume_id = None
        return result

    def storing(self, context: Any, spec: Any, instance: Any) -> None:
        """End the create: raise dry_run.Checked, or OverQuota."""
        _require_room_in_group(context, spec)
        plan, more = self._merged, {}
        if self._asks_hosts:
            # Not needed by anything else that nova-api does.
            answer = interface.load('nova_image_override.hosts.answer')
            more[dry_run.HOSTS] = answer.of(context, spec, plan.change)
        dry_run.end(self._planner, context, plan, **more)


def _require_room_in_group(context: Any, spec: Any) -> None:
    """Raise OverQuota unless a server group has room for the servers.

    Nova's _provision_instances asks for each server once it is stored.
    """
    group, count = spec.instance_group, spec.num_instances
    if group is None:
        return
    try:
        objects.Quotas.check_deltas(
            context, {'server_group_members': count}, group, context.user_id)
        local.enforce_db_limit(
            context, local.SERVER_GROUP_MEMBERS, entity_scope=group.uuid,
            delta=count)
    except exception.GroupMemberLimitExceeded:
        raise
    except exception.OverQuota:
        raise exception.OverQuota(
            'Quota exceeded, too many servers in group') from None
