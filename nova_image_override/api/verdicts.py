"""What tells apart the servers to be that were found good."""

import typing

from nova_image_override import remembered

#: What Nova's functions read of a flavor, directly or for a message; its extra
#: specs beside.
FLAVOR_FIELDS = (
    'name', 'vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb', 'swap')


def key(
    flavor: typing.Any, image: dict[str, typing.Any], *others: object,
) -> bytes:
    """Return what tells apart all that is judged, in 32 bytes.

    :param flavor: ``nova.objects.Flavor``
    :param image: boot metadata, of plain values as Nova's image API gives them
    :param others: what else is judged, of plain values
    """
    return remembered.digest(
        [getattr(flavor, field) for field in FLAVOR_FIELDS],
        dict(flavor.extra_specs), image, others)
