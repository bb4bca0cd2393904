"""What our compute manager gives to Nova's methods, and makes of answers."""

from unittest import mock

from nova import objects
import pytest

from nova_image_override import errors
from nova_image_override.compute import manager
from nova_image_override.compute import rescue_images

OVERRIDDEN = {'image_os_glance_override:hw_disk_bus': 'ide',
              'image_hw_disk_bus': 'scsi'}
MACHINE = {**OVERRIDDEN, 'image_hw_machine_type': 'q35'}


def instance(metadata=OVERRIDDEN, image_ref='own'):
    return objects.Instance(image_ref=image_ref, system_metadata=metadata)


def image(**properties):
    return objects.ImageMeta.from_dict({'properties': properties})


# --- the entry in the stats of a compute node --------------------------------

@pytest.mark.parametrize(('resources', 'stats'), [
    ({'stats': {'node': 'x'}}, {'node': 'x'}), ({'stats': None}, {}), ({}, {})])
def test_what_the_driver_says_of_a_host_stays_beside_our_entry(
        ask, resources, stats):
    resources = {**resources, 'hypervisor_hostname': 'host'}
    before = dict(resources)
    _, (_, given) = ask(
        manager.ResourceTracker, '_copy_resources', 'node', resources)
    assert given['hypervisor_hostname'] == 'host'
    assert {**stats, errors.PARAMETER: given['stats'][errors.PARAMETER]
            } == given['stats']
    assert resources == before


# --- rescue ------------------------------------------------------------------

@pytest.mark.parametrize(('stored', 'properties', 'machine'), [
    (MACHINE, {}, 'q35'),
    (MACHINE, {'hw_machine_type': 'pc'}, 'pc'),
    # Only libvirt's driver stores a default.
    (OVERRIDDEN, {}, None),
    ({'image_hw_machine_type': 'q35'}, {}, None)])
def test_another_image_gets_the_machine_type_of_the_server_if_it_has_none(
        ask, stored, properties, machine):
    found, _ = ask(
        manager.ComputeManager, '_get_rescue_image', 'context',
        instance(stored), 'other', answer=image(**properties))
    assert found.properties.get('hw_machine_type') == machine
    assert found.properties.get('hw_disk_bus') is None


@pytest.mark.parametrize(('owner', 'object_id', 'own'), [
    ('own', 'own', True), ('own', 'other', False), (None, 'other', False)])
def test_a_stable_rescue_has_the_stored_properties_of_the_servers_image_alone(
        owner, object_id, own):
    context = mock.Mock(spec=[])
    fetched = {'id': object_id, 'properties': {'hw_disk_bus': 'ide'}}
    api = rescue_images._API(
        mock.Mock(**{'get.return_value': fetched}), 'properties',
        lambda instance, image_id: image_id == instance.image_ref)
    if owner:
        rescue_images.mark(context, instance(image_ref=owner))
    assert api.get(context, object_id)['properties'] == {
        'hw_disk_bus': 'scsi' if own else 'ide'}
    assert fetched['properties'] == {'hw_disk_bus': 'ide'}


def test_all_else_that_the_driver_asks_of_the_api_is_the_apis_own():
    api = rescue_images._API(mock.Mock(**{'download.return_value': 'data'}),
                             'properties', lambda instance, image_id: True)
    assert api.download() == 'data'


# --- guests that are built again ---------------------------------------------

@pytest.mark.parametrize(('metadata', 'bus'), [
    (OVERRIDDEN, 'scsi'), ({}, 'ide')])
def test_a_disk_that_comes_from_a_snapshot_keeps_the_type_of_that_disk(
        ask, metadata, bus):
    _, (*_, given) = ask(
        manager.ComputeManager, '_finish_snapshot_based_resize_at_dest_spawn',
        'context', instance(metadata), 'migration',
        image(hw_disk_bus='ide', hw_disk_type='sparse'))
    properties = given.properties
    assert (properties.hw_disk_bus, properties.hw_disk_type) == (
        bus, 'sparse')
