"""Checks: what the tools of tests/clients cannot be made to meet."""

from keystoneauth1 import adapter
import pytest

from nova_image_override import versions
from nova_image_override.client import answers
from nova_image_override.client import transport
from tests.unit.client import adapters

URL, ENTRY, HEADER = adapters.URL, adapters.ENTRY, adapters.HEADER
make = adapters.make

OVERRIDES = {'hw_disk_bus': 'scsi'}
CHECK_URL = URL + versions.CHECK_PATH
TOLD = {'properties': {'hw_disk_bus': 'scsi'}, 'overridden': {},
        'numa_topology': None}


def check(compute, overrides=OVERRIDES, **kwargs):
    return transport.attach(compute).check(
        {'flavorRef': '1'}, overrides, **kwargs)


def test_a_legacy_adapter_checks_too(cloud):
    cloud.post(CHECK_URL, json={'image_props_override': TOLD})
    assert check(make(adapter.LegacyJsonAdapter)) == TOLD


def test_a_check_leaves_the_context_that_it_is_in_alone(cloud, compute):
    cloud.post(CHECK_URL, json={'image_props_override': TOLD})
    with transport.attach(compute).overriding(transport.CREATE, OVERRIDES):
        check(compute, {'hw_pmu': 'true'})
        assert cloud.last_request.json()['server'][
            'image_props_override'] == {'hw_pmu': 'true'}
        compute.post('/servers', json={'server': {}})
    assert cloud.last_request.json()['server'][
        'image_props_override'] == OVERRIDES


def test_a_check_can_ask_for_hosts(cloud, compute):
    told = {**TOLD, 'hosts': {
        'possible': False, 'in_the_way': {}, 'not_asked': []}}
    cloud.post(CHECK_URL, json={'image_props_override': told})
    assert check(compute, hosts=True) == told
    assert cloud.last_request.json() == {'hosts': True, 'server': {
        'flavorRef': '1', 'image_props_override': OVERRIDES}}


def test_a_refusal_of_nova_s_own_has_its_message_only(cloud, compute):
    cloud.post(CHECK_URL, status_code=400, json={
        'badRequest': {'code': 400, 'message': 'no such flavor'}})
    with pytest.raises(answers.Refused, match='no such flavor') as caught:
        check(compute)
    assert caught.value.problems == ()


@pytest.mark.parametrize(('answer', 'reason'), [
    ({'status_code': 503, 'json': {'fault': {'message': 'x'}}}, '503'),
    ({'status_code': 404, 'text': '<html>'}, '404'),
    ({'status_code': 400, 'json': []}, '400'),
    ({'status_code': 400, 'json': {'badRequest': {}}}, '400'),
    ({'status_code': 400, 'json': {'badRequest': {
        'message': 'x', 'image_props_override': ['hw_pmu']}}}, '400'),
    ({'json': {}}, 'cannot be read'),
    ({'text': 'no JSON'}, 'cannot be read'),
])
def test_what_is_no_answer_to_a_check_is_an_error(
        cloud, compute, answer, reason):
    cloud.post(CHECK_URL, **answer)
    with pytest.raises(answers.Error, match=(
            'Cannot check what the request would get: POST '
            f'{versions.CHECK_PATH} .*{reason}')):
        check(compute)
