"""In, to the next package and Nova, and out again, as the documentation has it.

Each test begins where the one before it ended, as install/first-override.rst,
upgrade.rst and remove.rst have them.
Tenants boot, stop, start, rebuild and delete servers all the time.
"""

import json
import subprocess

import pytest

from nova_image_override import errors
from testing.deployment import command
from testing.deployment import installation
from testing.deployment import nova
from testing.deployment import places
from testing.deployment import settings
from tests.integration import whole

#: The overrides of the servers that go through all of it.
OVERRIDES = {'os_command_line': 'console=ttyS0 kept=1', 'hw_boot_menu': 'true',
             'hw_video_model': 'virtio'}

#: The documentation's query.
FIND = '''
SELECT DISTINCT instance_uuid FROM instance_system_metadata
WHERE deleted = 0 AND `key` LIKE 'image_os_glance_override%'
'''


@pytest.fixture(scope='module')
def plain(busy):
    """The tenant who does not know of overrides."""
    return busy('flow')


@pytest.fixture(scope='module')
def kept():
    """Servers that stay: id -> overrides."""
    return {}


def boot(deployment, tenant, name, overrides):
    shown = tenant.json(
        'server', 'create', '--image', 'guest', '--flavor', 'small',
        '--no-network', *command.overriding(overrides), f'test-{name}')
    server = places.Server(deployment, tenant, shown['id'])
    server.settled('ACTIVE')
    return server


def look(server, overrides):
    """Check the guest, as it is built, against its overrides."""
    domain = server.domain
    assert domain.findtext('os/cmdline') == overrides['os_command_line']
    assert domain.find('os/bootmenu').get('enable') == 'yes'
    assert domain.find('devices/video/model').get('type') == 'virtio'
    assert domain.find("devices/disk[@device='disk']/target").get('bus') == (
        overrides.get('hw_disk_bus', 'virtio'))


def build_anew(deployment, server):
    """Have the guest's definition made again, by whichever nova-compute."""
    compute = deployment.operator.compute
    compute.reboot_server(server.id, 'HARD')
    server.settled('ACTIVE')


def all_is_well(deployment, tenant, kept, user):
    """Every server has its overrides, and nobody was refused anything."""
    for server_id, overrides in kept.items():
        server = places.Server(deployment, tenant, server_id)
        build_anew(deployment, server)
        look(server, overrides)
        if all(api.extended for api in deployment.nova_api.members):
            assert server.api == overrides
    assert user.asked.failures == []


def run(where, *words):
    """Run a command from an installation; return its status and output."""
    done = subprocess.run(
        [where.python, '-W', 'ignore', where.bin / words[0], *words[1:]],
        capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def upgrade_check(deployment, where):
    return run(
        where, 'nova-image-override-status', '--config-file',
        str(deployment.nova_api.config), 'upgrade', 'check')


def computes(deployment):
    """Which hosts have the compute part, according to the operator's command.
    """
    status, told = run(
        deployment.nova_api.members[-1].installation,
        'nova-image-override', 'computes', '-f', 'json',
        '--config-file', str(deployment.nova_api.config))
    rows = json.loads(told[told.index('['):])
    found = {row['Host'] for row in rows if row['Compute part']}
    assert status == int(len(found) < len(deployment.hosts))
    return found


def test_nova_without_the_extension_boots(deployment, tenant, plain):
    with pytest.raises(command.Refused, match='does not have'):
        boot(deployment, tenant, 'refused', OVERRIDES)
    assert computes(deployment) == set()
    all_is_well(deployment, tenant, {}, plain)


def test_computes_get_it_one_by_one(deployment, tenant, plain):
    with_it = set()
    for host in deployment.hosts.values():
        host.extended = True
        deployment.restart_compute(host)
        with_it.add(host.name)
        assert computes(deployment) == with_it
        all_is_well(deployment, tenant, {}, plain)


def test_one_nova_api_gets_it_then_the_other(deployment, tenant, plain):
    for api in deployment.nova_api.members:
        api.extended = True
        api.rules['allowed_properties'] = ''
        deployment.restart_api(api)
        all_is_well(deployment, tenant, {}, plain)
    with pytest.raises(command.Refused, match='not_allowed'):
        boot(deployment, tenant, 'refused', OVERRIDES)


def test_what_is_allowed_then_works(deployment, tenant, plain, kept, busy):
    for api in deployment.nova_api.members:
        api.rules['allowed_properties'] = ', '.join(nova.ALLOWED)
        deployment.restart_api(api)
    for number in range(3):
        server = boot(deployment, tenant, number, OVERRIDES)
        kept[server.id] = OVERRIDES
    status, told = upgrade_check(deployment, deployment.older)
    assert status == 0, told
    change_all(deployment, deployment.nova_api.members[0], kept)
    all_is_well(deployment, tenant, kept, plain)


def change_all(deployment, api, kept):
    """Have one nova-api rebuild, update and find servers that have overrides.
    """
    client = whole.Client(deployment, 'tenant', api.name)
    image = deployment.operator.image.find_image('guest').id
    for number, server in enumerate(kept):
        said = f'console=ttyS0 kept={number} {api.name}'
        kept[server] = {**OVERRIDES, 'os_command_line': said,
                        'hw_disk_bus': 'ide' if number else 'sata'}
        if number == 0:
            client.rebuild(server, image, kept[server])
            client.settled(server, 'ACTIVE')
        else:
            client.do(server, *(('os-stop', 'SHUTOFF') if number == 1 else
                                ('shelve', 'SHELVED_OFFLOADED')))
            client.update(server, kept[server], expected=200)
            client.do(server, 'os-start' if number == 1 else 'unshelve',
                      'ACTIVE')
        # And once more, as they are.
        client.rebuild(server, image)
        client.settled(server, 'ACTIVE')
        assert client.show(server)[whole.PARAMETER] == kept[server]
    found = client.send(
        'GET', f'?{whole.PARAMETER}=hw_disk_bus', expected=200)
    assert {each['id'] for each in found.json()['servers']} == {*kept}


@pytest.fixture(scope='module')
def overriding(busy):
    """The tenant whose every boot has overrides."""
    return busy('overriding', OVERRIDES)


def test_computes_get_the_next_package_one_by_one(
        deployment, tenant, plain, overriding, kept, older):
    for host in deployment.hosts.values():
        host.installation = older
        deployment.restart_compute(host)
        assert computes(deployment) == set(deployment.hosts)
        all_is_well(deployment, tenant, kept, plain)
    assert overriding.asked.failures == []


def test_each_nova_api_gets_the_next_package(
        deployment, tenant, plain, overriding, kept, older):
    first, second = deployment.nova_api.members
    first.installation = older
    deployment.restart_api(first)
    # The former package of the other finds what this one stores.
    for each in (first, second):
        change_all(deployment, each, kept)
        all_is_well(deployment, tenant, kept, plain)
    second.installation = older
    deployment.restart_api(second)
    all_is_well(deployment, tenant, kept, plain)
    status, told = upgrade_check(deployment, older)
    assert status == 0, told
    assert overriding.asked.failures == []


def test_the_next_nova_is_checked_before_it_runs(
        deployment, plain, overriding):
    status, told = upgrade_check(deployment, installation.OWN)
    assert status == 0, told
    # A property that no Nova has, like one that the next no longer has.
    folder = deployment.state.subfolder('check')
    settings.write(folder / 'nova.conf', {'image_override': {
        'allowed_properties': 'hw_boot_menu, hw_gone'}})
    status, told = run(
        installation.OWN, 'nova-image-override-status', '--config-file',
        str(folder / 'nova.conf'), 'upgrade', 'check')
    assert (status, 'hw_gone' in told) == (1, True), told


def test_the_database_and_the_control_plane_go_to_the_next_nova(
        deployment, tenant, plain, overriding, kept):
    api = deployment.nova_api.members[0]
    for words in (['api_db', 'sync'], ['db', 'sync']):
        subprocess.run(
            [installation.OWN.python, '-W', 'ignore',
             installation.OWN.bin / 'nova-manage', '--config-file',
             api.config, *words], check=True,
            capture_output=True)
    all_is_well(deployment, tenant, kept, plain)
    for old in (deployment.conductor, deployment.scheduler):
        new = nova.Daemon(deployment.state, old.command, api.folder,
                          f'{old.command}-next')
        deployment.replace(old, new)
    all_is_well(deployment, tenant, kept, plain)
    # As soon after each other as can be: the old one fails on a request spec
    # that the new one has stored (IncompatibleObjectVersion).
    for api in deployment.nova_api.members:
        api.installation = installation.OWN
        deployment.restart_api(api)
    all_is_well(deployment, tenant, kept, plain)
    assert overriding.asked.failures == []


def test_computes_go_to_the_next_nova_one_by_one(
        deployment, tenant, plain, overriding, kept):
    for host in deployment.hosts.values():
        host.installation = installation.OWN
        deployment.restart_compute(host)
        assert computes(deployment) == set(deployment.hosts)
        all_is_well(deployment, tenant, kept, plain)
    assert overriding.asked.failures == []
    # And a server that was booted before moves between them.
    server = places.Server(deployment, tenant, next(iter(kept)))
    server.migrate(command.Openstack(deployment.state, 'operator'))
    look(server, kept[server.id])


def test_the_extension_goes_and_servers_keep_what_they_have(
        deployment, tenant, plain, overriding, kept):
    asked = overriding.finish()
    assert asked.failures == []
    assert asked.lives > 0
    for api in deployment.nova_api.members:
        api.rules['allowed_properties'] = ''
        deployment.restart_api(api)
    found = deployment.mariadb.query('USE nova_cell1;' + FIND).split()
    assert set(found) >= set(kept)
    for api in deployment.nova_api.members:
        api.extended = False
        deployment.restart_api(api)
        all_is_well(deployment, tenant, kept, plain)
    for host in deployment.hosts.values():
        host.extended = False
        deployment.restart_compute(host)
    all_is_well(deployment, tenant, kept, plain)
    assert computes(deployment) == set()
    shown = deployment.operator.compute.get(f'/servers/{next(iter(kept))}')
    assert errors.PARAMETER not in shown.json()['server']


def test_the_extension_comes_back_and_finds_the_overrides(
        deployment, tenant, plain, kept):
    for host in deployment.hosts.values():
        host.extended = True
        deployment.restart_compute(host)
    for api in deployment.nova_api.members:
        api.extended = True
        api.rules['allowed_properties'] = ', '.join(nova.ALLOWED)
        deployment.restart_api(api)
    all_is_well(deployment, tenant, kept, plain)
    asked = plain.finish()
    print(asked)
    assert asked.failures == []
    assert asked.lives > 0
