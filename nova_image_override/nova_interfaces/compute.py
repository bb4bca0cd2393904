"""What the compute part uses of nova-compute."""

import collections.abc

from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces.interface import Called
from nova_image_override.nova_interfaces.interface import called
from nova_image_override.nova_interfaces.interface import instance_attributes
from nova_image_override.nova_interfaces.interface import names
from nova_image_override.nova_interfaces.interface import overridden
from nova_image_override.nova_interfaces.interface import Shaped

INTERFACES: tuple[interface.Interface, ...] = (
    *common.INTERFACES,
    *names('nova.compute.manager', 'ComputeManager'),
    *overridden(
        'nova.compute.manager:ComputeManager',
        __init__='self, ...',
        rebuild_instance='self, context, instance, ..., reimage_boot_volume',
        _do_rebuild_instance_with_claim='self, context, instance, '
                                        'orig_image_ref, image_meta, ...',
        _get_rescue_image='self, context, instance, rescue_image_ref',
        rescue_instance='self, context, instance, ...',
        _prep_resize='self, context, image, instance, ...',
        _finish_snapshot_based_resize_at_dest_spawn='self, ctxt, instance, '
                                                    'migration, image_meta, '
                                                    '...',
        _unshelve_instance='self, context, instance, image, ...'),
    *instance_attributes('nova.compute.manager:ComputeManager',
                         'driver', 'host', 'reportclient', 'rt'),
    *names('nova.compute.resource_tracker', 'ResourceTracker'),
    *called('nova.compute.resource_tracker:ResourceTracker',
            __init__='host, driver, reportclient='),
    *overridden('nova.compute.resource_tracker:ResourceTracker',
                _copy_resources='self, compute_node, resources, ...'),
    *names('nova.virt.libvirt.driver', 'LibvirtDriver'),
    *instance_attributes('nova.virt.libvirt.driver:LibvirtDriver',
                         '_image_api', '_volume_api'),
    *names('nova.virt.ironic.driver', 'IronicDriver'),
    *instance_attributes('nova.virt.ironic.driver:IronicDriver',
                         'ironic_connection'),
    # What rescue_images.py wraps, and passes calls on to.
    *called('nova.image.glance:API', get='_, _'),
    *called('nova.volume.cinder:API', get='_, _'),
    *instance_attributes('nova.objects:Instance', 'image_meta', 'image_ref',
                         'node'),
    *instance_attributes('nova.objects:ImageMeta', 'properties'),
    *instance_attributes('nova.objects:ImageMetaProps', 'hw_machine_type'),
)


def _names_manager(value: object) -> bool:
    return isinstance(value, collections.abc.MutableMapping) and isinstance(
        value.get('nova-compute'), str)


#: What the command needs to run nova-compute with our manager. In this order:
#: nova.cmd.compute has to be the first of Nova to be imported.
COMMAND: tuple[interface.Interface, ...] = (
    Called('nova.cmd.compute', 'main', ''),
    Shaped('nova.service', 'SERVICE_MANAGERS',
           'a dict that names the manager of nova-compute', _names_manager),
)


def verify() -> None:
    """Check every name that nova-compute needs against the running release.

    :raises nova_image_override.errors.UnsupportedNova: naming each that has a
        different shape
    """
    interface.verify(INTERFACES)
