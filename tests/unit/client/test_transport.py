"""What goes over the adapters, through real keystoneauth."""

import hypothesis
from hypothesis import strategies
from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ksa_exceptions
from keystoneauth1 import noauth
import pytest
import requests
import requests_mock

from nova_image_override import versions
from nova_image_override.client import answers
from nova_image_override.client import transport
from tests.unit.client import adapters

URL, ENTRY, HEADER = adapters.URL, adapters.ENTRY, adapters.HEADER
discovered, make = adapters.discovered, adapters.make

OVERRIDES = {'hw_disk_bus': 'scsi'}
CHECK_UPDATE = transport.UPDATE._replace(checks=True)


def create(compute, overrides=OVERRIDES, **kwargs):
    with transport.attach(compute).overriding(transport.CREATE, overrides):
        compute.post('/servers', json={'server': {'name': 'x'}}, **kwargs)


def test_a_client_without_a_session_is_named():
    """python-novaclient's, in the place of openstacksdk's proxy."""
    with pytest.raises(answers.NotAvailable, match=r'7\.1 or newer'):
        transport.attach(object())


# --- what is added -----------------------------------------------------------


def test_the_body_gets_one_key_and_the_tool_s_own_is_not_changed(
        cloud, compute):
    body = {'server': {'name': 'x'}}
    with transport.attach(compute).overriding(transport.CREATE, OVERRIDES):
        compute.post('/servers', json=body)
    assert cloud.last_request.json() == {
        'server': {'name': 'x', 'image_props_override': OVERRIDES}}
    assert body == {'server': {'name': 'x'}}


@hypothesis.given(strategies.dictionaries(
    strategies.text(), strategies.none() | strategies.text()))
def test_names_and_values_go_out_as_they_are(overrides):
    with requests_mock.Mocker() as cloud:
        cloud.get(URL + versions.PATH, **discovered())
        cloud.post(f'{URL}/servers', json={})
        create(make(), overrides)
        sent = cloud.last_request.json()['server']['image_props_override']
    assert sent == overrides


@pytest.mark.parametrize(('kwargs', 'version'), [
    ({}, ENTRY),
    ({'microversion': '2.90'}, f'compute 2.90, {ENTRY}'),
    ({'microversion': (2, 90)}, f'compute 2.90, {ENTRY}'),
    ({'microversion': 'latest'}, f'compute latest, {ENTRY}'),
    ({'headers': {HEADER: 'compute 2.50'}}, f'compute 2.50, {ENTRY}'),
    ({'headers': {HEADER.lower(): 'compute 2.50'}, 'microversion': '2.90'},
     f'compute 2.50, {ENTRY}'),
])
def test_our_entry_stands_beside_nova_s(cloud, compute, kwargs, version):
    create(compute, **kwargs)
    assert cloud.last_request.headers[HEADER] == version


def test_the_adapter_s_own_microversion_counts(cloud):
    create(make(default_microversion='2.61'))
    assert cloud.last_request.headers[HEADER] == f'compute 2.61, {ENTRY}'


def test_the_legacy_header_stays_as_keystoneauth_makes_it(cloud, compute):
    create(compute, microversion='2.90')
    assert cloud.last_request.headers[
        'X-OpenStack-Nova-API-Version'] == '2.90'


def test_a_legacy_adapter_carries_them_too(cloud):
    compute = make(adapter.LegacyJsonAdapter)
    with transport.attach(compute).overriding(transport.REBUILD, {}):
        compute.post('/servers/id/action', body={'rebuild': {}})
    assert cloud.last_request.json() == {
        'rebuild': {'image_props_override': {}}}


@pytest.mark.parametrize('overrides', [None, {}, OVERRIDES])
@pytest.mark.parametrize(('action', 'method', 'key'), [
    (transport.CREATE, 'POST', 'server'), (transport.UPDATE, 'PUT', 'server'),
    (transport.REBUILD, 'POST', 'rebuild')])
def test_a_preset_goes_out_with_overrides_or_without(
        cloud, compute, overrides, action, method, key):
    cloud.register_uri(method, f'{URL}/any', json={})
    with transport.attach(compute).overriding(action, overrides, 'windows'):
        compute.request('/any', method, json={key: {'name': 'x'}})
    assert cloud.last_request.json() == {key: {
        'name': 'x', 'image_props_override_preset': 'windows',
        **({} if overrides is None else {'image_props_override': overrides})}}
    assert cloud.last_request.headers[HEADER] == ENTRY


@pytest.mark.parametrize(('names', 'preset', 'query'), [
    (['hw_pmu', 'hw_disk_bus'], None,
     'image_props_override=hw_pmu&image_props_override=hw_disk_bus'),
    (None, 'windows', 'image_props_override_preset=windows'),
    (['hw_pmu'], 'windows', 'image_props_override=hw_pmu&'
     'image_props_override_preset=windows')])
@pytest.mark.parametrize('path', ['/servers', '/servers/detail'])
def test_a_list_has_them_in_its_query(
        cloud, compute, path, names, preset, query):
    cloud.get(f'{URL}{path}', json={'servers': []})
    with transport.attach(compute).overriding(transport.LIST, names, preset):
        compute.get(path, params={'limit': 1})
        compute.get(f'{URL}{path}?limit=1')
    for request in cloud.request_history[1:]:
        assert request.query == f'limit=1&{query}'
        assert request.headers[HEADER] == ENTRY


@pytest.mark.parametrize(('action', 'method', 'path', 'key', 'server'), [
    (transport.CHECK, 'POST', '/servers', 'server', {}),
    (transport.CHECK_REBUILD, 'POST', '/servers/1/action', 'rebuild',
     {'id': '1'}),
    # As openstacksdk has it.
    (transport.CHECK_REBUILD, 'POST', 'servers/1/action', 'rebuild',
     {'id': '1'}),
    (CHECK_UPDATE, 'PUT', '/servers/1', 'server', {'id': '1'})])
def test_a_request_ends_in_a_check_which_names_a_server_that_exists(
        cloud, compute, action, method, path, key, server):
    told = {'properties': {}, 'overridden': {}, 'numa_topology': None}
    checked = cloud.post(URL + versions.CHECK_PATH, json={
        'image_props_override': told})
    with transport.attach(compute).overriding(action, OVERRIDES) as asking:
        compute.request(path, method, json={key: {'name': 'x'}})
        pytest.fail('the request went on')
    assert asking.checked == told
    assert checked.last_request.json() == {key: {
        **server, 'name': 'x', 'image_props_override': OVERRIDES}}


def test_only_a_check_of_a_rebuild_can_ask_for_nothing(compute):
    for action in (transport.CHECK, CHECK_UPDATE, transport.REBUILD):
        with pytest.raises(TypeError), transport.attach(
                compute).overriding(action, None):
            pytest.fail('the request went on')


@pytest.mark.parametrize(('asked', 'body'), [
    ((None, None), {}),
    ((None, 'x'), {'image_props_override_preset': 'x'}),
    ((OVERRIDES, None), {'image_props_override': OVERRIDES})])
def test_the_check_of_a_rebuild_goes_where_nothing_is_rebuilt(
        cloud, compute, asked, body):
    checked = cloud.post(URL + versions.CHECK_PATH, json={
        'image_props_override': {'properties': {}}})
    assert transport.attach(compute).check_rebuild('1', 'i', *asked) == {
        'properties': {}}
    assert checked.last_request.json() == {
        'rebuild': {'id': '1', 'imageRef': 'i', **body}}


# --- what is left alone ------------------------------------------------------


@pytest.mark.parametrize(('method', 'body'), [
    ('PUT', {'server': {}}), ('POST', {'rebuild': {}}), ('POST', []),
    ('POST', {'server': None}), ('POST', {'os-start': None}),
])
def test_other_requests_in_the_context_carry_none(
        cloud, compute, method, body):
    cloud.register_uri(method, f'{URL}/other', json={})
    with transport.attach(compute).overriding(transport.CREATE, OVERRIDES):
        compute.request('/other', method, json=body)
        assert cloud.last_request.json() == body
        compute.post('/servers', json={'server': {}})


@pytest.mark.parametrize('path', ['/servers/id', '/flavors/detail'])
def test_what_is_no_list_of_servers_is_not_filtered(cloud, compute, path):
    cloud.get(URL + path, json={})
    cloud.get(f'{URL}/servers', json={})
    with transport.attach(compute).overriding(transport.LIST, ['hw_pmu']):
        compute.get(path)
        assert cloud.last_request.query == ''
        compute.get('/servers')


def test_a_failure_in_the_context_leaves_nothing_behind(cloud, compute):
    overriding_adapter = transport.attach(compute)
    with (pytest.raises(ZeroDivisionError),
          overriding_adapter.overriding(transport.CREATE, OVERRIDES)):
        raise ZeroDivisionError
    compute.post('/servers', json={'server': {}})
    assert cloud.last_request.json() == {'server': {}}
    assert HEADER not in cloud.last_request.headers


def test_another_adapter_of_the_same_session_is_left_alone(cloud, compute):
    other = adapter.Adapter(compute.session, service_type='compute')
    with transport.attach(compute).overriding(transport.CREATE, OVERRIDES):
        other.post('/servers', json={'server': {}})
        assert cloud.last_request.json() == {'server': {}}
        compute.post('/servers', json={'server': {}})


def test_attaching_again_changes_nothing(compute):
    assert transport.attach(compute) is transport.attach(compute)
    assert not isinstance(
        compute.session._session, transport.OverridingSession)


# --- what is an error --------------------------------------------------------


@pytest.mark.parametrize(('action', 'asked'), [
    (transport.CREATE, (OVERRIDES, None)), (transport.CREATE, (None, 'a')),
    (transport.LIST, (['a'], None)), (transport.CHECK, ({}, None))])
def test_overrides_that_no_request_carried_are_an_error(
        cloud, compute, action, asked):
    with (pytest.raises(answers.NotSent, match='were NOT sent'),
          transport.attach(compute).overriding(action, *asked)):
        compute.post('/servers', data='{"server": {}}')


@pytest.mark.parametrize('overrides', [None, 'hw_disk_bus=scsi', ['a'], 1])
def test_what_is_not_a_mapping_is_an_error(cloud, compute, overrides):
    with pytest.raises(TypeError, match='image_props_override must map'):
        create(compute, overrides)
    assert not cloud.called


def test_a_cloud_without_the_extension_is_an_error(cloud, compute):
    cloud.get(URL + versions.PATH, status_code=404)
    for _ in range(2):
        with pytest.raises(
            answers.NotAvailable, match='This cloud does not take'
        ):
            create(compute)
    assert [request.method for request in cloud.request_history] == ['GET']


@pytest.mark.parametrize(('answer', 'reason'), [
    ({'status_code': 500}, 'answered 500'),
    ({'status_code': 403}, 'answered 403'),
    *((answer, 'cannot be read: ') for answer in (
        {'text': 'no JSON'}, {'json': []}, {'json': {}},
        {'json': {'image_props_override': {}}},
        discovered(low='one'), discovered(low=None), discovered(schema=None))),
])
def test_an_answer_that_cannot_be_read_is_an_error_and_no_request(
        cloud, compute, answer, reason):
    cloud.get(URL + versions.PATH, **answer)
    with pytest.raises(answers.Error, match=(
            f'Cannot find out whether .*GET {versions.PATH} {reason}')):
        create(compute)
    assert {request.method for request in cloud.request_history} == {'GET'}


def test_the_cloud_is_asked_again_after_a_failure_only(cloud, compute):
    cloud.get(URL + versions.PATH, [{'status_code': 503}, discovered()])
    overriding_adapter = transport.attach(compute)
    with pytest.raises(answers.Error):
        overriding_adapter.discover()
    assert overriding_adapter.discover() is overriding_adapter.discover()
    assert cloud.call_count == 2


# --- what is in force --------------------------------------------------------


SHOWN = {'image_props_override': OVERRIDES,
         'image_props_override_preset': {'name': 'a', 'digest': '0'}}


@pytest.mark.parametrize('answer', [
    {'server': {'id': 'id', 'name': 'x', **SHOWN}},
    {'servers': [{'id': 'id', **SHOWN}, {'id': 'another', 'name': 'x'}]}])
def test_servers_show_in_a_context_what_is_in_force(cloud, compute, answer):
    cloud.get(f'{URL}/servers/id', json=answer)
    with transport.attach(compute).showing() as asking:
        compute.get('/servers/id')
    assert asking.seen == {'id': SHOWN}
    assert cloud.last_request.headers[HEADER] == ENTRY
    compute.get('/servers/id')
    assert HEADER not in cloud.last_request.headers


def test_a_nova_api_from_before_presets_shows_the_overrides(cloud, compute):
    cloud.get(f'{URL}/servers/id', json={
        'server': {'id': 'id', 'image_props_override': OVERRIDES}})
    with transport.attach(compute).showing() as asking:
        compute.get('/servers/id')
    assert asking.seen == {'id': {
        'image_props_override': OVERRIDES, 'image_props_override_preset': None}}


@pytest.mark.parametrize('answer', [
    {'status_code': 404}, {'text': 'no JSON'}, {'json': {'server': {}}},
    {'json': []}])
def test_other_answers_show_nothing(cloud, compute, answer):
    cloud.get(f'{URL}/servers/id', **answer)
    with transport.attach(compute).showing() as asking:
        compute.get('/servers/id', raise_exc=False)
    assert asking.seen == {}


def test_naming_names_the_extension_in_every_request(cloud, compute):
    cloud.get(f'{URL}/servers', json={})
    transport.attach(compute).naming = True
    compute.get('/servers', microversion='2.90')
    assert cloud.last_request.headers[HEADER] == f'compute 2.90, {ENTRY}'
    compute.get('/servers')
    assert cloud.last_request.headers[HEADER] == ENTRY
    # Discovery itself is requested once, and without the entry.
    assert [HEADER in r.headers for r in cloud.request_history] == [
        False, True, True]


UNANSWERED = [
    *({'status_code': status} for status in (403, 404, 500, 503)),
    {'text': 'no JSON'}, {'json': {}}, discovered('7.0', '7.3'),
    *({'exc': exc} for exc in (
        requests.exceptions.ConnectTimeout, requests.exceptions.ReadTimeout,
        requests.exceptions.ConnectionError, requests.exceptions.SSLError,
        requests.exceptions.ContentDecodingError)),
]


@pytest.mark.parametrize('answer', UNANSWERED)
def test_naming_asks_other_clouds_once_and_does_not_stand_in_the_way(
        cloud, compute, answer):
    asked = cloud.get(URL + versions.PATH, **answer)
    listed = cloud.get(f'{URL}/servers', json={})
    transport.attach(compute).naming = True
    for _ in range(3):
        compute.get('/servers', microversion='2.90')
        assert cloud.last_request.headers[HEADER] == 'compute 2.90'
    assert (asked.call_count, listed.call_count) == (1, 3)


@pytest.mark.parametrize('answer', [
    answer for answer in UNANSWERED if answer != {'status_code': 404}])
def test_naming_begins_when_one_who_asks_for_overrides_is_answered(
        cloud, compute, answer):
    cloud.get(URL + versions.PATH, [answer, discovered()])
    cloud.get(f'{URL}/servers', json={})
    transport.attach(compute).naming = True
    compute.get('/servers')
    assert HEADER not in cloud.last_request.headers
    create(compute)
    compute.get('/servers')
    assert cloud.last_request.headers[HEADER] == ENTRY


@pytest.mark.parametrize('query', [
    '?all_tenants=1&image_props_override=hw_pmu',
    '?image_props_override_preset', {'image_props_override': 'hw_pmu'}])
@pytest.mark.parametrize('answer', UNANSWERED)
def test_naming_lists_no_servers_by_a_filter_that_nova_would_ignore(
        cloud, compute, answer, query):
    cloud.get(URL + versions.PATH, **answer)
    listed = cloud.get(f'{URL}/servers/detail', json={})
    transport.attach(compute).naming = True
    path, params = ('', query) if isinstance(query, dict) else (query, {})
    for _ in range(2):
        with pytest.raises(answers.Error):
            compute.get('/servers/detail' + path, params=params)
    assert not listed.called
    compute.get('/servers/detail', params={'name': 'image_props_override'})
    assert listed.call_count == 1


@pytest.mark.parametrize(
    'answer', [answer for answer in UNANSWERED if 'exc' in answer])
def test_who_asks_for_overrides_is_told_that_the_cloud_did_not_answer(
        cloud, compute, answer):
    cloud.get(URL + versions.PATH, **answer)
    for _ in range(2):
        with pytest.raises(answers.Error, match=(
                f'Cannot find out whether .*GET {versions.PATH} failed: .')):
            create(compute)
    assert {request.method for request in cloud.request_history} == {'GET'}
    assert cloud.call_count == 2


def test_the_credentials_that_are_refused_are_the_tool_s_own_error(
        cloud, compute):
    class Refused(noauth.NoAuth):
        def get_headers(self, session, **kwargs):
            raise ksa_exceptions.Unauthorized

    compute.session.auth = Refused(endpoint=URL)
    transport.attach(compute).naming = True
    with pytest.raises(ksa_exceptions.Unauthorized):
        compute.get('/servers')
    assert not cloud.called
