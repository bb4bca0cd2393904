"""Overrides of a server that exists, by openstack and openstacksdk."""

import json

import pytest

from tests.clients import test_openstack

OPTION = '--image-prop-override'
DROP = '--no-image-prop-override'


@pytest.fixture
def server(client, cloud):
    """A stopped server with two overrides."""
    server_id = test_openstack.created(client, *test_openstack.overriding(
        'hw_disk_bus=scsi', 'hw_boot_menu=true'))
    client.openstack('server', 'stop', server_id)
    cloud.wait(server_id, 'SHUTOFF')
    return server_id


def in_force(cloud, server):
    return cloud.http('GET', f'/servers/{server}').body['server'][
        'image_props_override']


def test_set_adds_or_replaces_one(client, cloud, server):
    client.openstack('server', 'set', OPTION, 'hw_disk_bus=ide',
                     OPTION, 'hw_vif_model=e1000', server)
    assert in_force(cloud, server) == {
        'hw_disk_bus': 'ide', 'hw_boot_menu': 'true', 'hw_vif_model': 'e1000'}


def test_set_with_nothing_behind_the_equals_sign_removes_the_property(
        client, cloud, server):
    client.openstack('server', 'set', OPTION, 'hw_rng_model=', server)
    assert in_force(cloud, server)['hw_rng_model'] is None


def test_set_drops_all(client, cloud, server):
    client.openstack('server', 'set', DROP, server)
    assert in_force(cloud, server) == {}


def test_set_drops_all_others(client, cloud, server):
    client.openstack('server', 'set', DROP, OPTION, 'hw_vif_model=e1000',
                     server)
    assert in_force(cloud, server) == {'hw_vif_model': 'e1000'}


def test_set_does_the_rest_of_the_command_too(client, cloud, server):
    client.openstack('server', 'set', OPTION, 'hw_disk_bus=ide',
                     '--name', 'other', server)
    assert cloud.http('GET', f'/servers/{server}').body['server'][
        'name'] == 'other'
    assert in_force(cloud, server)['hw_disk_bus'] == 'ide'


def test_a_refused_set_does_nothing_else(client, cloud, server):
    message = client.refused('server', 'set', OPTION, 'hw_disk_bus=floppy',
                             '--name', 'other', server)
    assert 'hw_disk_bus: invalid_value: must be one of ' in message
    assert cloud.http('GET', f'/servers/{server}').body['server'][
        'name'] == 'guest'
    assert in_force(cloud, server)['hw_disk_bus'] == 'scsi'


def test_a_server_that_runs_is_told_what_to_do(client, cloud):
    server = test_openstack.created(client)
    message = client.refused(
        'server', 'set', OPTION, 'hw_disk_bus=ide', server)
    assert 'wrong_state' in message
    assert 'stop it, or shelve it' in message


def test_set_without_the_option_sends_what_it_ever_sent(client, server):
    client.openstack('server', 'set', '--name', 'other', server)
    (request,) = client.seen.compute('PUT')
    assert request.body['server']['name'] == 'other'
    assert 'image_props_override' not in request.body['server']


def test_unset_drops_one(client, cloud, server):
    client.openstack('server', 'unset', OPTION, 'hw_disk_bus', server)
    assert in_force(cloud, server) == {'hw_boot_menu': 'true'}


def test_unset_of_what_is_not_overridden_is_said(client, cloud, server):
    message = client.refused(
        'server', 'unset', OPTION, 'hw_vif_model', OPTION, 'hw_disk_bus',
        server)
    assert 'The server has no override of hw_vif_model' in message
    assert len(in_force(cloud, server)) == 2


def test_unmodified_nova_is_asked_for_nothing(plain_client, cloud):
    server = cloud.boot()
    for command in (['set', OPTION, 'hw_disk_bus=ide'], ['set', DROP],
                    ['unset', OPTION, 'hw_disk_bus']):
        message = plain_client.refused('server', *command, server)
        assert 'This cloud does not take image property overrides' in message
    assert plain_client.seen.compute('PUT') == []


def test_create_and_rebuild_show_what_is_in_force(client):
    for command in (
            (*test_openstack.CREATE, '--wait', OPTION, 'hw_disk_bus=scsi',
             '-f', 'json', 'guest'),
            ('server', 'rebuild', '--wait', OPTION, 'hw_disk_bus=scsi', '-f',
             'json', 'guest')):
        said = client.openstack(*command)
        shown = json.loads(said[said.index('{'):])
        assert shown['image_props_override'] == {'hw_disk_bus': 'scsi'}


def test_the_long_list_has_a_column_by_one_request(client, server):
    (row,) = json.loads(client.openstack(
        'server', 'list', '--long', '-f', 'json'))
    assert row['Image Prop Overrides'] == {
        'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true'}
    assert len([request for request in client.seen.compute('GET')
                if request.path.endswith('/servers/detail')]) == 1
    assert [request for request in client.seen.compute('GET')
            if server in request.path] == []


def test_the_list_is_as_it_ever_was(client, server):
    (row,) = json.loads(client.openstack('server', 'list', '-f', 'json'))
    assert 'Image Prop Overrides' not in row


def test_the_long_list_of_unmodified_nova_has_no_column(plain_client, cloud):
    cloud.boot()
    (row,) = json.loads(plain_client.openstack(
        'server', 'list', '--long', '-f', 'json'))
    assert 'Image Prop Overrides' not in row


PROGRAM = '''
import json, openstack
conn = openstack.connect()
server = conn.compute.find_server('guest')
{}
'''


@pytest.fixture
def run(client, hooked_clouds):
    """Run lines of a program with a connection; return what it prints."""
    return lambda lines: client.python(
        PROGRAM.format(lines), OS_CLIENT_CONFIG_FILE=str(hooked_clouds))


def test_openstacksdk_updates_overrides(run, cloud, server):
    answer = run(
        "changed = conn.compute.update_server(server, name='other', "
        "image_props_override={'hw_disk_bus': 'ide'})\n"
        "print(json.dumps([changed.name, changed.image_props_override]))")
    assert json.loads(answer) == ['other', {'hw_disk_bus': 'ide'}]
    assert in_force(cloud, server) == {'hw_disk_bus': 'ide'}


def test_openstacksdk_raises_the_refusal_and_updates_nothing(
        run, cloud, server):
    answer = run(
        "try:\n"
        "    conn.compute.update_server(server, name='other', "
        "image_props_override={'hw_numa_nodes': '2'})\n"
        "except openstack.exceptions.ConflictException as exc:\n"
        "    print(exc)")
    assert 'hw_numa_nodes: needs_claim' in answer
    assert len(in_force(cloud, server)) == 2
