"""What is fixed in rebuilds of bare metal servers."""

from unittest import mock

from nova import objects
from nova.compute import manager as nova_manager
from nova.virt import driver as virt_driver
from nova.virt.ironic import driver as ironic
from openstack.baremetal.v1 import _proxy
from openstack.baremetal.v1 import node
import pytest

from nova_image_override.compute import bare_metal
from nova_image_override.compute import manager
from nova_image_override.nova_interfaces import interface

METAL = object.__new__(ironic.IronicDriver)
OTHER = object.__new__(virt_driver.ComputeDriver)


@pytest.fixture(scope='module', autouse=True)
def registered():
    interface.verify([])


@pytest.fixture
def connection():
    """Ironic's API, as openstacksdk offers it."""
    proxy = mock.create_autospec(_proxy.Proxy, instance=True)
    with mock.patch.object(ironic.IronicDriver, 'ironic_connection', proxy):
        yield proxy


def instance(**fields):
    return objects.Instance(
        uuid='5a3c8f0e-1d2b-4c6a-9e7f-0b1d2c3a4e5f', node='metal-1', **fields)


@pytest.mark.parametrize(('driver', 'expected'), [
    (METAL, True), (OTHER, False), (None, False)])
def test_which_driver_is_ironic_s(driver, expected):
    assert bare_metal.is_ironic(driver) is expected


# --- previous traits --------------------------------------------------------

def test_the_traits_of_before_are_removed(connection):
    connection.get_node.return_value = node.Node(instance_info={
        'traits': ['CUSTOM_RAID5'], 'root_gb': '10'})
    bare_metal.forget_traits(METAL, instance())
    connection.get_node.assert_called_once_with(
        'metal-1', fields=['instance_info'])
    connection.patch_node.assert_called_once_with(
        'metal-1', [{'op': 'remove', 'path': '/instance_info/traits'}])


def test_a_node_without_traits_is_left_alone(connection):
    # Ironic refuses to remove what is not there.
    connection.get_node.return_value = node.Node(
        instance_info={'root_gb': '10'})
    bare_metal.forget_traits(METAL, instance())
    connection.patch_node.assert_not_called()


# --- rebuilds of compute 2.93 and newer -------------------------------------

#: The other arguments of a rebuild, in Nova's order.
OTHERS = dict.fromkeys((
    'orig_image_ref', 'image_ref', 'injected_files', 'new_pass',
    'orig_sys_metadata', 'bdms', 'recreate', 'on_shared_storage',
    'preserve_ephemeral', 'migration', 'scheduled_node', 'limits',
    'request_spec', 'accel_uuids'))


@pytest.fixture
def rebuilt():
    """Nova's own rebuild."""
    with mock.patch.object(
            nova_manager.ComputeManager, 'rebuild_instance') as method:
        yield method


def compute(driver):
    made = object.__new__(manager.ComputeManager)
    made.driver = driver
    return made


@pytest.mark.parametrize(('driver', 'image', 'expected'), [
    (METAL, 'an-image', False),
    (METAL, '', True),
    (OTHER, 'an-image', True),
])
def test_a_boot_volume_is_reimaged_only_where_there_may_be_one(
        rebuilt, driver, image, expected):
    server = instance(image_ref=image)
    compute(driver).rebuild_instance(
        'context', server, **OTHERS, reimage_boot_volume=True,
        target_state='stopped')
    rebuilt.assert_called_once_with(
        'context', server, **OTHERS, reimage_boot_volume=expected,
        target_state='stopped')


def test_what_is_not_asked_for_is_passed_on_as_it_is(rebuilt):
    server = instance(image_ref='an-image')
    compute(METAL).rebuild_instance(
        'context', server, **OTHERS, reimage_boot_volume=False)
    rebuilt.assert_called_once_with(
        'context', server, **OTHERS, reimage_boot_volume=False)


def test_a_conductor_of_rpc_5_passes_it_by_position(rebuilt):
    server = instance(image_ref='an-image')
    nova_manager._ComputeV5Proxy(compute(METAL)).rebuild_instance(
        'context', server, **OTHERS)
    rebuilt.assert_called_once_with(
        'context', server, *OTHERS.values(), False, None)
