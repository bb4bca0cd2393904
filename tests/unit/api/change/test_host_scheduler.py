"""What is asked of scheduler and placement about the host of one server."""

import types

from keystoneauth1 import exceptions as keystone_exceptions
from nova import exception
from nova import objects
from nova.compute import utils as compute_utils
from nova.network import model
from nova.scheduler.client import query
from nova.scheduler.client import report
import oslo_messaging
import pytest

from nova_image_override import errors
from nova_image_override.api.change import scheduling
from tests.unit import refusals
from tests.unit.api.guest import guests

SERVER = objects.Instance(
    uuid='5a3c8f0e-1d2b-4c6a-9e7f-0b1d2c3a4e5f', host='compute1', node='node1',
    project_id='p', user_id='u', image_ref='a',
    info_cache=objects.InstanceInfoCache(network_info=model.NetworkInfo([
        model.VIF(network=model.Network(physical_network='net'))])))
CELL = objects.CellMapping(uuid='6a3c8f0e-1d2b-4c6a-9e7f-0b1d2c3a4e5f')
NAMES = ['trait:A', 'hw_disk_bus']


@pytest.fixture
def ask(monkeypatch):
    """Requires other properties of a host; returns what the scheduler got.

    The host has the trait A; with FAILS, asking for its traits, or the
    scheduler, raises it.
    """
    def require(wanted, fails=None, at='select', names=NAMES, specs=None,
                **fields):
        asked = []

        def failing(step, answer):
            def called(*args, **kwargs):
                if fails is not None and step == at:
                    raise fails
                return answer

            return called

        placement = types.SimpleNamespace(
            get_allocs_for_consumer=failing('allocations', {
                'allocations': {'one': {}, 'other': {}}}),
            get_provider_traits=lambda context, provider: (
                types.SimpleNamespace(traits={
                    'one': {'A'}, 'other': set()}[provider])))
        monkeypatch.setattr(
            report, 'report_client_singleton', lambda: placement)
        monkeypatch.setattr(
            objects.InstanceMapping, 'get_by_instance_uuid', staticmethod(
                lambda *args: types.SimpleNamespace(cell_mapping=CELL)))
        select = failing('select', None)
        monkeypatch.setattr(
            query, 'SchedulerQueryClient', lambda: types.SimpleNamespace(
                select_destinations=lambda *args, **kwargs: (
                    asked.append((*args, kwargs)), select())))
        spec = objects.RequestSpec(**{
            'id': 1, 'flavor': guests.flavor(**(specs or {})),
            'image': guests.image(hw_pmu='true'),
            'requested_networks': objects.NetworkRequestList(objects=[]),
            **fields})
        image, given = spec.image, spec.obj_what_changed()
        try:
            scheduling.HostScheduler(None, None).require(
                'context', SERVER, spec, guests.image(**wanted), names, 'so')
        finally:
            # Nova notes there what it requires of all providers.
            assert spec.obj_what_changed() - given <= {'request_level_params'}
            assert spec.image is image
            assert fields.get('scheduler_hints') in (None, {'group': ['g']})
        return asked

    return require


HINTS = {'group': ['g']}


@pytest.mark.parametrize(('fields', 'hints'), [
    ({}, {}), ({'scheduler_hints': HINTS}, HINTS),
    ({'requested_destination': None}, {}),
    ({'requested_destination': objects.Destination(
        aggregates=['x'])}, {})])
def test_its_own_host_is_asked_as_novas_rebuild_asks(ask, fields, hints):
    ((context, spec, uuids, options),) = ask({'hw_disk_bus': 'scsi'}, **fields)
    assert (context, uuids) == ('context', [SERVER.uuid])
    assert options == {'return_objects': True, 'return_alternates': False}
    assert spec.scheduler_hints == {**hints, '_nova_check_type': ['rebuild']}
    assert (spec.force_hosts, spec.force_nodes) == (['compute1'], ['node1'])
    assert spec.requested_destination.cell is CELL
    given = fields.get('requested_destination')
    assert ('aggregates' in spec.requested_destination) == bool(given)
    assert (spec.project_id, spec.user_id) == ('p', 'u')
    assert spec.network_metadata.physnets == {'net'}
    assert scheduling.properties_of(spec.image) == {
        'hw_disk_bus': 'scsi', 'traits_required': []}
    # So that nothing can save it.
    assert 'id' not in spec


# --- traits -------------------------------------------------------------------

def test_traits_that_the_host_has_are_granted(ask):
    assert ask({'trait:A': 'required'})


@pytest.mark.parametrize(('wanted', 'names', 'found'), [
    ({'trait:A': 'required', 'trait:B': 'required'}, ['trait:B'],
     {'trait:B': 'the trait B'}),
    ({'hw_firmware_type': 'uefi', 'os_secure_boot': 'required'},
     ['os_secure_boot'],
     {'os_secure_boot': 'the trait COMPUTE_SECURITY_UEFI_SECURE_BOOT'})])
def test_those_that_it_lacks_are_named(ask, wanted, names, found):
    """Also what Nova derives from another property."""
    with pytest.raises(errors.Conflict) as caught:
        ask(wanted, names=names)
    assert {each.name: each.reason for each in caught.value.problems} == {
        name: f'the host that this server is on lacks {what}, so'
        for name, what in found.items()}


def test_what_the_flavor_requires_is_not_asked_again(ask):
    assert ask({'hw_disk_bus': 'scsi'}, keystone_exceptions.ConnectFailure(),
               'allocations', specs={'trait__C': 'required'})


# --- refusals -----------------------------------------------------------------

@pytest.mark.parametrize('names', [NAMES, []])
@pytest.mark.parametrize(('fails', 'at', 'code', 'said'), [
    (exception.NoValidHost(reason='x'), 'select', errors.UNSCHEDULABLE,
     'does not let a server with these image properties be on the host'),
    (oslo_messaging.MessagingTimeout(), 'select',
     errors.SCHEDULER_UNAVAILABLE, 'try again later'),
    (oslo_messaging.MessageDeliveryFailure(), 'select',
     errors.SCHEDULER_UNAVAILABLE, 'nothing has changed'),
    # What one of its filters raises.
    (AttributeError(), 'select', errors.SCHEDULER_UNAVAILABLE, 'the operator'),
    (oslo_messaging.RemoteError('KeyError'), 'select',
     errors.SCHEDULER_UNAVAILABLE, 'the operator'),
    (keystone_exceptions.ConnectFailure(), 'allocations',
     errors.SCHEDULER_UNAVAILABLE, 'did not answer'),
    (exception.ConsumerAllocationRetrievalFailed(
        consumer_uuid='x', error='y'), 'allocations',
     errors.SCHEDULER_UNAVAILABLE, 'did not answer')])
def test_a_refusal_names_the_overrides_or_the_parameter(
        ask, names, fails, at, code, said, monkeypatch):
    logged = []
    monkeypatch.setattr(scheduling.LOG, 'exception', lambda *args, **kwargs:
                        logged.append(args))
    found = refusals.of(ask, {'trait:A': 'required'}, fails, at, names,
                        error=errors.Conflict)
    assert found.keys() == {*(names or [errors.PARAMETER])}
    for found_code, reason in found.values():
        assert found_code == code
        assert said in reason
    assert bool(logged) == (
        at == 'select' and code == errors.SCHEDULER_UNAVAILABLE)


# --- whether Nova asks, too ---------------------------------------------------

@pytest.mark.parametrize(('image_ref', 'volume', 'is_asked'), [
    ('a', None, False), ('b', None, True),
    ('', {'volume_image_metadata': {'image_id': 'a'}}, False),
    ('', {'volume_image_metadata': {'image_id': 'b'}}, True),
    ('', {'volume_image_metadata': {}}, True), ('', {}, True)])
def test_nova_asks_if_the_image_is_another(
        monkeypatch, image_ref, volume, is_asked):
    monkeypatch.setattr(query, 'SchedulerQueryClient', object)
    monkeypatch.setattr(compute_utils, 'get_root_bdm', lambda *args: (
        types.SimpleNamespace(volume_id='v')))
    volumes = types.SimpleNamespace(
        get=lambda context, name: {'v': volume}[name])
    assert scheduling.HostScheduler(None, volumes).is_asked_by_nova(
        'context', objects.Instance(image_ref=image_ref), {'id': 'a'},
    ) is is_asked
