"""A rebuild of a bare metal server forgets the traits of before."""

from unittest import mock

from nova import objects
from nova.virt import driver as virt_driver
from nova.virt.ironic import driver as ironic
from openstack.baremetal.v1 import _proxy
from openstack.baremetal.v1 import node
import pytest

from nova_image_override.compute import manager

METAL = object.__new__(ironic.IronicDriver)
OTHER = object.__new__(virt_driver.ComputeDriver)


@pytest.fixture
def connection():
    """Ironic's API, as openstacksdk offers it."""
    proxy = mock.create_autospec(_proxy.Proxy, instance=True)
    with mock.patch.object(ironic.IronicDriver, 'ironic_connection', proxy):
        yield proxy


def instance(**fields):
    return objects.Instance(
        uuid='5a3c8f0e-1d2b-4c6a-9e7f-0b1d2c3a4e5f', node='metal-1', **fields)


def test_the_traits_of_before_are_removed(connection):
    connection.get_node.return_value = node.Node(instance_info={
        'traits': ['CUSTOM_RAID5'], 'root_gb': '10'})
    manager.forget_traits(METAL, instance())
    connection.get_node.assert_called_once_with(
        'metal-1', fields=['instance_info'])
    connection.patch_node.assert_called_once_with(
        'metal-1', [{'op': 'remove', 'path': '/instance_info/traits'}])


def test_a_node_without_traits_is_left_alone(connection):
    # Ironic refuses to remove what is not there.
    connection.get_node.return_value = node.Node(
        instance_info={'root_gb': '10'})
    manager.forget_traits(METAL, instance())
    connection.patch_node.assert_not_called()


@pytest.mark.parametrize(('driver', 'forgets'), [(METAL, True), (OTHER, False)])
def test_only_a_rebuild_of_bare_metal_removes_them(
        ask, connection, driver, forgets):
    connection.get_node.return_value = node.Node(
        instance_info={'traits': ['CUSTOM_RAID5']})
    ask(manager.ComputeManager, '_do_rebuild_instance_with_claim', 'context',
        instance(system_metadata={}), 'image', objects.ImageMeta(),
        driver=driver)
    assert connection.patch_node.called == forgets
