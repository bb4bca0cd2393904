"""Rebuilds of bare metal servers, where Ironic's driver falls short.

``IronicDriver.rebuild`` adds to the node the traits that the server requires
now, and never removes those that it required before: the deploy templates of
overrides that were dropped would run again.
"""

from typing import Any

from nova.virt.ironic import driver as ironic

_TRAITS = '/instance_info/traits'


def forget_traits(metal: ironic.IronicDriver, instance: Any) -> None:
    """Remove from a server's node the traits that it has required so far.

    The driver adds again what it still requires, before Ironic deploys.

    :raises openstack.exceptions.SDKException: Ironic does not do it
    """
    connection = metal.ironic_connection
    found = connection.get_node(instance.node, fields=['instance_info'])
    if 'traits' in found.instance_info:
        connection.patch_node(
            instance.node, [{'op': 'remove', 'path': _TRAITS}])
