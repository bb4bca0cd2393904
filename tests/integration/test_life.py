"""Overrides last as long as the server, whatever is done to it."""

import pytest

from testing.deployment import command
from testing.deployment import processes
from tests.integration.life import check
from tests.integration.life import check_devices
from tests.integration.life import NODES
from tests.integration.life import OVERRIDES


def test_stop_start_and_hard_reboot_keep_them(boot):
    server = boot(OVERRIDES)
    server.restart()
    check(server)
    server.do('reboot', '--hard')
    check(server)


def test_rebuild_keeps_replaces_and_drops_them(boot):
    server = boot(OVERRIDES)
    server.do('rebuild', '--image', 'guest')
    check(server)
    others = {**OVERRIDES, 'os_command_line': 'console=ttyS0 rebuilt=1'}
    server.do('rebuild', '--image', 'guest', *command.overriding(others))
    check(server, others)
    server.do('rebuild', '--image', 'guest', '--no-image-prop-override')
    assert server.api == {}
    assert 'q35' not in server.domain.find('os/type').get('machine')
    told = server.told
    assert 'q35' not in told.machine
    assert 'rebuilt' not in told.cmdline
    assert server.domain.find('devices/disk/target').get('bus') == 'virtio'
    assert told.disks == ['vda']


def test_shelve_and_unshelve_keep_them(boot):
    server = boot(OVERRIDES)
    server.offload()
    assert server.api == OVERRIDES
    server.do('unshelve')
    check(server)


@pytest.mark.short
def test_rescue_has_them_and_unrescue_keeps_them(boot):
    server = boot(OVERRIDES)
    server.do('rescue', until='RESCUE')
    # A rescue guest has no command line except Nova's own
    # (LibvirtDriver._set_guest_for_rescue).
    check_devices(server, OVERRIDES, ['sda', 'sdb'])
    server.do('unrescue')
    check(server)


def test_a_snapshot_is_an_image_with_what_was_in_force(boot, operator):
    server = boot(OVERRIDES)
    with server.snapshot(operator) as image:
        copy = boot({}, image=image)
        assert copy.api == {}
        told = copy.told
        assert told.cmdline == OVERRIDES['os_command_line']
        assert told.disks == ['sda']
        assert 'q35' in told.machine
        again = boot({'hw_disk_bus': 'virtio'}, image=image)
        assert again.api == {'hw_disk_bus': 'virtio'}
        assert again.told.disks == ['vda']


def test_cold_migration_takes_them_to_the_other_host(
        deployment, boot, operator):
    overrides = {**OVERRIDES, **NODES}
    server = boot(overrides, who='nfv', flavor='four')
    server.migrate(operator)
    check(server, overrides)
    assert [cpus for cpus, _ in server.told.nodes.values()] == ['0', '1-3']


def test_a_reverted_resize_and_a_reverted_migration_leave_them(boot, operator):
    server = boot(OVERRIDES)
    before = server.host
    for begin in (lambda: server.run('resize', '--flavor', 'four'),
                  lambda: operator('server', 'migrate', server.id)):
        begin()
        server.settled('VERIFY_RESIZE')
        check(server)
        server.do('resize', 'revert')
        assert server.host == before
        check(server)


def test_live_migration_takes_them_along(deployment, boot, operator):
    server = boot(OVERRIDES)
    check(server)
    before = server.host
    process = server.process.command
    operator('server', 'migrate', '--live-migration', '--wait', server.id)
    server.settled('ACTIVE')
    assert server.host != before
    assert server.api == OVERRIDES
    assert server.domain.findtext('os/cmdline') == OVERRIDES['os_command_line']
    assert [word for word in server.process.command if 'life=1' in word] == [
        word for word in process if 'life=1' in word]
    # What the guest said as it booted is not in the log of its new host.
    server.do('reboot', '--hard')
    check(server)


def test_evacuation_builds_the_server_anew_with_them(boot, evacuated):
    server = boot(OVERRIDES)
    check(server)
    with evacuated(server):
        check(server)
    check(server)


def test_pause_and_suspend_keep_them(boot):
    server = boot(OVERRIDES)
    for away, state, back in (('pause', 'PAUSED', 'unpause'),
                              ('suspend', 'SUSPENDED', 'resume')):
        server.do(away, until=state)
        assert server.api == OVERRIDES
        server.do(back)
        assert server.domain.findtext('os/cmdline') == (
            OVERRIDES['os_command_line'])
    server.do('reboot', '--hard')
    check(server)


def test_a_backup_has_what_was_in_force(deployment, boot, tenant, operator):
    server = boot(OVERRIDES)
    image = tenant.json(
        'server', 'backup', 'create', '--name', 'backup', '--type', 'daily',
        '--rotate', '1', '--wait', server.id)['id']
    try:
        found = deployment.operator.image.get_image(image)
        assert found.os_command_line == OVERRIDES['os_command_line']
        assert found.hw_disk_bus == 'scsi'
    finally:
        operator('image', 'delete', image)


def test_a_cold_start_of_everything_keeps_them(deployment, boot):
    server = boot(OVERRIDES)
    deployment.up()
    # Both nova-computes start the guests that ran.
    processes.wait_for(
        lambda: 'running' in deployment.hosts[server.host].virsh(
            'domstate', server.id), 'the guest', 120)
    server.settled('ACTIVE')
    check(server)
