"""A server's image properties as nova-api stored them."""

import typing

from nova import objects
from nova import utils as nova_utils

from nova_image_override import catalog
from nova_image_override import override


def overridden(instance: objects.Instance) -> bool:
    """Say whether a server was booted or rebuilt with overrides."""
    return any(override.is_record(key) for key in instance.system_metadata)


def properties(instance: objects.Instance) -> dict[str, typing.Any]:
    """Return a server's image properties, as its hard reboot reads them."""
    image = nova_utils.get_image_from_system_metadata(
        nova_utils.instance_sys_meta(instance))
    return {name: value for name, value in image['properties'].items()
            if not override.is_record(name)}


def image_properties(instance: objects.Instance) -> dict[str, typing.Any]:
    """Return the properties without the overrides: what the image said."""
    result = properties(instance)
    for name, own in override.image_values(instance.system_metadata).items():
        for each in (name, catalog.TWINS.get(name, name)):
            result.pop(each, None)
        if own is not None:
            result[name] = own
    return result


def over(
        image: dict[str, typing.Any], instance: objects.Instance,
) -> dict[str, typing.Any]:
    """Return IMAGE with the stored properties, for a server with overrides."""
    if not overridden(instance):
        return image
    return {**image, 'properties': properties(instance)}
