"""Overrides of an existing server, through openstack and openstacksdk."""

import functools
import json

import pytest

from testing.harness import base
from tests.clients import commands
from tests.clients import programs

OPTION = '--image-prop-override'
DROP = '--no-image-prop-override'


@pytest.fixture
def server(client, cloud):
    """A stopped server with two overrides."""
    server_id = commands.created(client, *commands.overriding(
        'hw_disk_bus=scsi', 'hw_boot_menu=true'))
    client.openstack('server', 'stop', server_id)
    cloud.wait(server_id, 'SHUTOFF')
    return server_id


def in_force(cloud, server):
    return cloud.http('GET', f'/servers/{server}').body['server'][
        'image_props_override']


def test_set_adds_replaces_removes_and_drops(client, cloud, server):
    for arguments, expected in (
            ([OPTION, 'hw_disk_bus=ide', OPTION, 'hw_rng_model='],
             {'hw_disk_bus': 'ide', 'hw_boot_menu': 'true',
              'hw_rng_model': None}),
            ([DROP, OPTION, 'hw_vif_model=e1000'], {'hw_vif_model': 'e1000'}),
            ([DROP], {})):
        client.openstack('server', 'set', *arguments, server)
        assert in_force(cloud, server) == expected


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


@pytest.mark.parametrize(('words', 'why'), [
    (['--os-compute-api-version', '2.1', 'server', 'set', OPTION,
      'hw_disk_bus=ide', '--hostname', 'other'], '2.90'),
    (['server', 'set', DROP, '--property', 255 * 'x' + 'x=y'], 'metadata'),
    (['server', 'set', DROP, '--state', 'active'],
     '--state does not go with options of overrides'),
    (['--os-compute-api-version', '2.1', 'server', 'unset', OPTION,
      'hw_disk_bus', '--description'], '2.19')])
def test_overrides_stay_where_the_rest_of_the_command_is_refused(
        client, cloud, server, words, why):
    before = in_force(cloud, server)
    assert why in client.refused(*words, server)
    assert in_force(cloud, server) == before


def test_a_refused_unset_does_nothing_else(client, cloud):
    server = commands.created(
        client, *commands.overriding('hw_disk_bus=scsi'), '--property', 'a=b')
    assert 'wrong_state' in client.refused(
        'server', 'unset', OPTION, 'hw_disk_bus', '--property', 'a', server)
    assert cloud.http('GET', f'/servers/{server}').body['server'][
        'metadata'] == {'a': 'b'}


def test_a_server_that_runs_is_told_what_to_do(client, cloud):
    server = commands.created(client)
    message = client.refused(
        'server', 'set', OPTION, 'hw_disk_bus=ide', server)
    assert 'wrong_state' in message
    assert 'stop it, or shelve it' in message


def test_set_without_the_option_sends_what_it_ever_sent(client, server):
    client.openstack('server', 'set', '--name', 'other', server)
    (request,) = client.seen.compute('PUT')
    assert request.body['server']['name'] == 'other'
    assert 'image_props_override' not in request.body['server']


def test_unset_drops_one_and_says_what_is_not_overridden(
        client, cloud, server):
    message = client.refused(
        'server', 'unset', OPTION, 'hw_vif_model', OPTION, 'hw_disk_bus',
        server)
    assert 'The server has no override of hw_vif_model' in message
    assert len(in_force(cloud, server)) == 2
    client.openstack('server', 'unset', OPTION, 'hw_disk_bus', server)
    assert in_force(cloud, server) == {'hw_boot_menu': 'true'}


def test_create_and_rebuild_show_what_is_in_force(client):
    for command in (
            (*commands.CREATE, '--wait', OPTION, 'hw_disk_bus=scsi',
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
    (row,) = json.loads(client.openstack('server', 'list', '-f', 'json'))
    assert 'Image Prop Overrides' not in row


def test_the_long_list_of_unmodified_nova_has_no_column(plain_client, cloud):
    cloud.boot()
    (row,) = json.loads(plain_client.openstack(
        'server', 'list', '--long', '-f', 'json'))
    assert 'Image Prop Overrides' not in row


def ordered(run, *arguments):
    return [row['Name'] for row in json.loads(run(
        'server', 'list', *arguments, '-f', 'json'))]


def listed(run, *arguments):
    return set(ordered(run, *arguments))


def test_a_list_has_only_servers_that_override_all_that_is_named(
        client, cloud, server):
    cloud.boot()
    other = cloud.create({'hw_disk_bus': 'scsi'}, server={'name': 'vm'})
    cloud.wait(other.body['server']['id'])
    # Newest first; those of the same second come in any order.
    order = ordered(client.openstack)
    overridden = [name for name in order if name != 'test']
    after_test = set(order[order.index('test') + 1:])
    for arguments, names in (
            ([], {'guest', 'test', 'vm'}),
            ([OPTION, 'hw_disk_bus'], {'guest', 'vm'}),
            ([OPTION, 'hw_disk_bus', '--long'], {'guest', 'vm'}),
            ([OPTION, 'hw_disk_bus', OPTION, 'hw_boot_menu'], {'guest'}),
            ([OPTION, 'hw_disk_bus', '--name', 'vm'], {'vm'}),
            # A marker is found by its name, whatever it overrides.
            ([OPTION, 'hw_disk_bus', '--marker', 'test'], after_test),
            ([OPTION, 'hw_disk_bus', '--limit', '1'], {overridden[0]}),
            ([OPTION, 'hw_pmu'], set())):
        assert listed(client.openstack, *arguments) == names, arguments


def test_pages_of_such_a_list_are_followed(client, cloud, server):
    for name in ('second', 'third'):
        answer = cloud.create({'hw_disk_bus': 'scsi'}, server={'name': name})
        cloud.wait(answer.body['server']['id'])
    everything = base.CONF.api.max_limit
    cloud.flags(group='api', max_limit=1)
    try:
        found = listed(client.openstack, OPTION, 'hw_disk_bus')
    finally:
        cloud.flags(group='api', max_limit=everything)
    assert found == {'guest', 'second', 'third'}
    assert len([request for request in client.seen.compute('GET')
                if request.path.endswith('/servers/detail')]) > 2


#: As openstacksdk documents it, in a file that outlives a command.
CACHE = """
cache:
  class: dogpile.cache.dbm
  arguments: {{filename: {}}}
  expiration: {{compute.servers.detail: 600}}
"""


def test_a_filter_and_the_cache_of_openstacksdk_do_not_know_of_each_other(
        client, server, tmp_path):
    clouds = tmp_path / 'clouds.yaml'
    clouds.write_text(
        client.clouds.read_text() + CACHE.format(tmp_path / 'cache'))
    run = functools.partial(
        client.openstack, OS_CLIENT_CONFIG_FILE=str(clouds))
    assert listed(run, OPTION, 'hw_pmu') == set()
    assert listed(run) == {'guest'}
    assert listed(run, OPTION, 'hw_disk_bus') == {'guest'}


def test_openstacksdk_updates_overrides_or_raises_the_refusal(
        run, cloud, server):
    name, message = run(programs.failing(
        "conn.compute.update_server(conn.compute.find_server('guest'), "
        "name='other', image_props_override={'hw_numa_nodes': '2'})"))
    assert name == 'ConflictException'
    assert 'hw_numa_nodes: needs_claim' in message
    assert len(in_force(cloud, server)) == 2
    assert run('''
        changed = conn.compute.update_server(
            conn.compute.find_server('guest'), name='other',
            image_props_override={'hw_disk_bus': 'ide'})
        print(json.dumps([changed.name, changed.image_props_override]))
    ''') == ['other', {'hw_disk_bus': 'ide'}]
    assert in_force(cloud, server) == {'hw_disk_bus': 'ide'}


def test_openstacksdk_lists_those_that_override_a_property(
        run, cloud, server):
    cloud.boot()
    scsi = cloud.create({'hw_disk_bus': 'scsi'}, server={'name': 'scsi'})
    cloud.wait(scsi.body['server']['id'])
    assert run('''
        print(json.dumps([[each.name for each in conn.compute.servers(
            details=details, image_props_override=names, limit=1)]
            for details in (True, False) for names in (
                ['hw_disk_bus'], ['hw_disk_bus', 'hw_boot_menu'], ['hw_pmu'])]))
    ''') == 2 * [['scsi', 'guest'], ['guest'], []]


# --- dry runs ----------------------------------------------------------------

def test_a_dry_run_of_set_prints_the_tables_and_sets_nothing(
        client, cloud, server):
    told = client.openstack(
        'server', 'set', '--dry-run', OPTION, 'hw_disk_bus=ide',
        '--name', 'other', server)
    assert [line.split()[1:4:2] for line in told.splitlines()
            if ' hw_disk_bus ' in line] == [['hw_disk_bus', 'ide']]
    assert '| Property ' in told
    shown = cloud.http('GET', f'/servers/{server}').body['server']
    assert shown['name'] != 'other'
    assert shown['image_props_override']['hw_disk_bus'] == 'scsi'


def test_a_dry_run_of_a_rebuild_prints_the_tables_and_rebuilds_nothing(
        client, cloud, server):
    told = client.openstack(
        'server', 'rebuild', '--dry-run', '--wait', OPTION, 'hw_disk_bus=ide',
        server)
    assert '| Property ' in told and 'hw_boot_menu' not in told
    assert in_force(cloud, server) == {
        'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true'}
    answer = json.loads(client.openstack(
        'server', 'rebuild', '--dry-run', '-f', 'json', server))
    assert answer['overridden'].keys() == {'hw_disk_bus', 'hw_boot_menu'}
    assert cloud.http('GET', f'/servers/{server}').body['server'][
        'status'] == 'SHUTOFF'


@pytest.mark.parametrize(('command', 'code'), [
    ('set', 'needs_claim'), ('rebuild', 'numa_change')])
def test_a_refused_dry_run_is_the_refusal_of_the_command_itself(
        client, cloud, server, command, code):
    before = in_force(cloud, server)
    words = ('server', command, OPTION, 'hw_numa_nodes=2', server)
    refused = client.refused(*words)
    assert f'hw_numa_nodes: {code}: ' in refused
    assert client.refused(*words, '--dry-run') == refused
    assert in_force(cloud, server) == before
