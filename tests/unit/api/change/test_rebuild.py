"""A rebuild, from the image that Nova has fetched to what it sends.

The databases are real; a function takes the place of Nova's rebuild, and an
object that of its scheduler.
"""

import copy

from nova import context as nova_context
from nova import objects
from nova.compute import task_states
from nova.compute import vm_states
from nova.conductor import api as conductor_api
from oslo_utils import timeutils
import pytest

from nova_image_override import errors
from nova_image_override.api import audit
from nova_image_override.api import operation
from nova_image_override.api.change import disks
from nova_image_override.api.change import dry_run
from nova_image_override.api.change import rebuild as module
from nova_image_override.api.change import store
from nova_image_override.server_record import ServerRecord
from tests.unit.api.change import plans
from tests.unit.api.change import servers
from tests.unit.api.guest import guests

pytestmark = pytest.mark.usefixtures('databases')

NEW = {'id': 'b', 'properties': {'hw_video_model': 'cirrus'}}
ASKED = {'hw_disk_bus': 'scsi', 'hw_rng_model': 'virtio'}


@pytest.fixture(autouse=True)
def ready(monkeypatch):
    """Have a compute node with the compute part, which another test lacks."""
    asked = []
    monkeypatch.setattr(module.compute_part, 'require',
                        lambda *args: asked.append(args[2:]))
    return asked


@pytest.fixture
def logged(monkeypatch):
    found = []
    monkeypatch.setattr(audit, 'changed', lambda context, how, after, instance:
                        found.append((how, after.values)))
    return found


def rebuild(server, asked=None, image=NEW, scheduler=None, sends=True,
            allowed=(), **kwargs):
    """Rebuild a server as Nova does; return what the conductor is sent."""
    context = nova_context.RequestContext('u', 'p', is_admin=False)
    made = module.Rebuild(
        plans.planner(*allowed), scheduler or servers.Scheduler(), context,
        server, None if asked is None else plans.withdrawing(asked), **kwargs)
    image = copy.deepcopy(image)

    def nova(instance):
        former = instance.image_ref
        operation.of(context).image_fetched(image)
        instance.task_state = task_states.REBUILDING
        instance.image_ref = image['id']
        instance.save(expected_task_state=[None])
        # As _reset_image_metadata in nova/compute/api.py.
        instance.system_metadata = {
            **{key: value for key, value in instance.system_metadata.items()
               if not key.startswith('image_')},
            **{f'image_{name}': value
               for name, value in image['properties'].items()},
            'image_base_image_ref': image['id']}
        instance.save()
        if former != image['id']:
            servers.set_image(
                server, objects.ImageMeta.from_dict(copy.deepcopy(image)))
        if not sends:
            raise ZeroDivisionError
        return operation.of(context).sending(instance)

    return made.run(nova)


def assert_has(server, overrides, image, places):
    task_state, metadata, *_, has, now = servers.everything(server)
    record = ServerRecord.read(metadata)
    assert task_state == task_states.REBUILDING
    assert not record.unfinished
    assert record.in_force == overrides
    assert has == {name: {'true': True}.get(value, value)
                   for name, value in image.items()}
    assert now == places


VIRTIO = [('virtio', '/dev/vda'), ('virtio', '/dev/vdb')]
SCSI = [('scsi', '/dev/sda'), ('scsi', '/dev/sdb')]


@pytest.mark.parametrize(('asked', 'overrides', 'places'), [
    (None, servers.OVERRIDES, VIRTIO), (ASKED, ASKED, SCSI),
    ({}, {}, VIRTIO)])
def test_overrides_are_kept_or_replaced_over_the_new_image(
        ready, logged, asked, overrides, places):
    server = servers.server()
    sent = rebuild(server, asked)
    assert sent['host'] == 'compute1'
    assert [each.device_name for each in sent['bdms']] == [
        name for _, name in places]
    assert_has(server, overrides, {**NEW['properties'], **overrides}, places)
    assert logged == [('by the rebuild', overrides)]
    assert ready == ([] if asked == {} else [
        ('rebuilt', 'or send an empty image_props_override, which drops them')])


def test_a_server_without_overrides_may_be_given_some(ready):
    server = servers.server({'hw_disk_bus': None})
    rebuild(servers.server({}), ASKED)
    assert ready == [('rebuilt', 'or leave image_props_override out')]
    assert rebuild(server, ASKED)['host'] == 'compute1'


def test_without_any_the_rebuild_is_novas_own(logged):
    server = servers.server({})
    assert rebuild(server) == {}
    assert servers.image(server) == NEW['properties']
    assert logged == []


@pytest.mark.parametrize(('properties', 'overrides'), [
    ({'hw_pmu': 'true'}, {'hw_pmu': None}), ({}, {}), (None, {})])
def test_null_withdraws_from_a_preset_what_the_image_lacks(
        properties, overrides):
    server = servers.server()
    rebuild(server, {'hw_pmu': None, 'hw_boot_menu': 'true'}, {
        'id': 'b', **({} if properties is None else {
            'properties': properties})})
    assert ServerRecord.of(store.stored(server)).in_force == {
        **overrides, 'hw_boot_menu': 'true'}


def test_an_image_that_nova_cannot_read_is_refused_by_name():
    server = of_image()
    with pytest.raises(errors.OverrideError, match='hw_numa_nodes'):
        rebuild(server, image={**HAS, 'properties': {'hw_numa_nodes': 'x'}})


# --- whether the scheduler is asked -------------------------------------------

SAME = {'id': 'a', 'properties': servers.IMAGE}


@pytest.mark.parametrize(('asked', 'image', 'by_nova', 'fields', 'names'), [
    (None, SAME, False, {}, None),
    (None, SAME, True, {}, []),
    (None, NEW, False, {}, []),
    ({**servers.OVERRIDES, 'hw_rng_model': 'virtio'}, SAME, False, {},
     ['hw_rng_model']),
    # Nova schedules a server anew that never was on a host.
    (ASKED, NEW, True, {'host': None, 'vm_state': vm_states.ERROR}, None)])
def test_the_host_is_asked_for_what_it_has_not_granted(
        asked, image, by_nova, fields, names):
    scheduler = servers.Scheduler(by_nova=by_nova)
    rebuild(servers.server(**fields), asked, image, scheduler)
    assert [each for each, _ in scheduler.required] == (
        [] if names is None else [names])
    for _, wanted in scheduler.required:
        assert wanted.hw_boot_menu is True


# --- what is refused ----------------------------------------------------------

def assert_refused(server, error, code, match, **kwargs):
    before = servers.everything(server)
    with pytest.raises(error, match=match) as caught:
        rebuild(server, **kwargs)
    assert {each.code for each in caught.value.problems} == {code}
    assert servers.everything(server) == before
    return [each.name for each in caught.value.problems]


def test_a_rebuild_changes_no_numa_topology():
    assert assert_refused(
        servers.server(), errors.Invalid, errors.NUMA_CHANGE,
        'cannot change the NUMA topology', asked=ASKED,
        scheduler=servers.Scheduler(numa=['hw_rng_model'])) == ['hw_rng_model']


def test_what_a_rebuild_does_not_make_is_refused():
    """Nova makes a TPM at create and at unshelve only."""
    assert assert_refused(
        servers.server(), errors.Invalid, errors.CREATE_ONLY,
        'update the server once it is shelved and offloaded, or boot another '
        'server', asked={'hw_tpm_version': '2.0'}) == ['hw_tpm_version']


@pytest.mark.parametrize('vm_state', [vm_states.ACTIVE, vm_states.ERROR])
def test_a_resize_that_ends_is_waited_for(vm_state):
    """In ERROR it has failed, and nothing is saved any more."""
    server = servers.server(vm_state=vm_state)
    server.system_metadata = {**server.system_metadata, 'old_vm_state': 'x'}
    server.updated_at = timeutils.utcnow(with_timezone=True)
    server.save()
    server = store.stored(server)
    if vm_state == vm_states.ERROR:
        assert rebuild(server)
    else:
        assert_refused(server, errors.Conflict, errors.WRONG_STATE,
                       'while its host ends a resize: try again')


# --- what the rules have to permit --------------------------------------------

UPDATED = '2026-01-01T00:00:00Z'
HAS = {**SAME, 'updated_at': UPDATED}


def of_image(**fields):
    """Return a server whose image was last changed at that time."""
    server = servers.server(**fields)
    servers.set_image(server, objects.ImageMeta.from_dict(
        {**HAS, 'properties': {**servers.IMAGE, **servers.OVERRIDES}}))
    return server


@pytest.mark.parametrize('fields', [{}, {'image_ref': ''}])
@pytest.mark.parametrize('asked', [
    None, servers.OVERRIDES, {'hw_disk_bus': 'virtio'}])
def test_what_it_has_of_the_same_image_needs_no_permission(fields, asked):
    assert rebuild(of_image(**fields), asked, HAS, allowed=['os_type'])


@pytest.mark.parametrize(('fields', 'image', 'by_nova'), [
    ({}, {**HAS, 'id': 'b'}, True),
    ({}, {**HAS, 'updated_at': '2026-01-02T00:00:00Z'}, False),
    ({}, SAME, False), ({'image_ref': ''}, HAS, True)])
def test_of_another_image_it_does(fields, image, by_nova):
    assert sorted(assert_refused(
        of_image(**fields), errors.Forbidden, errors.NOT_ALLOWED, '',
        image=image, scheduler=servers.Scheduler(by_nova=by_nova),
        allowed=['os_type'])) == ['hw_boot_menu', 'hw_disk_bus']


@pytest.mark.parametrize(('asked', 'value'), [
    (None, 'e1000'), ({'hw_vif_model': None}, None)])
def test_what_an_operator_has_set_after_its_removal_is_kept(asked, value):
    server = servers.server({'hw_vif_model': None})
    server.system_metadata = {
        **server.system_metadata, 'image_hw_vif_model': 'e1000'}
    server.save()
    servers.set_image(server, guests.image(hw_vif_model='e1000'))
    rebuild(store.stored(server), asked)
    assert servers.image(server).get('hw_vif_model') == value


# --- what fails ---------------------------------------------------------------

@pytest.mark.parametrize('asked', [None, {}, ASKED])
def test_what_nova_fails_at_leaves_the_server_as_it_was(logged, asked):
    for overrides in (servers.OVERRIDES, {}):
        server = servers.server(overrides)
        before = servers.everything(server)
        with pytest.raises(ZeroDivisionError):
            rebuild(server, asked, sends=False)
        assert servers.everything(server) == before
        assert store.stored(server).image_ref == 'a'
    assert logged == []


def test_a_request_spec_that_had_no_image_gets_the_servers_own():
    server = servers.server()
    servers.set_image(server, None)
    with pytest.raises(ZeroDivisionError):
        rebuild(server, ASKED, sends=False)
    assert servers.spec(server).image.id == 'a'
    assert servers.image(server) == {
        'hw_video_model': 'vga', 'hw_disk_bus': 'virtio', 'hw_boot_menu': True}


@pytest.mark.parametrize('overrides', [servers.OVERRIDES, {}])
@pytest.mark.parametrize('step', [
    (store, 'agree'), (disks, 'move'), (store, 'confirmed', 2)])
def test_what_fails_leaves_the_server_as_it_was(
        during, logged, overrides, step):
    server = servers.server(overrides)
    before = servers.everything(server)
    during(lambda: 1 / 0, *step)
    with pytest.raises(ZeroDivisionError):
        rebuild(server, ASKED)
    assert servers.everything(server) == before
    assert store.stored(server).image_ref == 'a'
    assert logged == []


def test_what_has_been_sent_is_not_taken_back(monkeypatch):
    monkeypatch.setattr(audit, 'changed', lambda *args: None)
    server = servers.server()
    sending = module.Rebuild.sending

    def sends(self, instance):
        sending(self, instance)
        raise ZeroDivisionError

    monkeypatch.setattr(module.Rebuild, 'sending', sends)
    with pytest.raises(ZeroDivisionError):
        rebuild(server, ASKED)
    assert_has(server, ASKED, {**NEW['properties'], **ASKED}, SCSI)


def test_a_deletion_wins_over_what_is_taken_back(during):
    server = servers.server()
    during(lambda: servers.change(server, task_state=task_states.DELETING),
           store, 'finish')
    with pytest.raises(errors.Conflict, match='something else has changed'):
        rebuild(server, ASKED)
    assert store.stored(server).task_state == task_states.DELETING


@pytest.mark.parametrize(('is_check', 'past'), [
    (False, 'API._get_image'), (True, 'Instance.save')])
def test_a_nova_that_rebuilds_past_us_is_named(is_check, past):
    made = module.Rebuild(
        plans.planner(), servers.Scheduler(), None, servers.server(), None,
        is_check)
    with pytest.raises(errors.UnsupportedNova, match=past):
        made.sending(servers.server())


# --- a check ------------------------------------------------------------------

@pytest.mark.parametrize(('overrides', 'asked', 'overridden', 'image'), [
    (servers.OVERRIDES, ASKED, ASKED, NEW), ({}, None, {}, NEW),
    ({}, None, {}, {'id': 'b'})])
def test_a_check_ends_with_what_would_be_stored(
        logged, overrides, asked, overridden, image):
    server = servers.server(overrides)
    before = servers.everything(server)
    with pytest.raises(dry_run.Checked) as caught:
        rebuild(server, asked, image, is_check=True)
    answer = caught.value.answer[errors.PARAMETER]
    assert answer['properties'] == {
        **image.get('properties', {}), **overridden}
    assert {name: each['value'] for name, each in answer[
        'overridden'].items()} == overridden
    assert servers.everything(server) == before
    assert logged == []


# --- the conductor ------------------------------------------------------------

@pytest.mark.parametrize('kwargs', [
    {'recreate': True}, {'recreate': False}, {}])
def test_only_an_evacuation_takes_what_was_stored_since(monkeypatch, kwargs):
    """And whatever the operation adds is sent."""
    sent, renewed = [], []
    monkeypatch.setattr(
        conductor_api.ComputeTaskAPI, 'rebuild_instance',
        lambda self, context, instance, *args, **kwargs: sent.append(
            (args, kwargs)) or 'x')
    monkeypatch.setattr(store, 'renew', lambda *args: renewed.append(args))
    context = nova_context.get_admin_context()

    class Sending(operation.Operation):
        def sending(self, instance):
            return {'host': instance.host}

    server, spec = objects.Instance(host='c'), objects.RequestSpec()
    with operation.during(context, Sending()):
        answer = module.ComputeTaskAPI.rebuild_instance(
            object.__new__(module.ComputeTaskAPI), context, server, 1,
            request_spec=spec, **kwargs)
    assert answer == 'x'
    assert sent == [((1,), {
        'host': 'c', 'request_spec': spec, 'recreate': False, **kwargs})]
    assert renewed == ([(server, spec)] if kwargs.get('recreate') else [])
