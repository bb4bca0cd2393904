"""A server that an operation of Nova takes only as it has read it."""

import datetime

from nova import exception
from nova import objects
from nova.compute import task_states
from nova.compute import vm_states
from nova.objects import base
from oslo_utils import timeutils
import pytest

from nova_image_override import errors
from nova_image_override.api.change import held_instance
from nova_image_override.api.change import store
from tests.unit.api.change import servers

pytestmark = pytest.mark.usefixtures('databases')


def held():
    return held_instance.Instance.of(
        objects.Instance(uuid='u', system_metadata={}))


def test_other_services_read_it_as_novas_instance():
    """They know no class by another name (UnsupportedObjectError)."""
    serializer = base.NovaObjectSerializer()
    sent = serializer.serialize_entity(None, held())
    received = serializer.deserialize_entity(None, sent)
    assert type(received) is objects.Instance
    assert received.uuid == 'u'


def test_nova_makes_its_own_instances_as_before():
    assert objects.Instance is not held_instance.Instance
    assert type(held()) is held_instance.Instance
    assert base.NovaObject.obj_class_from_name(
        'Instance', objects.Instance.VERSION) is objects.Instance


# --- a resize that is ending --------------------------------------------------

@pytest.mark.parametrize(('old_flavor', 'key', 'seconds', 'is_ending'), [
    (None, 'old_vm_state', 0, True),
    (None, 'old_vm_state', 9, True),
    # The key may stay for ever.
    (None, 'old_vm_state', 20, False),
    (None, 'image_os_type', 0, False),
    (objects.Flavor(), 'image_os_type', 20, True)])
def test_a_host_saves_a_server_once_more_after_a_resize(
        old_flavor, key, seconds, is_ending):
    server = objects.Instance(
        old_flavor=old_flavor, system_metadata={key: 'x'},
        updated_at=timeutils.utcnow(with_timezone=True)
        - datetime.timedelta(seconds=seconds))
    assert held_instance.is_resize_ending(server) == is_ending


# --- a server whose task state is taken ---------------------------------------

def take(read, **kwargs):
    """Take a server's task state; return what was passed on."""
    found = []
    taken = held_instance.Instance.of(
        read, then=lambda *args: found.extend(args), **kwargs)
    taken.task_state = task_states.REBUILDING
    taken.image_ref = 'b'
    taken.system_metadata = {
        **taken.system_metadata, 'image_base_image_ref': 'b'}
    taken.save(expected_task_state=[None])
    return found


@pytest.mark.parametrize(('overrides', 'asks'), [
    (servers.OVERRIDES, False), (servers.OVERRIDES, True), ({}, True),
    ({}, False)])
def test_a_server_that_is_what_was_read_is_taken(overrides, asks):
    server = servers.server(overrides)
    former, metadata = take(server, asks=asks)
    assert former == {'task_state': None, 'image_ref': 'a'}
    assert metadata == {
        **server.system_metadata, 'image_base_image_ref': 'b'}
    present = store.stored(server)
    assert (present.task_state, present.image_ref) == (
        task_states.REBUILDING, 'b')
    assert present.system_metadata == metadata


@pytest.mark.parametrize(('overrides', 'asks', 'other'), [
    (servers.OVERRIDES, False, {'host': 'compute2'}),
    (servers.OVERRIDES, False, {'instance_type_id': 2}),
    ({}, True, {'host': 'compute2'})])
def test_one_that_has_changed_since_is_given_back(overrides, asks, other):
    server = servers.server(overrides)
    servers.change(server, **other)
    before = servers.everything(server)
    with pytest.raises(errors.Conflict, match='try again'):
        take(server, asks=asks)
    assert servers.everything(server) == before
    present = store.stored(server)
    assert present.image_ref == 'a'
    assert all(present[name] == value for name, value in other.items())


@pytest.mark.parametrize(('overrides', 'then'), [
    ({}, servers.OVERRIDES), (servers.OVERRIDES, {})])
def test_one_whose_overrides_have_changed_since_is_given_back(overrides, then):
    """Nova's save replaces system metadata, but not in shelve and lock."""
    server = servers.server(overrides)
    given = dict(servers.server(then).system_metadata)
    servers.change(server, system_metadata=given)
    with pytest.raises(errors.Conflict):
        take(server, keeps_others=True)
    task_state, metadata, *_ = servers.everything(server)
    assert (task_state, metadata) == (None, given)


def test_without_overrides_nothing_is_compared():
    server = servers.server({})
    servers.change(server, host='compute2')
    assert take(server)
    assert store.stored(server).task_state == task_states.REBUILDING


def test_a_state_that_something_else_has_taken_is_novas_refusal():
    server = servers.server()
    servers.change(server, task_state=task_states.DELETING)
    before = servers.everything(server)
    with pytest.raises(exception.UnexpectedTaskStateError):
        take(server)
    assert servers.everything(server) == before


@pytest.mark.parametrize(('fields', 'expected'), [
    ({'task_state': task_states.REBUILDING}, None),
    ({'display_name': 'x'}, [None]),
    ({'vm_state': vm_states.ERROR, 'display_name': 'x'}, None)])
def test_a_save_that_takes_no_state_is_novas_own(fields, expected):
    server = servers.server()
    servers.change(server, host='compute2')
    taken = held_instance.Instance.of(
        server, asks=True, then=lambda *args: 1 / 0, instead=lambda: 1 / 0)
    taken.update(fields)
    taken.save(expected_task_state=expected)
    present = store.stored(server)
    assert all(present[name] == value for name, value in fields.items())


def test_a_state_is_taken_once():
    server = servers.server()
    taken = held_instance.Instance.of(server)
    for state, former in ((task_states.REBUILDING, None),
                          (None, task_states.REBUILDING)):
        taken.task_state = state
        taken.save(expected_task_state=[former])
        servers.change(server, host=f'not {state}')
    assert store.stored(server).task_state is None


def test_a_check_ends_before_anything_is_stored():
    server = servers.server()
    before = servers.everything(server)
    with pytest.raises(ZeroDivisionError):
        take(server, instead=lambda: 1 / 0)
    assert servers.everything(server) == before


def test_what_a_rebuild_replaces_is_passed_on_though_nova_had_not_read_it():
    server = servers.server()
    found = []
    taken = held_instance.Instance.of(
        server, then=lambda *args: found.extend(args))
    taken.task_state = task_states.REBUILDING
    taken.keypairs = objects.KeyPairList(objects=[])
    taken.trusted_certs = objects.TrustedCerts(ids=['x'])
    taken.pci_devices = objects.PciDeviceList(objects=[])
    taken.save(expected_task_state=[None])
    former, _ = found
    assert former.keys() == {'task_state', 'keypairs', 'trusted_certs'}
    assert former['trusted_certs'] is None


@pytest.mark.parametrize(('made', 'kept'), [
    (lambda read: held_instance.Instance.of(read, keeps_others=True),
     {'image_hw_pmu': 'false', 'locked_reason': 'x'}),
    (lambda read: held_instance.Instance.of(read),
     {'image_hw_pmu': 'true', 'locked_reason': 'x'}),
    (lambda read: held_instance.Instance.of(
        read, keeps_others=True).obj_clone(),
     {'image_hw_pmu': 'true', 'locked_reason': 'x'})])
def test_a_lock_stores_only_the_keys_that_it_has_changed(made, kept):
    """Others and copies remove a key, too, that they have read, and lack."""
    server = servers.server({}, system_metadata={
        'image_hw_pmu': 'true', 'clean_attempts': '1'})
    servers.change(server, system_metadata={
        'image_hw_pmu': 'false', 'clean_attempts': '2'})
    locked = made(server)
    locked.locked = True
    locked.system_metadata = {'image_hw_pmu': 'true', 'locked_reason': 'x'}
    locked.save()
    present = store.stored(server)
    assert present.locked
    assert present.system_metadata == kept


def test_a_lock_of_nothing_of_system_metadata_leaves_it(monkeypatch):
    monkeypatch.setattr(store, 'save_keys', lambda *args: 1 / 0)
    server = servers.server()
    servers.change(server, system_metadata={'image_hw_pmu': 'false'})
    locked = held_instance.Instance.of(server, keeps_others=True)
    locked.locked = True
    locked.save()
    present = store.stored(server)
    assert present.locked
    assert present.system_metadata == {'image_hw_pmu': 'false'}


def test_a_topology_that_was_read_is_not_stored_again():
    server = servers.server({}, numa_topology=servers.topology())
    read = objects.Instance.get_by_uuid(
        server._context, server.uuid,
        expected_attrs=['numa_topology', 'system_metadata'])
    servers.change(server, numa_topology=servers.topology(1024))
    assert take(read)
    assert store.stored(server).numa_topology.cells[0].memory == 1024
