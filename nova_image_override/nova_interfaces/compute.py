"""Names of Nova used by the compute part."""

from collections.abc import MutableMapping

from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import called

_RESCUE = ("In a stable rescue the libvirt driver reads the server's own image "
           'with it: we wrap the call.')

INTERFACES: tuple[interface.Interface, ...] = (
    *called('nova.compute.resource_tracker:ResourceTracker',
            'Our manager makes the resource tracker.',
            __init__='host, driver, reportclient='),
    *called('nova.image.glance:API', _RESCUE, get='_, _'),
    *called('nova.volume.cinder:API', _RESCUE, get='_, _'),
)

#: Needed to run nova-compute with our manager. In this order:
#: nova.cmd.compute has to be the first of Nova to be imported.
COMMAND: tuple[interface.Interface, ...] = (
    interface.Called('nova.cmd.compute', 'main', 'Is nova-compute.', ''),
    interface.Shaped(
        'nova.service', 'SERVICE_MANAGERS',
        'Where nova-compute looks up its manager.',
        'a dict that names the manager of nova-compute',
        lambda value: isinstance(value, MutableMapping) and isinstance(
            value.get('nova-compute'), str)),
)


def verify() -> None:
    """Check every name that nova-compute needs against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming each that has a
        different shape
    """
    interface.verify(common.INTERFACES, INTERFACES)
    interface.verify_overridden(
        interface.classes('nova_image_override.compute'))
