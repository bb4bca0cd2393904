"""What a change of a server stores, in the databases themselves."""

import types

from nova import objects
from nova.compute import task_states
from nova.compute import vm_states
import pytest

from nova_image_override import errors
from nova_image_override.api.change import disks
from nova_image_override.api.change import store
from nova_image_override.server_record import ServerRecord
from tests.unit.api.change import servers
from tests.unit.api.guest import guests
from tests.unit.strategies import overrides_of

pytestmark = pytest.mark.usefixtures('databases')

ASKED = {'hw_disk_bus': 'scsi', 'hw_rng_model': 'virtio'}
CHANGED = {*ASKED, 'hw_boot_menu'}


def replace(server, asked=ASKED, changed=CHANGED, **fields):
    made = overrides_of(asked)
    store.replace(
        server, changed,
        {**made.merge(servers.IMAGE), **made.recorded(servers.IMAGE)}, fields,
        servers.spec(server).image)


#: Calls of a change after it has stored the properties with the server.
STEPS = [(store, 'finish'), (store, 'agree'), (disks, 'move'),
         (store, 'confirmed', 2)]


def test_all_of_a_change_is_stored():
    server = servers.server()
    replace(server, os_type='windows')
    assert servers.everything(server) == (
        None, {'image_base_image_ref': 'a', **{
            f'image_{name}': value for name, value in (
                *servers.IMAGE.items(), *ASKED.items(),
                *overrides_of(ASKED).recorded(servers.IMAGE).items())}},
        'windows', None, {**servers.IMAGE, **ASKED},
        [('scsi', '/dev/sda'), ('scsi', '/dev/sdb')])
    assert store.stored(server).root_device_name == '/dev/sda'


def test_another_bus_moves_no_disk_unless_it_changes():
    server = servers.server()
    replace(server, {**ASKED, 'hw_disk_bus': 'virtio'},
            {'hw_rng_model', 'hw_boot_menu'})
    *_, image, places = servers.everything(server)
    assert image == {**servers.IMAGE, 'hw_disk_bus': 'virtio',
                     'hw_rng_model': 'virtio'}
    assert places == [('virtio', '/dev/vda'), ('virtio', '/dev/vdb')]


# --- something fails ----------------------------------------------------------

@pytest.mark.parametrize('step', [
    *STEPS, (objects.RequestSpec, 'save'), (objects.Instance, 'save', 3)])
def test_what_fails_leaves_all_as_it_was(during, step):
    server = servers.server()
    before = servers.everything(server)
    during(lambda: 1 / 0, *step)
    with pytest.raises(ZeroDivisionError):
        replace(server, os_type='windows')
    assert servers.everything(server) == before


# --- something else comes between ---------------------------------------------

@pytest.mark.parametrize('other', [
    {'host': 'compute2'}, {'instance_type_id': 2},
    {'vm_state': vm_states.ACTIVE}, {'task_state': task_states.POWERING_ON},
    # Nova's resize has the same.
    {'task_state': store.TASK_STATE},
    {'system_metadata': {'image_base_image_ref': 'a'}}])
def test_a_server_that_is_not_what_was_checked_is_left_alone(other):
    server = servers.server()
    servers.change(server, **other)
    before = servers.everything(server)
    with pytest.raises(errors.Conflict, match='try again'):
        replace(server)
    assert servers.everything(server) == before


def test_what_changes_as_a_change_takes_the_server_is_left_alone(during):
    """Instance.save reads before it writes: what it returns may be older."""
    server = servers.server()
    during(lambda: servers.change(server, host='compute2'), store, 'confirmed')
    before = servers.everything(server)
    with pytest.raises(errors.Conflict, match='try again'):
        replace(server)
    assert servers.everything(server) == before


@pytest.mark.parametrize('step', STEPS)
def test_a_deletion_wins_and_leaves_the_server_as_it_was(during, step):
    """It may be a soft one, and the server restored."""
    server = servers.server()
    _, *before = servers.everything(server)
    during(lambda: servers.change(server, task_state=task_states.SOFT_DELETING),
           *step)
    with pytest.raises(errors.Conflict):
        replace(server)
    task_state, *after = servers.everything(server)
    assert task_state == task_states.SOFT_DELETING
    assert after == before


@pytest.mark.parametrize('changed', [
    {'task_state': task_states.SOFT_DELETING},
    {'task_state': task_states.REBUILDING, 'system_metadata': {
        'image_hw_pmu': 'true'}}])
def test_what_came_first_stays_as_it_is(during, changed):
    server = servers.server()

    def come():
        servers.change(server, **changed)
        before.append(servers.everything(server))

    before = []
    during(come, store, 'save')
    with pytest.raises(errors.Conflict):
        replace(server)
    assert [servers.everything(server)] == before


def read(server):
    """Return a server as Nova reads it: what it had counts as changed."""
    return objects.Instance.get_by_uuid(
        server._context, server.uuid,
        expected_attrs=['flavor', 'numa_topology', 'system_metadata'])


def resized(server):
    """Store another flavor and topology of a server."""
    other = read(server)
    other.flavor = guests.flavor(vcpus=7)
    other.numa_topology = servers.topology(1024)
    other.instance_type_id = 2
    other.save()


@pytest.mark.parametrize('reads', [
    lambda server: read(server), lambda server: store.stored(server)])
def test_the_flavor_of_a_resize_that_came_first_stays(reads):
    server = servers.server(numa_topology=servers.topology())
    before = reads(server)
    assert before.get_flavor().vcpus == 4
    assert before.numa_topology
    resized(server)
    with pytest.raises(errors.Conflict):
        replace(before)
    after = store.stored(server)
    assert after.get_flavor().vcpus == 7
    assert after.numa_topology.cells[0].memory == 1024


def test_what_else_was_stored_meanwhile_stays(during):
    """Such as a default that nova-compute registers as it starts."""
    server = servers.server()

    def start():
        present = store.stored(server)
        servers.change(server, task_state=None, system_metadata={
            **present.system_metadata, 'image_hw_machine_type': 'q35'})

    _, before, *rest = servers.everything(server)
    during(start, disks, 'move')
    with pytest.raises(errors.Conflict):
        replace(server)
    assert servers.everything(server) == (
        None, {**before, 'image_hw_machine_type': 'q35'}, *rest)


@pytest.mark.parametrize('step', STEPS)
def test_system_metadata_that_was_read_before_wins_as_a_whole(during, step):
    """So Nova's lock stores it: everything else follows it."""
    server = servers.server()
    before = servers.everything(server)
    during(lambda: servers.change(
        server, system_metadata=dict(before[1])), *step)
    with pytest.raises(errors.Conflict):
        replace(server)
    assert servers.everything(server) == before


@pytest.fixture
def takes(monkeypatch):
    """Returns how long the next change is to take."""
    def put(seconds):
        clock = iter([1000.0, 1000.0 + seconds])
        monkeypatch.setattr(store, 'time', types.SimpleNamespace(
            monotonic=lambda: next(clock)))

    return put


@pytest.mark.parametrize('seconds', [0, 25, 30])
def test_a_change_may_take_half_a_minute(takes, seconds):
    server = servers.server()
    takes(seconds)
    replace(server)


def test_what_takes_longer_is_left_to_the_next_request(takes):
    server = servers.server()
    takes(31)
    with pytest.raises(errors.Conflict):
        replace(server)
    present = store.stored(server)
    assert present.task_state == store.TASK_STATE
    assert ServerRecord.of(present).unfinished
    store.finish(present)
    task_state, metadata, _, _, image, places = servers.everything(server)
    assert task_state is None
    assert not ServerRecord.read(metadata).unfinished
    assert image == {**servers.IMAGE, **ASKED}
    assert places == [('scsi', '/dev/sda'), ('scsi', '/dev/sdb')]


# --- what a rebuild finishes --------------------------------------------------

def rebuilt(**properties):
    """Return a server whose rebuild has stored the merged properties."""
    server = servers.server(task_state=task_states.REBUILDING)
    server.system_metadata = {
        **server.system_metadata, **{
            f'image_{name}': value for name, value in {
                **properties, **store.unfinished(
                    ['', 'hw_disk_bus'], 'virtio')}.items()}}
    server.save()
    return store.stored(server)


def test_a_rebuild_keeps_its_task_state_and_gets_its_whole_image():
    server = rebuilt(hw_disk_bus='scsi', hw_rng_model='virtio')
    image = guests.image(hw_disk_bus='scsi', hw_pmu='true')
    store.finish(server, task_states.REBUILDING, image=image)
    task_state, metadata, *_, has, places = servers.everything(server)
    assert task_state == task_states.REBUILDING
    assert not ServerRecord.read(metadata).unfinished
    assert has == {'hw_disk_bus': 'scsi', 'hw_pmu': True}
    assert places == [('scsi', '/dev/sda'), ('scsi', '/dev/sdb')]


def test_without_one_its_request_spec_gets_what_the_server_has():
    server = rebuilt(hw_disk_bus='scsi', hw_rng_model='virtio')
    store.finish(server, task_states.REBUILDING)
    assert servers.image(server) == {
        **servers.IMAGE, 'hw_disk_bus': 'scsi', 'hw_rng_model': 'virtio',
        'hw_boot_menu': True}


def test_disks_whose_places_are_known_are_put_there():
    server = rebuilt(hw_disk_bus='scsi')
    disk, *_ = places = disks.places(server)
    disk[0].update({'disk_bus': 'ide', 'device_name': '/dev/hda'})
    disk[0].save()
    store.finish(server, task_states.REBUILDING, places=places)
    assert servers.everything(server)[-1] == [
        ('virtio', '/dev/vda'), ('virtio', '/dev/vdb')]


def test_a_rebuild_whose_state_was_taken_is_over():
    server = rebuilt()
    servers.change(server, task_state=task_states.DELETING)
    with pytest.raises(errors.Conflict):
        store.finish(server, task_states.REBUILDING)


# --- the request spec ---------------------------------------------------------

NUMA = {'hw_numa_nodes': '2'}


@pytest.mark.parametrize(('fields', 'cells'), [
    # A host has claimed what it has.
    ({}, None),
    ({'vm_state': vm_states.SHELVED_OFFLOADED, 'host': None}, 2)])
@pytest.mark.parametrize('image', [{}, {**servers.IMAGE, **NUMA}])
def test_only_an_offloaded_server_gets_another_topology(fields, cells, image):
    server = servers.server(NUMA, **fields)
    servers.set_image(server, guests.image(**image))
    store.agree(server, ['hw_numa_nodes'])
    spec = servers.spec(server)
    assert spec.image.properties.hw_numa_nodes == 2
    for topology in (spec.numa_topology, server.numa_topology):
        assert (topology and len(topology)) == cells


@pytest.mark.parametrize('names', [[], ['hw_disk_bus'], ['hw_pmu']])
def test_what_agrees_is_not_stored_again(during, names):
    server = servers.server()
    during(lambda: 1 / 0, objects.RequestSpec, 'save')
    store.agree(server, names)


@pytest.mark.parametrize('image', [None, guests.image()])
def test_a_request_spec_without_an_image_gets_the_whole(image):
    server = servers.server()
    servers.set_image(server, image)
    store.agree(server, ['hw_boot_menu'])
    assert servers.image(server) == (
        {'hw_boot_menu': True} if image else
        {**servers.IMAGE, 'hw_disk_bus': 'virtio', 'hw_boot_menu': True})


def test_an_evacuation_takes_what_was_stored_since_nova_read_the_server():
    server = servers.server()
    before, spec = store.stored(server), servers.spec(server)
    replace(server)
    present = servers.spec(server)
    present.numa_topology = servers.topology()
    present.save()
    store.renew(before, spec)
    assert ServerRecord.of(before).in_force == ASKED
    assert spec.image.properties.hw_disk_bus == 'scsi'
    assert 'hw_boot_menu' not in spec.image.properties
    assert spec.numa_topology
    assert not before.obj_what_changed()


@pytest.mark.parametrize(('overrides', 'has_spec'), [
    ({}, True), (servers.OVERRIDES, False)])
def test_a_server_without_overrides_or_request_spec_is_novas_own(
        during, overrides, has_spec):
    server = servers.server(overrides)
    during(lambda: 1 / 0, store, 'stored')
    store.renew(server, servers.spec(server) if has_spec else None)


def test_a_request_spec_from_before_is_stored_anew():
    server = servers.server()
    before, old = store.stored(server), servers.spec(server)
    replace(server)
    servers.set_image(server, old.image)
    store.repair(before)
    assert servers.image(server) == {**servers.IMAGE, **ASKED}


def test_a_server_that_nothing_has_changed_needs_no_repair(during):
    server = servers.server()
    during(lambda: 1 / 0, store, 'agree')
    store.repair(server)


# --- system metadata ----------------------------------------------------------

def test_only_keys_that_differ_are_stored():
    server = servers.server({}, system_metadata={'a': '1', 'b': '1', 'c': '1'})
    servers.change(server, system_metadata={'a': '2', 'b': '2', 'c': '1'})
    store.save_keys(
        server._context, server, {'b': '3'}, {'c'}, server.save)
    assert store.stored(server).system_metadata == {'a': '2', 'b': '3'}


@pytest.mark.parametrize(('overrides', 'has'), [
    ({}, False), ({'hw_pmu': None}, True), (servers.OVERRIDES, True)])
def test_a_record_is_looked_up_where_it_is_stored(overrides, has):
    assert store.has_record(servers.server(overrides)) is has
