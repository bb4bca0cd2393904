"""What of a server is brought into line, and who has left it so."""

import datetime

from nova import exception
from nova import objects
from nova.compute import instance_actions
from nova.compute import task_states
from nova.compute import vm_states
from oslo_utils import timeutils
import pytest

from nova_image_override.api.change import repair
from nova_image_override.api.change import store
from tests.unit.api.change import servers
from tests.unit.api.change.plans import stored
from tests.unit.api.guest import guests

ASKED = {'hw_disk_bus': 'scsi', 'hw_vif_model': None, 'hw_boot_menu': 'true'}
IMAGE = {'hw_disk_bus': 'ide', 'hw_vif_model': 'e1000'}
SPEC = {'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true'}
UNFINISHED = store.unfinished(['hw_boot_menu'], 'scsi')


def server(asked=ASKED, more=None, **fields):
    """Return a server with overrides, and more properties that are stored."""
    return objects.Instance(**{
        'uuid': '5a3c8f0e-1d2b-4c6a-9e7f-0b1d2c3a4e5f', 'image_ref': 'a',
        'task_state': None, 'vm_state': vm_states.STOPPED,
        'updated_at': timeutils.utcnow(with_timezone=True),
        'system_metadata': stored(asked, IMAGE, more), **fields})


@pytest.fixture
def needed(monkeypatch):
    """Returns what is needed of a server with this request spec."""
    def of(instance, spec):
        def get(context, uuid):
            assert uuid == instance.uuid
            if isinstance(spec, Exception):
                raise spec
            return spec

        monkeypatch.setattr(
            objects.RequestSpec, 'get_by_instance_uuid', staticmethod(get))
        return repair.needed(instance)

    return of


def spec(**properties):
    return objects.RequestSpec(image=guests.image(**properties))


# --- a request spec that differs ----------------------------------------------

@pytest.mark.parametrize(('has', 'name', 'source'), [
    ({**SPEC, 'hw_boot_menu': 'false'}, 'hw_boot_menu', 'scsi'),
    ({'hw_disk_bus': 'scsi'}, 'hw_boot_menu', 'scsi'),
    ({**SPEC, 'hw_rng_model': 'virtio'}, 'hw_rng_model', 'scsi'),
    # Its disks are where the request spec says.
    ({**SPEC, 'hw_disk_bus': 'ide'}, 'hw_disk_bus', 'ide'),
    # What is removed has to be removed there, too.
    ({**SPEC, 'hw_vif_model': 'e1000'}, 'hw_vif_model', 'scsi')])
def test_what_differs_is_brought_into_line(needed, has, name, source):
    assert needed(server(), spec(**has)) == store.unfinished(
        [name], source)


@pytest.mark.parametrize('more', [
    {}, {'hw_vif_model': 'virtio'}, {'hw_machine_type': 'q35'},
    # It describes the image, and no guest.
    {'img_root_device_name': '/dev/vda', 'base_image_ref': 'x'}])
def test_what_agrees_or_is_nova_computes_default_is_left(needed, more):
    assert not needed(server(more=more), spec(**SPEC))


def test_a_default_that_is_an_override_is_not_left(needed):
    asked = {**ASKED, 'hw_vif_model': 'virtio'}
    assert needed(server(asked), spec(**SPEC)) == store.unfinished(
        ['hw_vif_model'], 'scsi')


@pytest.mark.parametrize('other', [
    objects.RequestSpec(), objects.RequestSpec(image=None),
    exception.RequestSpecNotFound(instance_uuid='x')])
def test_a_server_whose_request_spec_says_nothing_is_left(needed, other):
    assert not needed(server(), other)


@pytest.mark.parametrize('instance', [
    server({}, {'hw_disk_bus': 'ide'}),
    server(task_state=task_states.REBUILDING)])
def test_nobody_looks_at_a_server_without_a_record_or_in_a_task(
        needed, instance):
    assert not needed(instance, AssertionError())


# --- who holds a server -------------------------------------------------------

@pytest.mark.parametrize(('actions', 'unfinished', 'is_ours'), [
    ([store.ACTION], None, True), ([repair.ACTION], None, True),
    (['lock', store.ACTION, instance_actions.RESIZE], None, True),
    ([instance_actions.RESIZE, store.ACTION], UNFINISHED, False),
    (['unlock', instance_actions.MIGRATE], UNFINISHED, False),
    ([instance_actions.REBUILD, store.ACTION], UNFINISHED, True),
    ([instance_actions.REBUILD, store.ACTION], None, False),
    (['lock'], UNFINISHED, False), ([], None, False)])
def test_the_last_action_that_takes_the_state_has_taken_it(
        monkeypatch, actions, unfinished, is_ours):
    monkeypatch.setattr(
        objects.InstanceActionList, 'get_by_instance_uuid', staticmethod(
            lambda context, uuid, limit: [
                objects.InstanceAction(action=each) for each in actions]))
    assert repair._is_held_by_us(server(more=unfinished)) == is_ours


def test_nova_resizes_no_server_without_a_host():
    assert repair._is_held_by_us(server(vm_state=vm_states.SHELVED_OFFLOADED))


# --- what was cut off ---------------------------------------------------------

@pytest.fixture
def finished(monkeypatch):
    """What is held and finished, in order."""
    found = []
    monkeypatch.setattr(
        repair.LOG, 'info', lambda *args, **kwargs: found.append('log'))
    monkeypatch.setattr(store, 'hold', lambda instance: found.append('hold'))
    monkeypatch.setattr(
        store, 'finish', lambda instance: found.append('finish'))
    monkeypatch.setattr(repair, '_is_held_by_us', lambda instance: True)
    return found


def held(seconds):
    return server(
        more=UNFINISHED, task_state=store.TASK_STATE,
        updated_at=timeutils.utcnow(with_timezone=True)
        - datetime.timedelta(seconds=seconds))


@pytest.mark.parametrize(('instance', 'steps'), [
    (server(more=UNFINISHED), ['hold', 'finish', 'log']), (server(), []),
    (server(more=UNFINISHED, task_state=task_states.REBUILDING), [])])
def test_what_was_left_unfinished_is_finished_unless_nova_is_at_it(
        finished, instance, steps):
    repair.recover(instance)
    assert finished == steps


@pytest.mark.parametrize(('more', 'steps'), [
    (5, ['finish', 'log']), (-20, [])])
def test_an_update_counts_as_cut_off_after_a_while(finished, more, steps):
    repair.recover(held(store.LEASE + more))
    assert finished == steps


def test_a_resize_of_novas_is_left(finished, monkeypatch):
    monkeypatch.setattr(repair, '_is_held_by_us', lambda instance: False)
    repair.recover(held(store.LEASE + 5))
    assert finished == []


def test_a_failure_is_logged_and_the_request_goes_on(finished, monkeypatch):
    logged = []
    monkeypatch.setattr(store, 'finish', lambda instance: 1 / 0)
    monkeypatch.setattr(
        repair.LOG, 'exception', lambda *args, **kwargs: logged.append(kwargs))
    instance = held(store.LEASE + 5)
    repair.recover(instance)
    assert logged == [{'instance': instance}]


# --- what is brought into line ------------------------------------------------

@pytest.mark.usefixtures('databases')
def test_request_spec_and_disks_follow_the_server():
    """As after an unmodified nova-api has stored other overrides of it."""
    server = servers.server()
    server.system_metadata = dict(servers.server(
        {'hw_disk_bus': 'scsi'}).system_metadata)
    server.save()
    repair.make(server, repair.needed(server))
    task_state, metadata, *_, image, places = servers.everything(server)
    assert task_state is None
    assert metadata == server.system_metadata
    assert image == {**servers.IMAGE, 'hw_disk_bus': 'scsi'}
    assert places == [('scsi', '/dev/sda'), ('scsi', '/dev/sdb')]
    assert not repair.needed(store.stored(server))
