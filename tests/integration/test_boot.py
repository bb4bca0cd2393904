"""Overrides at create reach the API, the XML and the guest itself."""

import pytest

from testing.deployment import places
from tests.integration.life import NODES


@pytest.mark.short
def test_two_servers_of_one_image_have_two_command_lines_and_cards(boot):
    wanted = {'console=ttyS0 first=1': 'e1000',
              'console=ttyS0 second=2 quiet': 'rtl8139'}
    servers = [
        boot({'os_command_line': line, 'hw_vif_model': card}, network='net')
        for line, card in wanted.items()]
    drivers = []
    for server, (line, card) in zip(servers, wanted.items(), strict=True):
        assert server.api == {'os_command_line': line, 'hw_vif_model': card}
        assert server.domain.findtext('os/cmdline') == line
        assert server.told.cmdline == line
        drivers += server.told.cards.values()
    assert drivers == ['e1000', '8139cp']


@pytest.mark.short
def test_four_vcpus_are_in_two_nodes_of_different_size(boot):
    server = boot(NODES, who='nfv', flavor='four')
    assert server.api == NODES
    cells = [dict(cell.attrib) for cell in
             server.domain.findall('cpu/numa/cell')]
    assert [(cell['cpus'], cell['memory']) for cell in cells] == [
        ('0', str(128 << 10)), ('1-3', str(384 << 10))]
    # They are pinned to the host CPUs of one node each.
    pins = {int(pin.get('vcpu')): pin.get('cpuset') for pin in
            server.domain.findall('cputune/vcpupin')}
    assert len({pins[0], pins[1]}) == 2
    assert pins[1] == pins[2] == pins[3]
    told = server.told
    assert told.cpus == 4
    assert [cpus for cpus, _ in told.nodes.values()] == ['0', '1-3']
    small, large = (memory for _, memory in told.nodes.values())
    # The kernel keeps some of it for itself.
    assert small < 128 << 10 < large < 384 << 10


@pytest.mark.short
def test_one_guest_has_everything_that_many_overrides_give_it(boot):
    overrides = {
        'os_command_line': 'console=ttyS0 many=1', 'hw_machine_type': 'q35',
        'hw_cpu_sockets': '2', 'hw_cpu_cores': '2', 'hw_cpu_threads': '1',
        'hw_maxphysaddr_mode': 'emulate', 'hw_maxphysaddr_bits': '42',
        'hw_boot_menu': 'true', **places.SCSI,
        'hw_cdrom_bus': 'scsi', 'img_config_drive': 'mandatory',
        'hw_video_model': 'virtio', 'hw_sound_model': 'ich9',
        'hw_usb_model': 'qemu-xhci', 'hw_input_bus': 'virtio',
        'hw_vif_model': 'virtio', 'hw_virtio_packed_ring': 'true'}
    # Whom Glance trusts with the sound model.
    server = boot(overrides, who='nfv', flavor='four', network='net')
    assert server.api == overrides
    domain, told = server.domain, server.told
    assert told.cmdline == overrides['os_command_line']
    assert 'q35' in told.machine
    # By default each has a socket to itself.
    assert told.sockets == ['0-1', '0-1', '2-3', '2-3']
    assert told.address.startswith('42 bits physical')
    # It is the firmware's; no guest can see it.
    assert domain.find('os/bootmenu').get('enable') == 'yes'
    assert told.disks == ['sda', 'sr0']
    # Both are where the kernels of cloud images find them.
    assert told.features(places.SCSI_CONTROLLER)
    assert all('/virtio' in line for line in told.lines
               if line.startswith('disk '))
    drive, *files = told.configuration
    assert (drive, 'meta_data.json' in files) == ('/dev/sr0', True)
    assert told.display == '0x1af4 0x1050'
    assert told.sound == '0x8086 0x293e'
    # Nova heeds the controller's model where no device needs the controller
    # (LibvirtDriver._guest_add_usb_root_controller).
    assert '0x1b36 0x000d' in told.pci
    assert told.features(places.INPUT)
    assert [*told.cards.values()] == ['virtio_net']
    card, = told.features(places.CARD)
    assert card[places.PACKED] == '1'


def test_without_overrides_the_guest_is_as_the_image_says(boot):
    server = boot({})
    assert server.api == {}
    domain, told = server.domain, server.told
    assert 'i440fx' in domain.find('os/type').get('machine')
    assert 'i440fx' in told.machine
    assert told.disks == ['vda']
    assert told.sound == ''
    assert list(told.nodes) == [0]
    assert domain.find('os/bootmenu') is None
    assert domain.find('cpu/numa') is None


@pytest.fixture
def spice(deployment):
    """Let the hosts show their guests with SPICE."""
    def restart(settings):
        for host in deployment.hosts.values():
            host.more = settings
            host.restart_compute()
        deployment.wait_for_hosts()

    restart({'spice': {'enabled': 'true'}})
    yield
    restart({})


@pytest.mark.usefixtures('spice')
def test_usb_devices_of_a_viewer_have_ports_where_the_host_has_spice(boot):
    overrides = {'hw_redirected_usb_ports': '2', 'hw_usb_model': 'qemu-xhci'}
    server = boot(overrides)
    assert server.api == overrides
    ports = [port.get('type') for port in
             server.domain.findall('devices/redirdev')]
    assert ports == ['spicevmc', 'spicevmc']
    assert ' '.join(server.process.command).count('usb-redir') == 2
