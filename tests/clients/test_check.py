"""Asking what a create would get, through openstack and openstacksdk."""

import json
import re

import pytest

from nova_image_override import versions
from nova_image_override.cmd import explain
from testing.site import volumes
from tests.clients import programs
from tests.clients.commands import answer
from tests.clients.commands import CHECK
from tests.clients.commands import CREATE
from tests.clients.commands import created
from tests.clients.commands import OF_IMAGE
from tests.clients.commands import overriding

OF_VOLUME = (*CHECK, '--volume', volumes.NAME)


def check_request(client):
    (request,) = client.seen.compute('POST')
    assert request.path == f'/compute/v2.1{versions.CHECK_PATH}'
    return request


# --- openstack ---------------------------------------------------------------


def test_the_answer_says_what_the_guest_would_be_built_from(client, cloud):
    told = answer(client, *OF_IMAGE, 'hw_disk_bus=scsi', 'hw_rng_model=',
                  'hw_numa_nodes=2', 'os_command_line=a=b')
    assert check_request(client).body['server']['image_props_override'] == {
        'hw_disk_bus': 'scsi', 'hw_rng_model': None, 'hw_numa_nodes': '2',
        'os_command_line': 'a=b'}
    assert told['overridden']['hw_disk_bus'] == {
        'value': 'scsi', 'image_value': 'virtio'}
    assert told['overridden']['hw_rng_model']['value'] is None
    assert [node['memory_mb'] for node in told['numa_topology']['nodes']] == [
        512, 512]
    server = created(client, *overriding(
        'hw_disk_bus=scsi', 'hw_rng_model=', 'hw_numa_nodes=2',
        'os_command_line=a=b'))
    built = cloud.system_metadata(server)
    assert told['properties'].items() <= built.items()


def test_a_dry_run_of_a_create_is_the_check_of_all_that_it_would_send(client):
    told = answer(client, *CREATE, '--dry-run', '--wait', '--property', 'a=b',
                  *overriding('hw_disk_bus=scsi'), 'guest')
    sent = check_request(client).body['server']
    assert (sent['name'], sent['metadata']) == ('guest', {'a': 'b'})
    assert told == answer(client, *OF_IMAGE, 'hw_disk_bus=scsi')
    assert json.loads(client.openstack('server', 'list', '-f', 'json')) == []


def test_a_dry_run_tells_in_every_format_how_much_its_answer_left_out(
        client, cloud):
    words = ('server', 'create', '--dry-run', '--image', cloud.image(
        **{f'x_{n}': 'y' * 200 for n in range(400)}), '--flavor', 'two-cpus',
             'guest')
    count = answer(client, *words)['left_out']
    assert count > 0
    for written in 'yaml', 'value', 'table':
        assert re.search(rf'\b{count}\b', client.openstack(
            *words, '-f', written)), written


@pytest.mark.parametrize('is_hooked', [False, True])
def test_a_refused_dry_run_has_a_line_for_each_reason(
        client, hooked_clouds, is_hooked):
    done = client.run(
        'openstack', *CREATE, '--dry-run',
        *overriding('hw_disk_bus=null', 'hw_boot_menu=maybe'), 'guest', **({
            'OS_CLIENT_CONFIG_FILE': str(hooked_clouds)} if is_hooked else {}))
    assert done.returncode == 1
    assert [line.split(': ')[:2] for line in done.stderr.splitlines()] == [
        ['hw_boot_menu', 'invalid_value'], ['hw_disk_bus', 'invalid_value']]


def test_a_dry_run_needs_no_override(client):
    assert answer(
        client, *CREATE, '--dry-run', 'guest')['overridden'] == {}
    assert check_request(client).body['server']['image_props_override'] == {}


@pytest.mark.parametrize('words', [
    ['--image-prop-override', 'hw_disk_bus=scsi', 'hw_rng_model='],
    ['hw_disk_bus=scsi', '--image-prop-override', 'hw_rng_model='],
    ['--image-prop-override', 'hw_disk_bus=scsi',
     '--image-prop-override', 'hw_rng_model=']])
def test_overrides_are_taken_bare_and_as_a_create_takes_them(client, words):
    answer(client, *OF_IMAGE, *words)
    assert check_request(client).body['server']['image_props_override'] == {
        'hw_disk_bus': 'scsi', 'hw_rng_model': None}


def test_the_table_has_properties_and_then_numa_nodes(client):
    shown = client.openstack(
        *OF_IMAGE, 'hw_disk_bus=scsi', 'hw_rng_model=', 'hw_numa_nodes=1')
    rows = [[cell.strip() for cell in line.strip('|').split('|')]
            for line in shown.splitlines() if line.startswith('|')]
    assert rows[0] == ['Property', 'Value', 'Image Value', 'Drivers']
    assert ['hw_disk_bus', 'scsi', 'virtio', ''] in rows
    assert ['hw_rng_model', 'null', 'virtio', ''] in rows
    assert ['os_distro', 'debian', 'debian', ''] in rows
    assert [row[0] for row in rows[1:-2]] == sorted(
        row[0] for row in rows[1:-2])
    assert rows[-2][:4] == [
        'NUMA Node', 'CPUs', 'Dedicated CPUs', 'Memory MB']
    assert rows[-1][:4] == ['0', '0-1', '', '1024']


def test_columns_and_other_formats_are_of_the_properties(client):
    asked = (*OF_IMAGE, 'hw_numa_nodes=1', '-c', 'Property', '-c', 'Value')
    assert 'hw_numa_nodes 1' in client.openstack(*asked, '-f', 'value')
    assert 'NUMA' not in client.openstack(*asked)
    assert 'NUMA' not in client.openstack(*OF_IMAGE, 'hw_disk_bus=scsi')
    assert answer(client, *OF_IMAGE, 'hw_numa_nodes=1', '-c',
                  'numa_topology').keys() == {'numa_topology'}


def test_nothing_needs_to_be_overridden(client):
    assert answer(client, *OF_IMAGE) == {
        'properties': {'kernel_id': answer(client, *OF_IMAGE)[
            'properties']['kernel_id'], 'hw_disk_bus': 'virtio',
            'hw_rng_model': 'virtio', 'os_distro': 'debian'},
        'overridden': {}, 'numa_topology': None}


def test_the_compute_version_is_that_of_a_create(client, cloud):
    client.openstack(*OF_IMAGE, 'hw_disk_bus=scsi')
    checked = check_request(client).version
    created(client, *overriding('hw_disk_bus=scsi'))
    (create,) = client.seen.compute('POST')
    assert checked == create.version
    client.openstack('--os-compute-api-version', '2.1', *OF_IMAGE,
                     'hw_disk_bus=scsi')
    assert check_request(client).version.startswith('compute 2.1, ')


@pytest.mark.parametrize('named', ['name', 'id'])
def test_a_volume_can_be_booted_from(client, cloud, named):
    volume = (volumes.NAME if named == 'name'
              else cloud.cinder.IMAGE_BACKED_VOL)
    told = answer(client, *CHECK, '--volume', volume, 'hw_disk_bus=scsi')
    sent = check_request(client).body['server']
    assert 'imageRef' not in sent
    assert sent['block_device_mapping_v2'] == [{
        'boot_index': 0, 'source_type': 'volume',
        'destination_type': 'volume',
        'uuid': cloud.cinder.IMAGE_BACKED_VOL}]
    assert told['properties'] == {'hw_disk_bus': 'scsi'}


# --- what is refused ---------------------------------------------------------


@pytest.mark.parametrize('is_hooked', [False, True])
def test_each_problem_is_a_line_and_the_exit_status_1(
        client, hooked_clouds, is_hooked):
    done = client.run(
        'openstack', *OF_IMAGE, 'hw_disk_bus=floppy', 'vm_mode=hvm', **({
            'OS_CLIENT_CONFIG_FILE': str(hooked_clouds)} if is_hooked else {}))
    assert (done.returncode, done.stdout) == (1, '')
    assert [line.partition(': must')[0]
            for line in done.stderr.splitlines()] == [
        'hw_disk_bus: invalid_value',
        'vm_mode: legacy_name: legacy name, use hw_vm_mode']


@pytest.mark.parametrize(('override', 'line'), [
    ('hw_machine_type=q35', 'hw_machine_type: denied: '),
    ('hw_cpu_sockets=3', 'hw_cpu_sockets: no_effect: '),
    ('hw_numa_nodes=3', 'hw_numa_nodes: flavor_conflict: ')])
def test_every_kind_of_refusal_is_shown(client, override, line):
    done = client.run('openstack', *OF_VOLUME, override)
    assert (done.returncode, done.stdout) == (1, '')
    assert done.stderr.startswith(line)
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(('arguments', 'reason'), [
    ((*CHECK, 'hw_disk_bus=scsi'), '--image --volume is required'),
    ((*OF_IMAGE, '--volume', 'v', 'a=b'), 'not allowed with'),
    ((*OF_IMAGE[:3], '--image', 'debian', 'a=b'), '--flavor'),
    ((*OF_IMAGE, 'a=1', *overriding('a=2')), 'a is given twice'),
    ((*OF_IMAGE, '--image', 'other'), 'argument --image: is given twice'),
    ((*OF_IMAGE, '--flavor', 'nfv'), 'argument --flavor: is given twice'),
    ((*OF_VOLUME, '--volume', 'v'), 'argument --volume: is given twice'),
    ((*OF_IMAGE, 'hw_disk_bus'), "write 'hw_disk_bus' as KEY=VALUE"),
    ((*CREATE, '--hosts', 'guest'), '--hosts needs --dry-run'),
    (('server', 'set', '--dry-run', '--name', 'other', 'guest'),
     '--dry-run of server set needs --image-prop-override, '),
    ((*CREATE, *overriding('a=', 'a=1'), 'guest'),
     'argument --image-prop-override: a is given twice'),
    (('server', 'rebuild', '--no-image-prop-override', *overriding('a=1'),
      'guest'), 'not allowed with argument'),
    *((('server', *words, *overriding('a=1')),
       'takes the name of a property, a, without a value')
      for words in (['list'], ['unset', 'guest']))])
def test_a_wrong_command_is_refused_before_nova_is_asked(
        client, arguments, reason):
    assert reason in client.refused(*arguments)
    assert client.seen.compute() == []


@pytest.mark.parametrize('arguments', [
    (*CHECK[:3], '--image', 'debian', '--flavor', 'nothing'),
    (*CHECK, '--image', 'nothing'), (*CHECK, '--volume', 'nothing')])
def test_what_is_not_there_is_named(client, arguments):
    assert 'nothing' in client.refused(*arguments, 'hw_disk_bus=scsi')
    assert client.seen.compute('POST') == []


# --- openstacksdk ------------------------------------------------------------


def test_a_program_gets_the_whole_answer(run, client):
    told = run('''
        print(json.dumps(conn.compute.check_image_props_override(
            flavor, image, {'hw_disk_bus': 'scsi', 'hw_numa_nodes': '2'})))
    ''')
    assert check_request(client).version.endswith(
        f', {versions.SERVICE_TYPE} {versions.MAX}')
    assert told['properties']['hw_disk_bus'] == 'scsi'
    assert len(told['numa_topology']['nodes']) == 2


def test_a_program_may_pass_what_it_has_found(run, client, cloud):
    told = run('''
        print(json.dumps([
            conn.compute.check_image_props_override(
                conn.compute.find_flavor('two-cpus'),
                conn.image.find_image('debian')),
            conn.compute.check_image_props_override(
                flavor, image_props_override={'hw_disk_bus': 'scsi'},
                block_device_mapping=[{
                    'boot_index': 0, 'source_type': 'volume',
                    'destination_type': 'volume', 'uuid': 'VOLUME'}])]))
    '''.replace('VOLUME', cloud.cinder.IMAGE_BACKED_VOL))
    assert told[0]['overridden'] == {}
    assert told[1]['properties'] == {'hw_disk_bus': 'scsi'}


def test_a_check_of_a_server_says_what_its_update_and_rebuild_would_get(
        run, cloud):
    told, *raised, kept = run('''
        server = conn.compute.wait_for_server(conn.compute.create_server(
            **basics, image_props_override={'hw_disk_bus': 'scsi'}))
        asked = {'image_props_override': {'hw_disk_bus': 'ide'}}
        told = [conn.compute.check_server_image_props_override(
            server, image, **asked)]
        for call in (conn.compute.check_server_image_props_override,
                     conn.compute.update_server):
            try:
                call(server, **asked)
            except Exception as exc:
                told.append([type(exc).__name__, exc.details])
        told.append(conn.compute.get_server(server.id).image_props_override)
        print(json.dumps(told))
    ''')
    assert told['overridden'] == {
        'hw_disk_bus': {'value': 'ide', 'image_value': 'virtio'}}
    # It is running.
    assert raised[0][0] == 'ConflictException' and raised[0][1]
    assert raised[0] == raised[1]
    assert kept == {'hw_disk_bus': 'scsi'}


def test_a_refused_check_raises_what_a_create_raises(run, cloud):
    overrides = "{'hw_disk_bus': 'floppy', 'vm_mode': 'hvm'}"
    raised = [run(programs.failing(call)) for call in (
        f'conn.compute.check_image_props_override(flavor, image, {overrides})',
        'conn.compute.create_server(**basics, '
        f'image_props_override={overrides})')]
    assert [name for name, _ in raised] == ['BadRequestException'] * 2
    reasons = [text.partition(', Invalid')[2] for _, text in raised]
    assert 'vm_mode: legacy_name' in reasons[0]
    assert reasons[0] == reasons[1]


@pytest.mark.parametrize(('arguments', 'name'), [
    ("flavor, 'no such image', {'hw_disk_bus': 'scsi'}",
     'BadRequestException'),
    ("'no such flavor', image", 'BadRequestException'),
    ("flavor, image, 'hw_disk_bus=scsi'", 'TypeError')])
def test_what_a_program_gets_wrong_is_told(run, arguments, name):
    assert run(programs.failing(
        f'conn.compute.check_image_props_override({arguments})'))[0] == name


# --- what operators take from openstack --------------------------------------


def test_explain_can_read_what_openstack_prints(client, tmp_path):
    path = tmp_path / 'image.json'
    path.write_text(client.openstack('image', 'show', 'debian', '-f', 'json'))
    assert {'hw_disk_bus': 'virtio', 'hw_rng_model': 'virtio',
            'os_distro': 'debian'}.items() <= explain.image_properties(
                str(path)).items()
