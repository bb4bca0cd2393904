"""Presets through openstack, openstacksdk and nova."""

import json

import pytest

from tests.clients import commands
from tests.clients import programs

OPTION = '--image-prop-override-preset'
OWN = '--image-prop-override'
PRESET = 'image_props_override_preset'
PARAMETER = 'image_props_override'

WINDOWS = {'hw_firmware_type': 'uefi', 'hw_vif_model': 'e1000e',
           'hw_video_model': 'virtio', 'os_type': 'windows'}
LEGACY = {'hw_firmware_type': 'bios', 'hw_disk_bus': 'ide',
          'hw_rng_model': None, 'hw_vif_model': 'e1000'}


def used(cloud, server):
    """Return the name of a server's preset, and the overrides."""
    shown = cloud.http('GET', f'/servers/{server}').body['server']
    return shown[PRESET] and shown[PRESET]['name'], shown[PARAMETER]


def sent(client, method='POST', key='server'):
    """Return our parameters in the one request with such a method."""
    (request,) = client.seen.compute(method)
    return {name: value for name, value in request.body[key].items()
            if name.startswith(PARAMETER)}


def stopped(client, cloud, *arguments):
    server = commands.created(client, *arguments)
    client.openstack('server', 'stop', server)
    cloud.wait(server, 'SHUTOFF')
    return server


# --- openstack: what there is ------------------------------------------------


def test_the_list_has_the_presets_that_the_caller_may_use(client):
    assert json.loads(client.openstack(
        'image', 'override', 'preset', 'list', '-f', 'json')) == [
        {'Name': 'legacy-bios-ide', 'Flavors': [], 'Description':
         'An old system that knows neither UEFI nor virtio'},
        {'Name': 'nfv-2m-pinned', 'Flavors': ['nfv'], 'Description':
         'Pinned CPUs, and memory in pages of 2 MiB'},
        {'Name': 'windows', 'Flavors': [], 'Description':
         'Windows 11, or Windows Server 2022 and newer'}]
    assert 'nfv-realtime' in client.openstack(
        '--os-cloud', 'admin', 'image', 'override', 'preset', 'list')


def test_a_preset_is_shown_with_its_properties(client):
    shown = ('image', 'override', 'preset', 'show', 'legacy-bios-ide')
    assert json.loads(client.openstack(*shown, '-f', 'json')) == {
        'name': 'legacy-bios-ide', 'properties': LEGACY, 'flavors': [],
        'description': 'An old system that knows neither UEFI nor virtio'}
    assert " hw_disk_bus='ide', " in client.openstack(*shown)


@pytest.mark.parametrize('name', ['nfv-realtime', 'a b'])
def test_a_preset_that_the_caller_cannot_use_is_not_shown(client, name):
    message = client.refused('image', 'override', 'preset', 'show', name)
    assert message.startswith('This cloud offers you no preset ')
    assert message.endswith(', but legacy-bios-ide, nfv-2m-pinned, windows.\n')


# --- openstack: create, show and list ----------------------------------------


def test_a_server_is_created_with_a_preset(client, cloud):
    server = commands.created(client, OPTION, 'windows')
    assert sent(client) == {PRESET: 'windows'}
    assert used(cloud, server) == ('windows', WINDOWS)
    assert cloud.guest(server).find('devices/video/model').get(
        'type') == 'virtio'


def test_what_is_overridden_besides_wins(client, cloud):
    server = commands.created(
        client, OPTION, 'windows', OWN, 'hw_video_model=vga',
        OWN, 'hw_vif_model=')
    assert sent(client) == {PRESET: 'windows', PARAMETER: {
        'hw_video_model': 'vga', 'hw_vif_model': None}}
    assert used(cloud, server) == ('windows', {
        'hw_firmware_type': 'uefi', 'hw_video_model': 'vga',
        'os_type': 'windows'})


def test_create_and_show_have_a_row_with_the_name_and_programs_the_digest(
        client, cloud):
    said = client.openstack(
        *commands.CREATE, '--wait', OPTION, 'windows', 'guest')
    assert f'| {PRESET} | windows |' in ' '.join(said.split())
    shown = json.loads(client.openstack(
        'server', 'show', 'guest', '-f', 'json'))
    assert shown[PRESET]['name'] == 'windows'
    assert len(shown[PRESET]['digest']) == 64
    assert shown[PARAMETER] == WINDOWS


def test_a_server_without_one_shows_none(client, cloud):
    commands.created(client, OWN, 'hw_video_model=vga')
    assert json.loads(client.openstack(
        'server', 'show', 'guest', '-f', 'json', '-c', PRESET)) == {
        PRESET: None}
    assert f'| {PRESET} |  ' in client.openstack(
        'server', 'show', 'guest', '-c', PRESET)


def test_a_list_has_the_servers_with_a_preset(client, cloud):
    commands.created(client, OPTION, 'windows')
    cloud.boot({'hw_video_model': 'virtio'})

    def listed(*arguments):
        return json.loads(client.openstack(
            'server', 'list', *arguments, '-f', 'json'))

    (row,) = listed(OPTION, 'windows', '--long')
    assert row['Name'] == 'guest'
    assert row['Image Prop Override Preset']['name'] == 'windows'
    assert row['Image Prop Overrides'] == WINDOWS
    assert [each['Name'] for each in listed(
        OPTION, 'windows', OWN, 'hw_video_model')] == ['guest']
    assert listed(OPTION, 'windows', OWN, 'hw_disk_bus') == []
    assert listed(OPTION, 'legacy-bios-ide') == []
    assert len(listed(OWN, 'hw_video_model')) == 2


# --- openstack: check, rebuild and set ---------------------------------------


def test_a_check_takes_one_with_what_is_overridden_besides(client):
    told = commands.answer(
        client, *commands.OF_IMAGE, OPTION, 'windows', 'hw_video_model=vga')
    assert sent(client) == {
        PRESET: 'windows', PARAMETER: {'hw_video_model': 'vga'}}
    assert {name: each['value'] for name, each in told[
        'overridden'].items()} == {**WINDOWS, 'hw_video_model': 'vga'}


def test_rebuild_replaces_by_a_preset_keeps_it_and_drops_it(client, cloud):
    server = commands.created(client, OWN, 'hw_boot_menu=true')

    def rebuilt(*arguments):
        client.openstack('server', 'rebuild', '--wait', *arguments, server)
        return used(cloud, server)

    assert rebuilt(OPTION, 'windows') == ('windows', WINDOWS)
    assert sent(client, key='rebuild') == {PRESET: 'windows'}
    assert rebuilt() == ('windows', WINDOWS)
    assert rebuilt(OPTION, 'windows', OWN, 'hw_video_model=vga') == (
        'windows', {**WINDOWS, 'hw_video_model': 'vga'})
    assert rebuilt(OWN, 'hw_boot_menu=true') == (
        None, {'hw_boot_menu': 'true'})
    assert rebuilt(OPTION, 'windows') == ('windows', WINDOWS)
    assert rebuilt('--no-image-prop-override') == (None, {})


def test_set_replaces_all_by_a_preset_and_keeps_what_is_not_named_otherwise(
        client, cloud):
    server = stopped(client, cloud, OWN, 'hw_boot_menu=true')
    client.openstack('server', 'set', OPTION, 'windows', server)
    assert used(cloud, server) == ('windows', WINDOWS)
    client.openstack('server', 'set', OWN, 'hw_video_model=vga', server)
    assert used(cloud, server) == (None, {**WINDOWS, 'hw_video_model': 'vga'})
    client.openstack('server', 'set', OPTION, 'legacy-bios-ide', OWN,
                     'hw_boot_menu=true', '--name', 'other', server)
    assert used(cloud, server) == (
        'legacy-bios-ide', {**LEGACY, 'hw_boot_menu': 'true'})
    assert cloud.http('GET', f'/servers/{server}').body['server'][
        'name'] == 'other'


# --- openstack: refusals -----------------------------------------------------


@pytest.mark.parametrize('command', [
    (*commands.CREATE, 'guest'), commands.OF_IMAGE])
def test_a_preset_that_cannot_be_used_is_refused_by_name(client, command):
    assert client.refused(*command, OPTION, 'Windows') == (
        f'{PRESET}: unknown_preset: this cloud has no preset Windows, did you '
        'mean windows?\n')
    assert client.openstack('server', 'list', '-f', 'value') == ''


def test_what_is_wrong_with_preset_and_properties_is_told_at_once(client):
    assert [line.split(': ')[:2] for line in client.refused(
        *commands.CREATE, OPTION, 'no', OWN, 'vm_mode=hvm',
        'guest').splitlines()] == [
        [PRESET, 'unknown_preset'], ['vm_mode', 'legacy_name']]


def test_a_refused_property_of_a_preset_is_told_to_be_the_preset_s(client):
    message = client.refused(
        *commands.CREATE, OPTION, 'nfv-2m-pinned', 'guest')
    assert message.startswith('hw_mem_page_size: flavor_conflict: of preset '
                              'nfv-2m-pinned: ')


# --- openstacksdk ------------------------------------------------------------


def test_a_program_finds_presets_and_uses_one(run, client, cloud):
    presets, *names = run('''
        preset = dict(image_props_override_preset='windows')
        server = conn.compute.create_server(**basics, **preset)
        names = [server.image_props_override_preset]
        server = conn.compute.wait_for_server(server)
        names += [each.image_props_override_preset for each in (
            server, conn.compute.find_server('guest'),
            *conn.compute.servers(**preset),
            *conn.compute.servers(image_props_override=['hw_disk_bus'],
                                  **preset))]
        conn.create_server(
            'other', image='debian', flavor='two-cpus', network=[],
            auto_ip=False, wait=True, image_props_override={
                'hw_video_model': 'vga'}, **preset)
        names += sorted(each.name for each in conn.compute.servers(**preset))
        names.append(server.to_dict()['image_props_override_preset'])
        print(json.dumps([conn.compute.image_props_override_presets(), *names]))
    ''')
    assert presets['nfv-2m-pinned'].pop('digest')
    assert presets['nfv-2m-pinned'] == {
        'description': 'Pinned CPUs, and memory in pages of 2 MiB',
        'properties': {'hw_cpu_policy': 'dedicated',
                       'hw_mem_page_size': '2048'}, 'flavors': ['nfv']}
    assert 'nfv-realtime' not in presets
    assert names == [None, 'windows', 'windows', 'windows', 'guest', 'other',
                     'windows']
    _, other = commands.creates(client)
    assert other.body['server'][PRESET] == 'windows'
    assert other.body['server'][PARAMETER] == {'hw_video_model': 'vga'}


def test_a_program_checks_rebuilds_and_updates_with_one(run, cloud):
    assert run('''
        preset = dict(image_props_override_preset='legacy-bios-ide')
        told = conn.compute.check_image_props_override(flavor, image, **preset)
        server = conn.compute.wait_for_server(conn.compute.create_server(
            **basics, image_props_override={'hw_boot_menu': 'true'}))
        server = conn.compute.rebuild_server(server, image, **preset)
        says = [sorted(told['overridden']), server.image_props_override_preset]
        server = conn.compute.wait_for_server(server)
        conn.compute.stop_server(server)
        conn.compute.wait_for_server(server, status='SHUTOFF')
        changed = conn.compute.update_server(
            server, image_props_override_preset='windows',
            image_props_override={'hw_video_model': 'vga'}, name='new')
        says += [changed.name, changed.image_props_override_preset,
                 changed.image_props_override]
        changed = conn.compute.update_server(server, image_props_override={})
        says.append(changed.image_props_override_preset)
        print(json.dumps(says))
    ''') == [sorted(LEGACY), 'legacy-bios-ide', 'new', 'windows',
             {**WINDOWS, 'hw_video_model': 'vga'}, None]


@pytest.mark.parametrize(('preset', 'code'), [
    ("'Windows'", 'unknown_preset'), ("{'name': 'windows'}", 'invalid_type')])
def test_a_program_gets_the_refusal(run, client, preset, code):
    raised, message = run(programs.failing(
        f'conn.compute.create_server(**basics, {PRESET}={preset})'))
    assert raised == 'BadRequestException'
    assert f'{PRESET}: {code}: ' in message
