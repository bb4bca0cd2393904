"""In which states of a server its overrides can be updated, and to what."""

from nova import context
from nova import exception
from nova import objects
from nova.compute import power_state
from nova.compute import vm_states
from oslo_utils import timeutils
import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.api import compute_part
from nova_image_override.api.change import update
from nova_image_override.server_record import ServerRecord
from tests.unit import refusals
from tests.unit.api.change import plans
from tests.unit.api.change import servers
from tests.unit.strategies import overrides_of

pytestmark = pytest.mark.usefixtures('databases')

STOPPED = {'vm_state': vm_states.STOPPED, 'host': 'compute1',
           'power_state': power_state.SHUTDOWN}
OFFLOADED = {'vm_state': vm_states.SHELVED_OFFLOADED, 'host': None,
             'power_state': power_state.SHUTDOWN}


def require(fields, is_admin=False):
    update._require_state(
        context.RequestContext('user', 'project', is_admin=is_admin),
        objects.Instance(**{
            'locked': False, 'task_state': None, 'old_flavor': None,
            'system_metadata': {}, 'updated_at': timeutils.utcnow(
                with_timezone=True), **fields}))


@pytest.mark.parametrize('fields', [
    STOPPED, OFFLOADED,
    # A crash of the guest; nova-compute stops the server later.
    {**STOPPED, 'power_state': power_state.CRASHED},
    # The state that the host had noted last.
    {**OFFLOADED, 'power_state': power_state.RUNNING},
    {**OFFLOADED, 'system_metadata': {'old_vm_state': 'active'}}])
def test_nothing_of_the_server_may_run(fields):
    require(fields)


@pytest.mark.parametrize(('fields', 'said'), [
    ({'locked': True}, 'the server is locked: unlock it'),
    ({'task_state': 'powering-on'},
     'the server is in task powering-on: wait until that ends'),
    *(({'vm_state': state}, f'the server is {state}: {advice}')
      for state, advice in update.STATES.items() if advice),
    ({'vm_state': 'another'}, 'the server is another: stop it, or shelve it'),
    ({'vm_state': vm_states.SHELVED_OFFLOADED},
     'its host gives it up: try again, or unshelve it'),
    ({'system_metadata': {'old_vm_state': 'active'}},
     'its host ends a resize: try again'),
    *(({'host': None, 'vm_state': state},
       'the server is on no host: boot another server')
      for state in (vm_states.STOPPED, vm_states.ERROR)),
    ({'power_state': power_state.RUNNING},
     'the server is stopped: stop it, or shelve it')])
def test_else_a_refusal_says_what_to_do(fields, said):
    ((code, reason),) = refusals.of(
        require, {**STOPPED, **fields}, error=errors.Conflict).values()
    assert code == errors.WRONG_STATE
    assert f'cannot be changed while {said}' in reason


def test_an_administrator_need_not_unlock_it():
    require({**STOPPED, 'locked': True}, is_admin=True)


# --- what is stored -----------------------------------------------------------

ADMIN = context.get_admin_context()
ASKED = {**servers.OVERRIDES, 'hw_rng_model': 'virtio'}
SHELVED = {'vm_state': vm_states.SHELVED_OFFLOADED, 'host': None}


def plan(server, asked=ASKED, scheduler=None):
    return update.plan(
        plans.planner(), scheduler or servers.Scheduler(), ADMIN, server,
        overrides_of(asked))


@pytest.fixture
def driver(monkeypatch):
    """Returns a server, by the hypervisor of its host; None has no node."""
    def make(kind):
        def get(context, host, node):
            if kind is None:
                raise exception.ComputeHostNotFound(host=host)
            return objects.ComputeNode(hypervisor_type=kind)

        monkeypatch.setattr(objects.ComputeNode, 'get_by_host_and_nodename',
                            staticmethod(get))
        return servers.server()

    return make


@pytest.mark.parametrize('kind', ['QEMU', None])
def test_a_stopped_server_gets_what_its_host_permits(driver, kind):
    """Without a compute node, too: nova-compute may have a new name for it."""
    server = driver(kind)
    scheduler = servers.Scheduler()
    plan(server, {**ASKED, 'hw_vm_mode': 'hvm', 'os_type': 'windows'},
         scheduler).store(server, {'display_name': 'x'})
    ((names, wanted),) = scheduler.required
    assert names == ['hw_rng_model', 'hw_vm_mode', 'os_type']
    assert wanted.hw_rng_model == 'virtio'
    _, metadata, os_type, _, image, _ = servers.everything(server)
    assert ServerRecord.read(metadata).in_force == {
        **ASKED, 'hw_vm_mode': 'hvm', 'os_type': 'windows'}
    assert image['hw_rng_model'] == 'virtio'
    server.refresh()
    assert (os_type, server.vm_mode, server.display_name) == (
        'windows', 'hvm', 'x')


def test_the_same_overrides_ask_nothing_of_a_host(driver):
    scheduler = servers.Scheduler()
    plan(driver('VMware vCenter Server'), servers.OVERRIDES, scheduler)
    assert scheduler.required == []


def test_without_an_image_in_the_request_spec_the_servers_counts():
    server = servers.server()
    servers.set_image(server, None)
    scheduler = servers.Scheduler()
    plan(server, scheduler=scheduler)
    ((_, wanted),) = scheduler.required
    assert wanted.hw_video_model == 'vga'
    assert wanted.hw_rng_model == 'virtio'


def test_the_defaults_of_nova_compute_are_not_asked_of_the_scheduler():
    """They are in system metadata, and not in the request spec."""
    server = servers.server()
    server.system_metadata = {
        **server.system_metadata, 'image_hw_machine_type': 'q35'}
    scheduler = servers.Scheduler()
    plan(server, scheduler=scheduler)
    ((_, wanted),) = scheduler.required
    assert 'hw_machine_type' not in wanted


@pytest.mark.parametrize(('shelved', 'record'), [
    (None, {}), ('c', {metadata_keys.OFFLOADED: 'c'})])
def test_an_offloaded_server_notes_that_its_shelved_image_is_older(
        monkeypatch, shelved, record):
    server, asked = servers.server(**SHELVED), []
    if shelved:
        server.system_metadata = {
            **server.system_metadata, 'shelved_image_id': shelved}
    monkeypatch.setattr(compute_part, 'require_anywhere',
                        lambda *args: asked.append(args))
    made = plan(server, {**ASKED, 'img_config_drive': 'mandatory'},
                servers.Scheduler(numa=['hw_rng_model']))
    stored = overrides_of({**ASKED, 'img_config_drive': 'mandatory'})
    assert made.properties == {
        'base_image_ref': 'a', **stored.merge(servers.IMAGE),
        **stored.recorded(servers.IMAGE),
        **record}
    assert [(who, host) for who, host, _ in asked] == [(ADMIN, None)] * bool(
        shelved)


def test_what_changes_nothing_keeps_that_note_and_takes_the_preset():
    server = servers.server(**SHELVED)
    server.system_metadata = {
        **server.system_metadata, 'shelved_image_id': 'd',
        f'image_{metadata_keys.OFFLOADED}': 'c',
        f'image_{metadata_keys.PRESET_PREFIX}old': '1'}
    properties = plan(server, servers.OVERRIDES).properties
    assert properties[metadata_keys.OFFLOADED] == 'c'
    assert not any(name.startswith(metadata_keys.PRESET_PREFIX)
                   for name in properties)
    assert properties['hw_boot_menu'] == 'true'


# --- what is refused ----------------------------------------------------------

@pytest.mark.parametrize(('overrides', 'asked', 'code', 'name', 'said'), [
    ({}, {'img_config_drive': 'mandatory'}, errors.NEEDS_REBUILD,
     'img_config_drive', 'rebuild the server, or shelve it first'),
    ({'hw_tpm_version': '2.0'},
     {'hw_tpm_version': '2.0', 'img_config_drive': 'mandatory'},
     errors.NEEDS_REBUILD, 'img_config_drive',
     'boot another server: Nova neither rebuilds nor shelves one with a vTPM'),
    ({}, {'hw_tpm_version': '2.0'}, errors.NEEDS_CLAIM, 'hw_tpm_version',
     'not given anew: shelve it first'),
    ({'hw_firmware_type': 'uefi', 'hw_machine_type': 'q35'},
     {'hw_firmware_type': 'uefi', 'hw_machine_type': 'q35',
      'os_secure_boot': 'required'}, errors.NEEDS_REBUILD, 'os_secure_boot',
     'a start keeps the firmware that it has: rebuild the server'),
    ({}, {'hw_pci_numa_affinity_policy': 'required'}, errors.CREATE_ONLY,
     'hw_pci_numa_affinity_policy', 'boot another server')])
def test_a_start_makes_not_everything_anew(overrides, asked, code, name, said):
    found = refusals.of(
        plan, servers.server(overrides), asked, error=errors.OverrideError)
    assert found == {name: (code, found[name][1])}
    assert said in found[name][1]


def test_a_numa_topology_needs_a_claim():
    with pytest.raises(errors.Conflict, match='shelve it first') as caught:
        plan(servers.server(), scheduler=servers.Scheduler(
            numa=['hw_rng_model']))
    assert [(each.name, each.code) for each in caught.value.problems] == [
        ('hw_rng_model', errors.NEEDS_CLAIM)]


def test_a_driver_that_builds_no_guest_at_a_start_needs_a_rebuild(driver):
    server = driver('VMware vCenter Server')
    with pytest.raises(errors.Conflict) as caught:
        plan(server)
    (problem,) = caught.value.problems
    assert (problem.name, problem.code) == (
        'hw_rng_model', errors.NEEDS_REBUILD)
    assert 'rebuild the server, or shelve it first' in problem.reason


def test_a_server_without_a_request_spec_is_the_operators_to_mend():
    server = servers.server()
    servers.spec(server).destroy()
    with pytest.raises(errors.Conflict, match='ask the operator'):
        plan(server)
