"""What a create, or the check of one, does with the overrides asked for."""

import typing

from nova_image_override import override
from nova_image_override import record
from nova_image_override.api.change import change as change_module
from nova_image_override.api.change import plan as plan_module


def plan(
    planner: plan_module.Planner, context: typing.Any, flavor: typing.Any,
    boot_image: dict[str, typing.Any], asked: override.Overrides,
) -> plan_module.Plan:
    """Return what a new server is to have.

    :param flavor: ``nova.objects.Flavor`` of the server
    :param boot_image: metadata of the image or volume that it boots from
    :raises errors.OverrideError: it may not have it
    """
    change = change_module.Change({}, asked)
    if not asked:
        return plan_module.Plan(change, {
            **boot_image, 'properties': boot_image.get('properties') or {}},
            {})
    return planner.plan(context, change, flavor, boot_image, new=asked)


def forget_forged_record(boot_image: dict[str, typing.Any]) -> None:
    """Take out of BOOT_IMAGE what looks like a record of overrides.

    Glance reserves the names that it begins with; whoever owns a volume can
    give its metadata any.
    """
    properties = boot_image.get('properties')
    if properties and any(map(record.is_property, properties)):
        boot_image['properties'] = {
            name: value for name, value in properties.items()
            if not record.is_property(name)}
