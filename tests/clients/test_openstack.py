"""python-openstackclient with overrides."""

import json
import re

from nova.compute import api as compute_api
import pytest

from nova_image_override import versions
from tests.clients import tools
from tests.clients.commands import CREATE
from tests.clients.commands import created
from tests.clients.commands import OF_IMAGE
from tests.clients.commands import overriding

ENTRY = f'{versions.SERVICE_TYPE} {versions.MAX}'
EVACUATE = [('--os-cloud', 'admin', 'server', 'evacuate')
            ] if tools.EVACUATES else []


@pytest.fixture
def no_evacuation(monkeypatch):
    """The cloud has one host only, so nova-api accepts one and does nothing."""
    monkeypatch.setattr(
        compute_api.API, 'evacuate', lambda *args, **kwargs: None)


def create_request(client):
    (request,) = client.seen.compute('POST')
    assert request.path == '/compute/v2.1/servers'
    return request


def compute_version(request):
    """Return Nova's entry of the header, whose neighbour must be ours."""
    nova, ours = request.version.split(', ')
    assert ours == ENTRY
    return nova


# --- create ------------------------------------------------------------------


def test_the_guest_is_built_with_the_overrides_of_the_request(client, cloud):
    server = created(client, *overriding(
        'hw_disk_bus=scsi', 'os_command_line=a=b=c', 'hw_rng_model='))
    request = create_request(client)
    assert request.body['server']['image_props_override'] == {
        'hw_disk_bus': 'scsi', 'os_command_line': 'a=b=c',
        'hw_rng_model': None}
    assert re.fullmatch('compute 2[.][0-9]+', compute_version(request))
    assert f'compute {request.legacy_version}' == compute_version(request)
    built = cloud.system_metadata(server)
    assert built['os_command_line'] == 'a=b=c'
    assert 'hw_rng_model' not in built
    assert cloud.guest(server).find('devices/disk/target').get('bus') == 'scsi'


@pytest.mark.parametrize('version', ['2.1', '2.90'])
def test_the_compute_version_stays_the_user_s_choice(client, cloud, version):
    created(client, '--os-compute-api-version', version,
            *overriding('hw_disk_bus=scsi'))
    assert compute_version(create_request(client)) == f'compute {version}'


def test_without_the_option_requests_are_as_they_ever_were(client, cloud):
    server = created(client)
    assert versions.SERVICE_TYPE not in create_request(client).version
    assert 'image_props_override' not in create_request(client).body['server']
    assert not [request for request in client.seen.compute()
                if request.path.endswith(versions.PATH)]
    assert cloud.record(server) == {}


def test_a_refusal_names_everything_and_creates_nothing(client, cloud):
    message = client.refused(
        *CREATE, *overriding('hw_disk_bus=floppy', 'vm_mode=hvm'), 'guest')
    first, second = message.splitlines()
    assert first.startswith('hw_disk_bus: invalid_value: must be one of ')
    assert second == 'vm_mode: legacy_name: legacy name, use hw_vm_mode'
    assert client.openstack('server', 'list', '-f', 'json').strip() == '[]'


def test_another_refusal_of_such_a_create_has_no_url_either(client):
    message = client.refused(
        *CREATE, *overriding('hw_disk_bus=scsi'), '--property', 'a=b',
        '--availability-zone', 'nowhere', 'guest')
    assert message.strip() == 'The requested availability zone is not available'


def test_a_filter_that_is_refused_is_told_without_a_url(client):
    message = client.refused('server', 'list', *overriding('hw_no_such'))
    assert 'hw_no_such' in message
    assert '://' not in message


def test_an_abbreviated_command_does_not_drop_the_option_in_silence(client):
    message = client.refused(
        'server', 'crea', *CREATE[2:], *overriding('hw_disk_bus=scsi'),
        'guest')
    assert 'unrecognized arguments: --image-prop-override' in message


def test_help_shows_the_options(client):
    for command in ('create', 'rebuild', 'set', 'list'):
        shown = client.openstack('help', 'server', command)
        assert shown.count('--image-prop-override-preset <name>') == 2
        assert shown.count('--image-prop-override <key') == 2


# --- a cloud without the extension -------------------------------------------


def test_unmodified_nova_is_asked_for_nothing_that_it_does_not_know(
        plain_client, cloud):
    server = cloud.boot()
    one = overriding('hw_disk_bus=scsi')
    for command in (
            [*CREATE, *one, 'guest'], [*CREATE, '--dry-run', 'guest'],
            [*CREATE, '--image-prop-override-preset', 'windows', 'guest'],
            ['server', 'rebuild', *one, server],
            ['server', 'set', *one, server],
            ['server', 'set', '--no-image-prop-override', server],
            ['server', 'unset', *overriding('hw_disk_bus'), server],
            ['server', 'list', *overriding('hw_disk_bus')],
            OF_IMAGE, ['image', 'override', 'list'],
            ['image', 'override', 'preset', 'list'],
            ['image', 'override', 'preset', 'show', 'windows']):
        assert plain_client.refused(*command) == (
            'This cloud does not take image property overrides: it does not '
            'have nova-image-override.\n'), command
        assert plain_client.seen.compute('POST') == []
        assert plain_client.seen.compute('PUT') == []
        assert [request for request in plain_client.seen.compute('GET')
                if request.path.endswith('/servers/detail')] == []


@pytest.mark.parametrize('is_hooked', [False, True])
def test_unmodified_nova_shows_no_row(
        plain_client, hooked_plain_clouds, cloud, is_hooked, no_evacuation):
    hooked = {'OS_CLIENT_CONFIG_FILE': str(hooked_plain_clouds)}
    for command in (*CREATE, '--wait'), ('server', 'show'), *EVACUATE:
        rows = plain_client.openstack(
            *command, 'guest', **hooked if is_hooked else {})
        assert '| guest ' in rows
        assert 'image_props_override' not in rows


# --- a cloud in trouble ------------------------------------------------------


def test_show_shows_the_server_and_warns_of_what_it_cannot_know(
        troubled_client, cloud):
    created(troubled_client)
    done = troubled_client.run('openstack', 'server', 'show', 'guest',
                               '-f', 'json')
    assert json.loads(done.stdout)['name'] == 'guest'
    assert 'image_props_override' not in json.loads(done.stdout)
    assert 'Cannot find out whether this cloud takes' in done.stderr
    assert f'GET {versions.PATH} answered 503' in done.stderr


def test_overrides_are_not_sent_to_a_cloud_that_does_not_say_it_takes_them(
        troubled_client):
    message = troubled_client.refused(
        *CREATE, *overriding('hw_disk_bus=scsi'), 'guest')
    assert 'Cannot find out whether this cloud takes' in message
    assert troubled_client.seen.compute('POST') == []


# --- rebuild -----------------------------------------------------------------


@pytest.fixture
def server(client, cloud):
    return created(client, *overriding('hw_boot_menu=true'))


def test_rebuild_keeps_replaces_and_drops_the_overrides(client, cloud, server):
    def rebuilt(*arguments):
        client.openstack('server', 'rebuild', '--wait', *arguments, server)
        (request,) = client.seen.compute('POST')
        return (request.body['rebuild'].get('image_props_override'),
                cloud.record(server))

    assert rebuilt() == (None, {'hw_boot_menu': None})
    assert rebuilt(*overriding('hw_video_model=vga')) == (
        {'hw_video_model': 'vga'}, {'hw_video_model': None})
    assert compute_version(client.seen.compute('POST')[0]).startswith(
        'compute 2.')
    assert rebuilt('--no-image-prop-override') == ({}, {})


# --- show and list -----------------------------------------------------------


def shown(client, *arguments, **environment):
    return client.openstack(
        'server', 'show', 'guest', '-c', 'image_props_override', *arguments,
        **environment)


def test_show_has_a_row_with_the_overrides(client, cloud):
    created(client, *overriding('hw_disk_bus=scsi', 'hw_rng_model='))
    assert " hw_disk_bus='scsi', hw_rng_model= " in shown(client)
    assert json.loads(shown(client, '-f', 'json')) == {
        'image_props_override': {'hw_disk_bus': 'scsi', 'hw_rng_model': None}}


def test_a_server_without_overrides_has_an_empty_row(client, cloud):
    created(client)
    assert json.loads(shown(client, '-f', 'json')) == {
        'image_props_override': {}}


def test_with_the_vendor_hook_no_row_of_a_command_without_our_options_is_none(
        client, cloud, hooked_clouds):
    for command in (*CREATE, '--wait', 'guest'), ('server', 'show', 'guest'), (
            'server', 'rebuild', '--wait', 'guest'):
        rows = client.openstack(
            *command, OS_CLIENT_CONFIG_FILE=str(hooked_clouds))
        assert '| guest ' in rows
        assert not re.search('image_props_override.* None ', rows), rows


def test_with_the_vendor_hook_there_are_the_same_rows(
        client, cloud, hooked_clouds, server, no_evacuation):
    for command in (
            ('server', 'show'), ('server', 'rebuild', '--wait'), *EVACUATE):
        assert " hw_boot_menu='true' " in client.openstack(
            *command, 'guest', OS_CLIENT_CONFIG_FILE=str(hooked_clouds))


@pytest.mark.parametrize('command', EVACUATE, ids=' '.join)
def test_evacuate_has_the_row_of_show(client, server, no_evacuation, command):
    assert " hw_boot_menu='true' " in client.openstack(*command, 'guest')


def test_the_list_has_what_the_caller_may_override(client):
    rows = {row['Property']: row for row in json.loads(client.openstack(
        'image', 'override', 'list', '-f', 'json'))}
    assert rows['hw_boot_menu'] == {
        'Property': 'hw_boot_menu', 'Type': 'boolean',
        'Values': ['true', 'false']}
    assert rows['hw_numa_nodes']['Values'] == [
        'an integer from 1 to 128']
    assert rows['hw_mem_page_size']['Values'] == [
        'small, large, any, a number of KiB, or a number with KB, MB or GB']
    assert {'hw_numa_mem.N', 'trait:NAME'} <= rows.keys()
    # The demo's rules deny it.
    assert 'hw_machine_type' not in rows
    assert 'img_signature' not in rows


def test_the_list_has_the_properties_that_are_named_or_described(client):
    names = client.openstack(
        'image', 'override', 'list', 'hw_numa_nodes', 'hw_numa_mem.3',
        '*_bus', 'hugepages', '-f', 'value', '-c', 'Property').split()
    assert names == ['hw_cdrom_bus', 'hw_disk_bus', 'hw_floppy_bus',
                     'hw_input_bus', 'hw_mem_page_size', 'hw_numa_mem.N',
                     'hw_numa_nodes', 'hw_rescue_bus']


def test_what_is_not_offered_is_named_with_what_may_have_been_meant(client):
    assert client.refused(
        'image', 'override', 'list', 'hw_machine_type', 'hw_numa_nodes',
        'hw_nothing', 'hw_disk_buss').strip() == (
            'You may not override hw_machine_type, hw_nothing, hw_disk_buss '
            '(did you mean hw_disk_bus?)')


def test_the_long_list_describes_each(client):
    rows = {row['Property']: row for row in json.loads(client.openstack(
        'image', 'override', 'list', '--long', '-f', 'json'))}
    assert rows['hw_boot_menu']['Removable'] == 'yes'
    assert rows['hw_boot_menu']['Description'].startswith('Show the firmware')
    assert re.search(rows['hw_numa_mem.N']['Names'], 'hw_numa_mem.7')


# --- an interactive session, and other releases ------------------------------


def test_a_failed_create_leaves_nothing_behind_in_a_session(client, cloud):
    create = ' '.join(CREATE)
    client.run('openstack', text='\n'.join([
        f'{create} --image-prop-override hw_disk_bus=floppy refused',
        f'{create} --image-prop-override hw_disk_bus=scsi --image no never',
        f'{create} --wait plain',
        f'{create} --wait --image-prop-override hw_boot_menu=true other',
        'quit']) + '\n')
    refused, plain, other = client.seen.compute('POST')
    assert refused.body['server']['image_props_override'] == {
        'hw_disk_bus': 'floppy'}
    assert plain.body['server']['name'] == 'plain'
    assert 'image_props_override' not in plain.body['server']
    assert versions.SERVICE_TYPE not in plain.version
    assert other.body['server']['image_props_override'] == {
        'hw_boot_menu': 'true'}


#: A python-openstackclient that has the option itself, and sends it in its own
#: way.
FUTURE = '''
import sys
from openstackclient import shell
from openstackclient.compute.v2 import server

class Future(server.CreateServer):
    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('--image-prop-override', action='append')
        return parser

    def take_action(self, parsed_args):
        return ('overrides',), (parsed_args.image_prop_override,)

server.CreateServer = Future
sys.exit(shell.main(sys.argv[1:]))
'''


def test_the_hook_steps_back_when_the_command_has_the_option(client):
    said = client.python(
        FUTURE, *CREATE, *overriding('a=1', 'a=2'), '-f', 'json', 'guest')
    assert json.loads(said) == {'overrides': ['a=1', 'a=2']}


def test_the_environment_has_neither_nova_nor_its_libraries(client):
    client.python('''
import importlib.util
for name in ('nova', 'oslo_policy', 'oslo_versionedobjects', 'jsonschema'):
    assert importlib.util.find_spec(name) is None, name
''')


# --- completion --------------------------------------------------------------

_COMPLETED = '''
source "$(python -c 'import sys; print(sys.prefix)')\
/share/nova-image-override/openstack.bash"
_openstack() { COMPREPLY=(from openstack complete); }
for COMP_LINE in "$@"; do
    COMP_POINT=${#COMP_LINE}
    _openstack_image_prop_override
    echo "${COMPREPLY[*]}"
done
'''

_AT_CREATE = 'openstack server create --image-prop-override '


def completed(client, *lines):
    done = client.run('bash', '-c', _COMPLETED, 'bash', *lines)
    return dict(zip(lines, done.stdout.splitlines()))


def test_bash_completes_names_and_values_that_the_cloud_permits(client):
    expected = {
        _AT_CREATE + 'hw_dis': 'hw_disk_bus=',
        _AT_CREATE + 'hw_disk_bus=s': 'sata scsi',
        _AT_CREATE + 'hw_numa_': 'hw_numa_cpus. hw_numa_mem. hw_numa_nodes=',
        _AT_CREATE + 'tr': 'trait:',
        'openstack image override check --image x hw_firmware_type=u': 'uefi',
        'openstack server list --image-prop-override hw_disk_b': 'hw_disk_bus',
        'openstack server rebuild --image-prop-override-preset wi': 'windows',
        # What is not permitted, and what only a description has.
        _AT_CREATE + 'hw_mach': '',
        _AT_CREATE + 'hw_cpu_sockets=': '',
        'openstack server create --image ': 'from openstack complete',
        _AT_CREATE + '--ima': 'from openstack complete'}
    assert completed(client, *expected) == expected


def test_the_cloud_is_asked_once_in_each_shell(client):
    completed(client, _AT_CREATE + 'hw_dis', _AT_CREATE + 'hw_video')
    assert len([request for request in client.seen.compute('GET')
                if request.path.endswith(versions.PATH)]) == 1


def test_a_shell_whose_first_question_failed_asks_again(client, tmp_path):
    done = client.run('bash', '-c', """
        openstack() {
            [[ ! -e $LATER ]] || command openstack "$@"
            touch "$LATER"
        }
    """ + _COMPLETED, 'bash', *[_AT_CREATE + 'hw_dis'] * 2,
        LATER=str(tmp_path / 'later'))
    assert done.stdout.splitlines() == ['', 'hw_disk_bus=']


def test_without_the_extension_nothing_is_completed(plain_client):
    assert completed(plain_client, _AT_CREATE + 'hw_dis') == {
        _AT_CREATE + 'hw_dis': ''}


# --- finding properties ------------------------------------------------------

def test_one_property_is_shown(client):
    shown = json.loads(client.openstack(
        'image', 'override', 'show', 'hw_disk_bus', '-f', 'json'))
    assert shown['property'] == 'hw_disk_bus'
    assert 'virtio' in shown['values'] and shown['removable'] == 'yes'


@pytest.mark.parametrize(('name', 'why'), [
    ('hw_disk_buss', 'unknown: not an image property that Nova reads, did you '
                     'mean hw_disk_bus?'),
    ('vm_mode', 'legacy_name: legacy name, use hw_vm_mode'),
    ('img_owner_id', 'never: describes the image itself'),
    ('hw_machine_type', 'denied: denied by this cloud'),
    ('hw_disk_type', "none of this cloud's hosts acts on it. Disk format"),
    ('virtio', 'unknown: ')])
def test_why_a_property_cannot_be_overridden_is_said(client, name, why):
    refused = client.refused('image', 'override', 'show', name)
    assert refused.startswith(f'You may not override {name}: {why}')


@pytest.mark.parametrize(('name', 'why'), [
    ('hw_boot_menu', 'not_allowed: not one of the properties that this cloud '
                     'allows'),
    ('hw_disk_type', 'value_not_allowed: this cloud does not allow removing '
                     'it, only setting it to sparse, which another rule '
                     'closes or no host acts on: "openstack image override')])
def test_a_list_that_closes_a_property_is_named(client_of_a_list, name, why):
    refused = client_of_a_list.refused('image', 'override', 'show', name)
    assert refused.startswith(f'You may not override {name}: {why}')


def test_metadata_with_the_name_of_an_image_property_is_warned_of(client):
    words = ('server', 'create', '--dry-run', '--image', 'debian', '--flavor',
             'two-cpus', 'guest', '--property')
    done = client.run('openstack', *words, 'hw_disk_bus=scsi',
                      '--property', 'hw_numa_mem.0=1', '--property', 'a=b')
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        '--property sets metadata of the server, which overrides no image '
        'property: for hw_disk_bus, hw_numa_mem.0, use --image-prop-override']
    assert client.run('openstack', *words, 'a=b').stderr == ''
