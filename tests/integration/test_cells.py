"""Two cells: lists and their filter cover both, moves between them, one down.
"""

import contextlib

import pytest

from testing.deployment import cell
from testing.deployment import flavors
from testing.deployment import places
from tests.integration import whole
from tests.integration.life import NODES

OVERRIDES = {'os_command_line': 'console=ttyS0 cells=1', **places.SCSI}

#: The cells.
FIRST, SECOND = 'first', 'second'

#: One to which a server with these nodes can be resized.
WIDE = 'four.wide'
FLAVORS = {WIDE: flavors.Flavor(4, 512, {'hw:cpu_max_sockets': '4'})}

#: What lets an administrator move servers to another cell.
CROSS_CELL = '"compute:servers:resize:cross_cell": "role:admin"\n'


@pytest.fixture(scope='module')
def second(deployment):
    flavors.furnish(deployment.operator.compute, FLAVORS)
    result = cell.Cell(deployment)
    policy = deployment.nova_api.folder / 'policy.yaml'
    before = policy.read_text()
    result.up()
    policy.write_text(before + CROSS_CELL)
    deployment.hosts[result.host.name] = result.host
    yield result
    del deployment.hosts[result.host.name]
    result.down()
    deployment.wait_for_hosts()


@pytest.fixture
def only(deployment, second):
    """Let the scheduler give servers to the hosts of one cell only."""
    @contextlib.contextmanager
    def restrict(cell):
        compute = deployment.operator.compute
        others = [each for each in compute.services(binary='nova-compute')
                  if (each.host == second.host.name) != (cell == SECOND)]
        for each in others:
            compute.disable_service(each)
        try:
            yield
        finally:
            for each in others:
                compute.enable_service(each)

    return restrict


@pytest.fixture
def boots(boot, only, second):
    """Boot a server in one of the two cells, with overrides."""
    def build(cell, overrides=OVERRIDES, **how):
        with only(cell):
            server = boot(overrides, **how)
        assert (server.host == second.host.name) == (cell == SECOND)
        return server

    return build


def listed(client, query=''):
    return client.send(
        'GET', f'/detail?sort_key=display_name&sort_dir=asc{query}',
        expected=200).json()


def test_lists_and_the_filter_cover_both_cells(client, boots):
    servers = [boots(FIRST).id, boots(SECOND).id,
               boots(SECOND, {'hw_boot_menu': 'true'}).id,
               boots(FIRST, {}).id]
    with_scsi = '&image_props_override=hw_disk_bus'
    assert [each['id'] for each in listed(client)['servers']] == servers
    found = listed(client, with_scsi)['servers']
    assert [each['id'] for each in found] == servers[:2]
    assert all(each[whole.PARAMETER] == OVERRIDES for each in found)
    # In pages of one.
    first = listed(client, f'{with_scsi}&limit=1')
    assert [each['id'] for each in first['servers']] == servers[:1]
    rest = listed(client, f'{with_scsi}&limit=1&marker={servers[0]}')
    assert [each['id'] for each in rest['servers']] == servers[1:2]


def test_a_server_of_the_second_cell_is_used_like_one_of_the_first(
        client, everywhere, second, boots, whole_image):
    server = boots(SECOND).id
    client.rebuild(server, whole_image, whole.ONE)
    everywhere.agree(client.settled(server, 'ACTIVE'))
    client.do(server, 'os-stop', 'SHUTOFF')
    client.update(server, whole.OTHER, expected=200)
    client.do(server, 'os-start', 'ACTIVE')
    assert everywhere.agree(client.show(server)) == whole.OTHER
    client.do(server, 'shelve', places.OFFLOADED)
    client.update(server, whole.ONE, expected=200)
    client.do(server, 'unshelve', 'ACTIVE')
    assert everywhere.agree(client.show(server)) == whole.ONE


def test_servers_of_a_cell_that_is_down_are_shown_as_nova_shows_them(
        deployment, client, second, boots):
    server, lost = boots(FIRST).id, boots(SECOND).id
    plain = {'OpenStack-API-Version': 'compute 2.93'}
    second.mariadb.kill()
    try:
        # Lists that are sorted or filtered leave such servers out.
        shown = {each['id']: each for each in client.send(
            'GET', '/detail', expected=200).json()['servers']}
        nova = {each['id']: each for each in client.send(
            'GET', '/detail', expected=200, **plain).json()['servers']}
        assert {*shown} == {*nova} == {server, lost}
        assert shown[server][whole.PARAMETER] == OVERRIDES
        assert shown[lost] == nova[lost]
        assert shown[lost]['status'] == 'UNKNOWN'
        assert [each['id'] for each in listed(
            client, '&image_props_override=hw_disk_bus')['servers']] == [server]
        one = client.send('GET', f'/{lost}', expected=200).json()['server']
        assert one == client.send(
            'GET', f'/{lost}', expected=200, **plain).json()['server']
        # As Nova answers each change of such a server.
        told = client.act(lost, 'os-stop').status_code
        assert client.update(lost, whole.ONE).status_code == told
        assert client.rebuild(
            lost, one['id'], whole.ONE).status_code == told
    finally:
        second.mariadb.up()
    assert client.settled(lost, 'ACTIVE')[whole.PARAMETER] == OVERRIDES


def test_a_server_that_moves_to_the_other_cell_keeps_them(
        boots, only, second):
    server = boots(FIRST, who='operator')
    assert server.told.cmdline == OVERRIDES['os_command_line']
    before = server.host

    def move():
        with only(SECOND):
            server.do('resize', '--flavor', 'four', until='VERIFY_RESIZE')
        assert server.host == second.host.name
        assert server.api == OVERRIDES
        told = server.told
        assert told.cmdline == OVERRIDES['os_command_line']
        assert told.disks == ['sda']

    move()
    server.do('resize', 'revert')
    assert server.host == before
    assert server.api == OVERRIDES
    assert server.told.disks == ['sda']
    move()
    server.do('resize', 'confirm')
    server.do('reboot', '--hard')
    assert server.host == second.host.name
    assert server.api == OVERRIDES
    assert server.told.disks == ['sda']


def test_one_with_numa_nodes_stays_in_its_cell(boots, only):
    server = boots(FIRST, NODES, who='operator', flavor='four')
    before = server.host
    with only(SECOND):
        server.do('resize', '--flavor', WIDE)
    assert server.host == before
    assert server.api == NODES
    assert [cpus for cpus, _ in server.told.nodes.values()] == ['0', '1-3']
