"""One host has the compute part, the other Nova's own nova-compute.

What could lose overrides there is refused, and changes nothing; the rest works.
"""

import pytest

from testing.deployment import command
from testing.deployment import places
from tests.integration.life import NODES

OVERRIDES = {'os_command_line': 'console=ttyS0 mixed=1', **places.SCSI}

OTHERS = {'hw_machine_type': 'q35'}

#: The host with the compute part, and the one without.
EXTENDED, PLAIN = 'compute1', 'compute2'

#: Since when an administrator may name the host of a migration, and of an
#: unshelving.
NAMED = '--os-compute-api-version', '2.56'
NAMED_TOO = '--os-compute-api-version', '2.91'


@pytest.fixture(scope='module', autouse=True)
def mixed(deployment):
    host = deployment.hosts[PLAIN]

    def restart(extended):
        host.extended = extended
        host.restart_compute()
        deployment.wait_for_hosts()

    restart(extended=False)
    yield restart
    restart(extended=True)


@pytest.fixture
def on(boot):
    """Boot a server on a host, which only administrators choose."""
    def build(host, overrides, **how):
        server = boot(overrides, '--availability-zone', f'nova:{host}',
                      who='operator', **how)
        assert server.host == host
        return server

    return build


def refused(server, *action):
    """Check that an action is refused, says why, and changes nothing."""
    before = server.api, server.domain.findtext('os/cmdline'), server.host
    with pytest.raises(command.Refused) as caught:
        server.run(*action)
    said = str(caught.value)
    assert 'image_props_override: host_not_ready: ' in said
    assert 'nova-compute-image-override' in said
    server.settled('ACTIVE')
    assert before == (
        server.api, server.domain.findtext('os/cmdline'), server.host)


def test_where_it_is_missing_servers_run_with_their_overrides(on):
    server = on(PLAIN, OVERRIDES)
    assert server.told.cmdline == OVERRIDES['os_command_line']
    assert server.told.disks == ['sda']
    server.restart()
    assert server.domain.findtext('os/cmdline') == OVERRIDES['os_command_line']
    server.do('reboot', '--hard')
    assert server.told.disks == ['sda']


@pytest.mark.parametrize('action', [
    ('rebuild', '--image', 'guest'),
    ('rebuild', '--image', 'guest', *command.overriding(OTHERS)),
    ('rescue',)], ids=['keep', 'set', 'rescue'])
def test_what_would_lose_them_is_refused_there(on, action):
    refused(on(PLAIN, OVERRIDES), *action)


def test_overrides_can_be_dropped_on_a_host_without_the_part(on):
    server = on(PLAIN, OVERRIDES)
    server.do('rebuild', '--image', 'guest', '--no-image-prop-override')
    assert server.api == {}
    assert server.told.disks == ['vda']


def test_on_the_other_host_they_are_kept(on):
    server = on(EXTENDED, OVERRIDES)
    server.do('rebuild', '--image', 'guest')
    assert server.api == OVERRIDES
    assert server.told.cmdline == OVERRIDES['os_command_line']


@pytest.mark.parametrize('action', [
    ('migrate',), ('migrate', *NAMED, '--host', PLAIN),
    ('resize', '--flavor', 'nfv.isolated')], ids=['any', 'named', 'resize'])
def test_a_move_that_could_lose_numa_nodes_is_refused(on, action):
    refused(on(EXTENDED, NODES, flavor='four'), *action)


def test_one_to_a_host_that_keeps_them_is_made(on, operator):
    server = on(PLAIN, NODES, flavor='four')
    server.migrate(operator, *NAMED, '--host', EXTENDED)
    assert server.host == EXTENDED
    assert [cpus for cpus, _ in server.told.nodes.values()] == ['0', '1-3']


def test_other_servers_move_freely(on, operator):
    server = on(EXTENDED, OVERRIDES)
    server.migrate(operator)
    assert server.host == PLAIN
    assert server.told.cmdline == OVERRIDES['os_command_line']
    operator('server', 'migrate', '--live-migration', '--wait', server.id)
    server.settled('ACTIVE')
    assert server.host == EXTENDED
    assert server.domain.findtext('os/cmdline') == OVERRIDES['os_command_line']


def test_a_shelved_server_can_neither_get_other_overrides_nor_lose_them(
        on):
    server = on(EXTENDED, OVERRIDES)
    server.offload()
    with pytest.raises(command.Refused) as caught:
        server.run('set', *command.overriding(OTHERS))
    assert 'host_not_ready' in str(caught.value)
    assert server.api == OVERRIDES
    server.do('unshelve')
    assert server.told.cmdline == OVERRIDES['os_command_line']


def test_a_server_updated_while_shelved_needs_a_host_with_the_part(
        on, operator, mixed):
    others = {**OVERRIDES, 'hw_machine_type': 'q35'}
    mixed(extended=True)
    try:
        server = on(EXTENDED, OVERRIDES)
        server.offload()
        server.run('set', *command.overriding(others))
    finally:
        mixed(extended=False)
    for words in (), (*NAMED_TOO, '--host', PLAIN):
        with pytest.raises(command.Refused) as caught:
            operator('server', 'unshelve', *words, server.id)
        assert 'host_not_ready' in str(caught.value)
        server.settled(places.OFFLOADED)
        assert server.api == others
    operator('server', 'unshelve', *NAMED_TOO, '--host', EXTENDED, server.id)
    server.settled('ACTIVE')
    assert server.host == EXTENDED
    assert server.api == others
    told = server.told
    assert told.disks == ['sda']
    assert 'q35' in told.machine


def test_a_snapshot_made_where_it_is_missing_has_them(on, operator):
    server = on(PLAIN, OVERRIDES)
    with server.snapshot(operator) as image:
        copy = on(PLAIN, {}, image=image)
        assert copy.api == {}
        told = copy.told
        assert told.cmdline == OVERRIDES['os_command_line']
        assert told.disks == ['sda']


@pytest.mark.parametrize('host', [EXTENDED, PLAIN])
def test_an_evacuated_server_has_them_on_either_host(on, evacuated, host):
    server = on(host, OVERRIDES)
    with evacuated(server):
        assert server.api == OVERRIDES
        told = server.told
        assert told.cmdline == OVERRIDES['os_command_line']
        assert told.disks == ['sda']
