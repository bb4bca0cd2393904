"""An existing server is given other overrides, and has them."""

import pytest

from testing.deployment import command
from testing.deployment import places
from tests.integration import nfv as look


@pytest.mark.usefixtures('huge_pages')
def test_an_offloaded_server_is_given_nodes_pages_and_cpus(boot):
    server = boot({}, who='nfv', flavor='nfv')
    # The flavor's pages of any size make it one node.
    assert len(server.domain.findall('cpu/numa/cell')) == 1
    server.offload()
    server.run('set', *command.overriding(look.EVERYTHING))
    assert server.api == look.EVERYTHING
    server.do('unshelve')
    look.check_everything(server)
    assert server.api == look.EVERYTHING
    # And gives them back.
    server.offload()
    server.run('set', '--no-image-prop-override')
    server.do('unshelve')
    assert server.api == {}
    assert len(server.domain.findall('cpu/numa/cell')) == 1


def test_a_stopped_server_starts_with_other_overrides(boot):
    server = boot({'os_command_line': 'console=ttyS0 first=1'})
    assert 'first=1' in server.told.cmdline
    others = {'os_command_line': 'console=ttyS0 second=1',
              'hw_machine_type': 'q35'}
    server.restart(*command.overriding(others))
    assert server.api == others
    assert server.domain.findtext('os/cmdline') == others['os_command_line']
    told = server.told
    assert told.cmdline == others['os_command_line']
    assert 'q35' in told.machine


def test_the_root_disk_of_a_stopped_server_moves_from_bus_to_bus(boot):
    server = boot({})
    assert server.told.disks == ['vda']
    for overrides, bus, disks in (
            ({'hw_disk_bus': 'sata'}, 'sata', ['sda']),
            (places.SCSI, 'scsi', ['sda']),
            ({'hw_disk_bus': 'ide'}, 'ide', ['sda']),
            ({'hw_disk_bus': 'virtio'}, 'virtio', ['vda'])):
        server.restart(*command.replacing(overrides))
        assert server.domain.find('devices/disk/target').get('bus') == bus
        assert server.told.disks == disks
