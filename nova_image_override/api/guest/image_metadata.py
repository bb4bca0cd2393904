"""Image metadata in the form that Nova's functions expect."""

from typing import Any

from nova_image_override import stored_image
from nova_image_override.override import ImageProperties


def with_properties(
    image: dict[str, Any], properties: ImageProperties,
) -> dict[str, Any]:
    """Return IMAGE with PROPERTIES and all else that Nova's functions read.

    A volume's metadata has no name and a blank volume has no metadata at all,
    but what the messages of nova.virt.hardware and API._validate_flavor_image
    use must be there.
    """
    return {'status': 'active', 'name': '', 'size': 0, 'min_ram': 0,
            'min_disk': 0, **image, 'properties': dict(properties)}


def of_server(instance: Any) -> dict[str, Any]:
    """Return the image metadata that a server was built from."""
    image = stored_image.image(instance)
    return with_properties(image, image['properties'])
