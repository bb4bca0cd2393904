"""openstacksdk with the vendor hook."""

import json
import textwrap

import pytest

from nova_image_override import versions
from tests.clients.commands import creates
from tests.clients.programs import failing
from tests.clients.programs import START


def test_the_proxy_sends_them_beside_the_sdk_s_own_version(run, client, cloud):
    server = run('''
        server = conn.compute.create_server(
            **basics, image_props_override={'hw_disk_bus': 'scsi'})
        conn.compute.wait_for_server(server)
        print(json.dumps(server.id))
    ''')
    (request,) = creates(client)
    assert request.body['server']['image_props_override'] == {
        'hw_disk_bus': 'scsi'}
    assert request.version == (
        f'compute {request.legacy_version}, {versions.SERVICE_TYPE} '
        f'{versions.MAX}')
    assert cloud.system_metadata(server)['hw_disk_bus'] == 'scsi'


def test_servers_show_what_is_in_force_and_only_what_the_cloud_said(run, cloud):
    assert run('''
        server = conn.compute.create_server(
            **basics, image_props_override={'hw_boot_menu': 'YES'})
        says = [server.image_props_override]
        server = conn.compute.wait_for_server(server)
        says += [each.image_props_override for each in (
            server, conn.compute.get_server(server.id),
            conn.compute.find_server('guest'), *conn.compute.servers())]
        print(json.dumps(says))
    ''') == [None, *[{'hw_boot_menu': 'true'}] * 4]


def test_rebuild_replaces_keeps_and_drops(run, cloud):
    assert run('''
        server = conn.compute.create_server(
            **basics, image_props_override={'hw_boot_menu': 'true'})
        says = []
        for asked in ({'hw_video_model': 'vga'}, None, {}):
            server = conn.compute.wait_for_server(server)
            server = conn.compute.rebuild_server(
                server, image, image_props_override=asked)
            says.append(server.image_props_override)
        conn.compute.wait_for_server(server)
        print(json.dumps(says))
    ''') == [{'hw_video_model': 'vga'}, {'hw_video_model': 'vga'}, {}]


def test_the_cloud_layer_takes_them_too(run, cloud):
    assert run('''
        server = conn.create_server(
            'guest', image='debian', flavor='two-cpus', network=[],
            auto_ip=False, wait=True,
            image_props_override={'hw_rng_model': None})
        print(json.dumps(server.image_props_override))
    ''') == {'hw_rng_model': None}


def test_the_proxy_says_what_may_be_overridden(run, client):
    schema = run('print(json.dumps(conn.compute.image_props_overridable()))')
    assert schema['properties']['hw_boot_menu']['enum'] == [
        'true', 'false', None]
    assert 'hw_machine_type' not in schema['properties']


def test_threads_of_one_connection_do_not_mix_up_their_overrides(
        run, client, cloud):
    run('''
        import concurrent.futures

        def create(index):
            overrides = {'hw_cpu_sockets': str(index)} if index else None
            return conn.compute.create_server(
                **{**basics, 'name': f'guest-{index}'},
                image_props_override=overrides).id

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            ids = list(pool.map(create, [0, 1, 2, 0, 1, 2]))
        for server in ids:
            conn.compute.wait_for_server(conn.compute.get_server(server))
        print(json.dumps(ids))
    ''')
    assert len(creates(client)) == 6
    for request in creates(client):
        server = request.body['server']
        index = server['name'][-1]
        assert server.get('image_props_override') == (
            None if index == '0' else {'hw_cpu_sockets': index})


# --- what must not happen ----------------------------------------------------


def test_a_refusal_reaches_the_program_with_every_reason(run, client):
    name, message = run(failing(
        "conn.compute.create_server(**basics, image_props_override="
        "{'hw_disk_bus': 'floppy', 'vm_mode': 'hvm'})"))
    assert name == 'BadRequestException'
    assert 'hw_disk_bus: invalid_value' in message
    assert 'vm_mode: legacy_name' in message


def test_values_that_are_not_strings_are_left_to_the_server(run, client):
    name, message = run(failing(
        'conn.compute.create_server('
        "**basics, image_props_override={'hw_numa_nodes': 2})"))
    assert name == 'BadRequestException'
    assert 'hw_numa_nodes: invalid_type: must be a string' in message


@pytest.mark.parametrize('call', [
    'create_server(**basics, image_props_override={})',
    "create_server(**basics, image_props_override_preset='windows')",
    'rebuild_server("id", image, image_props_override={})',
    'update_server("id", image_props_override={})',
    "servers(image_props_override=['hw_disk_bus'])",
    'image_props_overridable()', 'image_props_override_presets()',
    'check_image_props_override(flavor, image)'])
def test_a_cloud_without_the_extension_is_an_error_that_programs_expect(
        plain_client, hooked_plain_clouds, call):
    name, message = json.loads(plain_client.python(
        START + failing(f'conn.compute.{call}'),
        OS_CLIENT_CONFIG_FILE=str(hooked_plain_clouds)))
    assert name == 'SDKException'
    assert 'This cloud does not take image property overrides' in message
    assert plain_client.seen.compute('POST') == []
    assert plain_client.seen.compute('PUT') == []


def test_a_cloud_without_the_extension_serves_everything_else(
        plain_client, hooked_plain_clouds):
    assert json.loads(plain_client.python(START + textwrap.dedent('''
        server = conn.compute.wait_for_server(
            conn.compute.create_server(**basics))
        print(json.dumps(server.image_props_override))
    '''), OS_CLIENT_CONFIG_FILE=str(hooked_plain_clouds))) is None
    assert not [request for request in plain_client.seen.compute()
                if versions.SERVICE_TYPE in (request.version or '')]


def test_a_cloud_in_trouble_serves_everything_else(
        troubled_client, hooked_troubled_clouds):
    assert json.loads(troubled_client.python(
        START + 'print(json.dumps([each.name for each in '
        'conn.compute.servers()]))',
        OS_CLIENT_CONFIG_FILE=str(hooked_troubled_clouds))) == []


def test_a_hook_that_does_not_fit_stops_the_connection(client, hooked_clouds):
    done = client.run(
        'python', '-c',
        'import openstack.compute.compute_service as service\n'
        'del service.ComputeService\n' + START,
        OS_CLIENT_CONFIG_FILE=str(hooked_clouds))
    assert done.returncode != 0
    assert 'HookFailed: nova-image-override does not fit' in done.stderr
    assert client.seen.compute() == []
