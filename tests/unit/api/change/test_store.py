"""What is compared and copied when a change of a server is stored."""

from nova import objects
import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.api.change import store
from tests.unit import refusals
from tests.unit.api.guest import guests

# --- what a request has checked -----------------------------------------------

def server(**fields):
    return objects.Instance(**{
        'host': 'compute1', 'instance_type_id': 1, 'system_metadata': {
            'image_hw_pmu': 'true', 'old_vm_state': 'active'}, **fields})


@pytest.mark.parametrize(('other', 'is_same'), [
    ({'host': 'compute2'}, False), ({'host': None}, False),
    ({'instance_type_id': 2}, False),
    ({'system_metadata': {
        'image_hw_pmu': 'false', 'old_vm_state': 'active'}}, False),
    ({'system_metadata': {}}, False),
    ({'system_metadata': {
        'image_hw_pmu': 'true', 'image_os_glance_override_set:hw_pmu': ''}},
     False),
    # All else may change meanwhile.
    ({}, True), ({'display_name': 'x', 'locked': True}, True),
    ({'system_metadata': {
        'image_hw_pmu': 'true', 'locked_reason': 'x'}}, True)])
def test_another_host_flavor_or_image_property_is_another_state(
        other, is_same):
    assert (store.state(server(**other)) == store.state(server())) is is_same


def test_a_request_that_was_overtaken_is_told_to_try_again():
    (problem,) = store.changed_meanwhile().problems
    assert (problem.name, problem.code) == (
        errors.PARAMETER, errors.WRONG_STATE)
    assert problem.reason.endswith('try again')


# --- properties of an image that change ---------------------------------------

IMAGE = {'hw_disk_bus': 'ide', 'hw_pmu': 'true', 'trait:A': 'required'}
WANTED = {'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true', 'trait:B': 'required'}


@pytest.mark.parametrize(('names', 'has'), [
    ([], IMAGE),
    (['hw_disk_bus'], {**IMAGE, 'hw_disk_bus': 'scsi'}),
    (['hw_boot_menu'], {**IMAGE, 'hw_boot_menu': 'true'}),
    (['hw_pmu'], {'hw_disk_bus': 'ide', 'trait:A': 'required'}),
    # All traits are one field.
    (['trait:A'], {'hw_disk_bus': 'ide', 'hw_pmu': 'true',
                   'trait:B': 'required'}),
    # Neither has it.
    (['hw_rng_model'], IMAGE)])
def test_only_the_properties_that_change_are_copied(names, has):
    image, wanted = guests.image(**IMAGE), guests.image(**WANTED)
    copied = store.with_properties_of(image, wanted, names)
    assert store._is_same(copied, guests.image(**has))
    assert store._is_same(image, guests.image(**IMAGE))
    assert store._is_same(wanted, guests.image(**WANTED))


@pytest.mark.parametrize(('one', 'other', 'is_same'), [
    (None, None, True),
    (guests.image(), None, False), (None, guests.image(), False),
    (guests.image(**IMAGE), guests.image(**IMAGE), True),
    (guests.image(**IMAGE), guests.image(**WANTED), False)])
def test_two_objects_are_the_same_if_they_say_the_same(one, other, is_same):
    assert store._is_same(one, other) is is_same


@pytest.mark.parametrize(('names', 'fields'), [
    (['hw_pmu', 'img_hide_hypervisor_id'],
     {'hw_pmu', 'img_hide_hypervisor_id'}),
    (['trait:A', 'trait:B'], {'traits_required'}),
    (['traits_required', 'hw_numa_cpus'], {'traits_required', 'hw_numa_cpus'}),
    (['hw_numa_cpus.0', 'hw_numa_cpus.1', 'hw_numa_mem.0'],
     {'hw_numa_cpus', 'hw_numa_mem'}),
    (['', 'hw_disk_bus'], {'', 'hw_disk_bus'}), ([], set())])
def test_a_family_of_properties_is_one_field(names, fields):
    assert store.fields(names) == fields


def test_a_property_that_this_nova_lacks_is_refused():
    assert refusals.of(store.fields, [
        'hw_pmu', 'hw_of_another_nova']).keys() == {'hw_of_another_nova'}


def test_what_is_unfinished_names_the_bus_that_disks_come_from():
    assert store.unfinished(['', 'hw_disk_bus', 'trait:A'], 'ide') == {
        metadata_keys.UNFINISHED: '',
        f'{metadata_keys.UNFINISHED}:hw_disk_bus': 'ide',
        f'{metadata_keys.UNFINISHED}:traits_required': ''}


# --- what a save leaves alone -------------------------------------------------

def test_flavors_and_topology_that_were_read_are_not_stored_again():
    topology = objects.InstanceNUMATopology(cells=[])
    read = objects.Instance(
        display_name='x', flavor=guests.flavor(), old_flavor=None,
        new_flavor=guests.flavor(), numa_topology=topology)
    read.obj_reset_changes(['display_name'])
    assert read.obj_what_changed()
    read.task_state = store.TASK_STATE
    store.keep_what_was_read(read)
    assert read.obj_what_changed() == {'task_state'}


def test_the_topology_alone_may_be_left():
    read = objects.Instance(
        flavor=guests.flavor(),
        numa_topology=objects.InstanceNUMATopology(cells=[]))
    store.keep_what_was_read(read, ['numa_topology'])
    assert read.obj_what_changed() == {'flavor'}
