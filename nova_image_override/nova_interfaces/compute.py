"""Names of Nova used by the compute part."""

from collections.abc import MutableMapping

from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import called, fields

INTERFACES: tuple[interface.Interface, ...] = (
    *common.INTERFACES,
    *called('nova.compute.resource_tracker:ResourceTracker',
            __init__='host, driver, reportclient='),
    # rescue_images.py wraps these, and passes calls on to them.
    *called('nova.image.glance:API', get='_, _'),
    *called('nova.volume.cinder:API', get='_, _'),
    *fields('nova.objects:Instance', 'image_meta', 'image_ref', 'node'),
    *fields('nova.objects:ImageMeta', 'properties'),
    *fields('nova.objects:ImageMetaProps', 'hw_machine_type'),
)


def _names_manager(value: object) -> bool:
    return isinstance(value, MutableMapping) and isinstance(
        value.get('nova-compute'), str)


#: Needed to run nova-compute with our manager. In this order:
#: nova.cmd.compute has to be the first of Nova to be imported.
COMMAND: tuple[interface.Interface, ...] = (
    interface.Called('nova.cmd.compute', 'main', ''),
    interface.Shaped(
        'nova.service', 'SERVICE_MANAGERS',
        'a dict that names the manager of nova-compute', _names_manager),
)


def verify() -> None:
    """Check every name that nova-compute needs against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming each that has a
        different shape
    """
    interface.verify(INTERFACES)
    manager = interface.load('nova_image_override.compute.manager')
    interface.verify_overridden(manager.ComputeManager, manager.ResourceTracker)
