"""What the plugin's clients send, and what they accept as an answer."""

import json
import types

import pytest
from tempest.api.compute import base as tempest_base
from tempest.lib import exceptions
from tempest.lib.services.compute import base_compute_client

from nova_image_override import errors
from nova_image_override_tempest_plugin import services
from nova_image_override_tempest_plugin.tests import base

SERVER = {
    'id': '0d1a4e9c-6a3e-4d47-9a36-0c4f8a7b2c11', 'name': 'guest',
    'status': 'ACTIVE', 'image': '', 'flavor': {'id': '1', 'links': []},
    'user_id': 'u', 'tenant_id': 't', 'created': '2026-01-01T00:00:00Z',
    'updated': '2026-01-01T00:00:00Z', 'metadata': {}, 'links': [],
    'addresses': {}, 'hostId': '', 'OS-DCF:diskConfig': 'AUTO',
    'accessIPv4': '', 'accessIPv6': '', 'key_name': None,
    'OS-SRV-USG:launched_at': None, 'OS-SRV-USG:terminated_at': None,
    'OS-EXT-AZ:availability_zone': '', 'OS-EXT-STS:task_state': None,
    'OS-EXT-STS:vm_state': 'active', 'OS-EXT-STS:power_state': 1,
    'os-extended-volumes:volumes_attached': [], 'config_drive': ''}

OFFER = {errors.PARAMETER: {
    'min_version': '1.0', 'max_version': '1.0', 'schema': {
        'type': 'object',
        'properties': {'hw_boot_menu': {'enum': ['true', 'false']}},
        'additionalProperties': False}, 'presets': {}}}


class Auth:
    """An authenticated user."""

    def auth_request(self, method, url, headers=None, body=None, filters=None):
        """Leave the request as it is."""
        return f'http://nova/v2.1/{url}', headers, body

    def base_url(self, filters):
        """Return an address."""
        return 'http://nova/v2.1'

    def get_token(self):
        """Return a token."""
        return 'token'


class Response(dict):
    """The headers of a response, and its status."""

    status = 200


@pytest.fixture
def client(monkeypatch):
    """Make a client of a nova-api that always gives the same answer."""
    def make(kind, answer, status=200):
        result = kind(Auth(), 'compute', 'RegionOne')
        response = Response({'content-type': 'application/json'})
        response.status = status
        result.sent = []

        def raw(url, method, headers=None, body=None, **_):
            result.sent.append(types.SimpleNamespace(
                url=url, method=method, headers=headers, body=body))
            return response, json.dumps(answer)

        monkeypatch.setattr(result, 'raw_request', raw)
        return result

    return make


def shown(overrides, preset=None):
    return {'server': {**SERVER, errors.PARAMETER: overrides,
                       errors.PRESET: preset}}


def test_every_request_names_the_extension(client):
    servers = client(services.ServersClient, shown({}))
    servers.show_server('x')
    assert servers.sent[0].headers[
        'OpenStack-API-Version'] == 'image-props-override 1.0'


def test_the_entry_stands_beside_novas(client, monkeypatch):
    monkeypatch.setattr(base_compute_client, 'COMPUTE_MICROVERSION', '2.90')
    servers = client(services.ServersClient, {})
    assert servers.get_headers()['OpenStack-API-Version'] == (
        'compute 2.90, image-props-override 1.0')


def test_overrides_are_sent_beside_what_tempest_sends(client):
    servers = client(
        services.ServersClient, {'server': {
            'id': SERVER['id'], 'links': [], 'security_groups': [],
            'OS-DCF:diskConfig': 'AUTO', 'adminPass': 'x'}}, status=202)
    servers.create_server(name='guest', image_props_override={'a': None})
    assert json.loads(servers.sent[0].body) == {'server': {
        'name': 'guest', 'image_props_override': {'a': None}}}


def test_overrides_may_be_strings_and_null_and_have_a_preset(client):
    answer = shown({'hw_boot_menu': 'true', 'os_type': None},
                   {'name': 'windows', 'digest': 'abc'})
    assert client(services.ServersClient, answer).show_server('x') == answer


@pytest.mark.parametrize('answer', [
    {'server': SERVER}, shown(None), shown([]), shown({'hw_pmu': True}),
    {'server': {**SERVER, errors.PARAMETER: {}}}, shown({}, 'windows'),
    shown({}, {'name': 'windows'})])
def test_an_answer_that_does_not_show_overrides_is_wrong(client, answer):
    servers = client(services.ServersClient, answer)
    with pytest.raises(exceptions.InvalidHTTPResponseBody):
        servers.show_server('x')


def test_every_server_of_a_list_must_show_them(client):
    servers = client(services.ServersClient, {
        'servers': [shown({})['server'], SERVER]})
    with pytest.raises(exceptions.InvalidHTTPResponseBody):
        servers.list_servers(detail=True)


def test_a_list_without_details_shows_none(client):
    servers = client(services.ServersClient, {
        'servers': [{'id': SERVER['id'], 'name': 'guest', 'links': []}]})
    assert len(servers.list_servers()['servers']) == 1


CHECKED = {errors.PARAMETER: {
    'properties': {'a': 'b'}, 'overridden': {'a': {'value': 'b'}},
    'numa_topology': None}}


def test_a_check_is_asked_with_the_body_of_a_create(client):
    servers = client(services.ServersClient, CHECKED)
    assert servers.check_server(
        imageRef='i', **{errors.PARAMETER: {'a': 'b'}}) == CHECKED
    (sent,) = servers.sent
    assert sent.method == 'POST'
    assert sent.url.endswith('/v2.1/image-props-override/check')
    assert json.loads(sent.body) == {'server': {
        'imageRef': 'i', errors.PARAMETER: {'a': 'b'}}}


def checked(client, told):
    return client(services.ServersClient, {errors.PARAMETER: told}
                  ).check_server(imageRef='i')[errors.PARAMETER]


def test_an_answer_to_a_check_may_leave_out_what_the_reference_says(client):
    told = {**CHECKED[errors.PARAMETER], 'left_out': 1}
    assert checked(client, told) == told
    del told['numa_topology']
    assert checked(client, told) == told


@pytest.mark.parametrize('key', ['overridden', 'properties'])
def test_an_answer_to_a_check_that_lacks_something_is_wrong(client, key):
    told = dict(CHECKED[errors.PARAMETER])
    del told[key]
    with pytest.raises(exceptions.InvalidHTTPResponseBody):
        checked(client, told)


def test_discovery_is_asked_without_naming_the_extension(client):
    discovery = client(services.DiscoveryClient, OFFER)
    assert discovery.show_offer() == OFFER
    assert discovery.sent[0].url.endswith('/v2.1/image-props-override')
    assert 'OpenStack-API-Version' not in discovery.sent[0].headers


@pytest.mark.parametrize('answer', [
    {}, {errors.PARAMETER: {}}, {**OFFER, 'more': 1},
    {errors.PARAMETER: {**OFFER[errors.PARAMETER], 'max_version': 'latest'}}])
def test_another_answer_to_discovery_is_wrong(client, answer):
    discovery = client(services.DiscoveryClient, answer)
    with pytest.raises(exceptions.InvalidHTTPResponseBody):
        discovery.show_offer()


@pytest.fixture
def prepared(client, monkeypatch):
    """Set up the tests' base class for a cloud with this discovery answer."""
    monkeypatch.setattr(
        tempest_base.BaseV2ComputeTest, 'resource_setup',
        classmethod(lambda cls: None))

    def prepare(answer, status=200):
        class Test(base.BaseOverridesTest):
            discovery_client = client(
                services.DiscoveryClient, answer, status)
            servers_client = client(services.ServersClient, {})

        Test.servers_client.version = 'none yet'
        Test.resource_setup()
        return Test

    return prepare


def test_tests_take_what_the_cloud_offers_or_are_skipped(prepared):
    test = prepared(OFFER)
    assert test.servers_client.version == '1.0'
    assert test.some(1) == test.offered == {'hw_boot_menu': 'true'}
    with pytest.raises(test.skipException, match='offers this user 1 of'):
        test.some(2)
    with pytest.raises(test.skipException, match='remove none'):
        test.a_removable()


def test_a_cloud_without_the_extension_fails_and_is_told_why(prepared):
    with pytest.raises(exceptions.InvalidConfiguration, match='answers 404'):
        prepared({'itemNotFound': {'code': 404, 'message': 'no'}}, 404)
