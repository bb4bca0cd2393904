"""Create of a server with overrides, and the check of one."""
from __future__ import annotations

from typing import Any

from nova_image_override import override_record as record
from nova_image_override.api.change import plan as plan_module
from nova_image_override.api.change.change import Change
from nova_image_override.authorization.presets import Preset
from nova_image_override.override import Overrides


def plan(
    planner: plan_module.Planner, context: Any, flavor: Any,
    boot_image: dict[str, Any], asked: Overrides, named: Preset | None,
) -> plan_module.Plan:
    """Return what a new server is to have.

    :param flavor: ``nova.objects.Flavor`` of the server
    :param boot_image: metadata of the image or volume that it boots from
    :param named: the preset that the request names
    :raises errors.OverrideError: it may not have it
    """
    base = boot_image.get('properties') or {}
    change = Change.of({}, asked, named).on(planner.catalog, base)
    if not asked:
        return plan_module.Plan(change, {**boot_image, 'properties': base}, {})
    return planner.plan(context, change, flavor, boot_image, new=change.after)


def forget_forged_record(boot_image: dict[str, Any]) -> None:
    """Take out of BOOT_IMAGE what looks like a record of overrides.

    Glance reserves the names that it begins with; whoever owns a volume can
    give its metadata any.
    """
    properties = boot_image.get('properties')
    if properties and any(map(record.is_property, properties)):
        boot_image['properties'] = {
            name: value for name, value in properties.items()
            if not record.is_property(name)}
