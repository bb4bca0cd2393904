"""Guests of the presets that ship as examples.

A preset for Windows asks for Hyper-V's enlightenments, which need KVM: where
guests are emulated, tenants take that out. Several queues of a card need KVM
too (LibvirtGenericVIFDriver.get_base_config): emulated guests have one.
"""

import pytest

from testing.deployment import command
from testing.deployment import places
from testing.deployment import tenants
from tests.integration import firmware
from tests.integration import nfv as look
from tests.integration import tpm

WINDOWS = {**firmware.SECURE, **tpm.TPM}
PINNED = {
    'hw_cpu_policy': 'dedicated', 'hw_mem_page_size': '2048',
    'hw_numa_nodes': '1', 'hw_vif_multiqueue_enabled': 'true'}


@pytest.fixture
def boot_preset(boot):
    """Create a server with a preset."""
    def create(name, overrides=None, **how):
        return boot(
            overrides or {}, '--image-prop-override-preset', name, **how)

    return create


def check_windows(server):
    """Its firmware and its TPM are what guests of Windows 11 need."""
    firmware.check(server, WINDOWS, 'uefi 1', 'new')
    tpm.check(server, WINDOWS)
    assert server.preset == 'windows'


@pytest.mark.short
def test_uefi_secure_boot(boot_preset):
    server = boot_preset(
        'uefi-secure-boot', flavor='uefi', image=firmware.IMAGE)
    firmware.check(server, firmware.SECURE, 'uefi 1', 'new')
    assert server.preset == 'uefi-secure-boot'


def test_windows_has_secure_boot_and_a_tpm(boot_preset, delete):
    server = boot_preset('windows', {'os_type': ''}, flavor='uefi',
                         image=firmware.IMAGE)
    check_windows(server)
    delete(server)


@pytest.mark.usefixtures('barbican')
def test_windows_needs_kvm(boot_preset):
    server = boot_preset('windows', flavor='uefi', image=firmware.IMAGE,
                         wait=False)
    server.settled('ERROR')
    assert server.api == {**WINDOWS, 'os_type': 'windows'}


def test_windows_by_metadata_from_a_client_that_knows_no_overrides(
        deployment, tenant, delete):
    compute = tenants.connect(deployment.state, 'tenant').compute
    made = compute.create_server(
        name='test-metadata', networks='none',
        image_id=deployment.operator.image.find_image(
            firmware.IMAGE).id,
        flavor_id=compute.find_flavor('uefi').id, metadata={
            'image_props_override_preset': 'windows',
            'image_props_override': '{"os_type": null}', 'of': 'the client'})
    server = places.Server(deployment, tenant, made.id)
    server.settled('ACTIVE')
    check_windows(server)
    assert compute.get_server(made).metadata == {'of': 'the client'}
    delete(server)


@pytest.mark.usefixtures('huge_pages')
def test_nfv_2m_pinned(boot_preset):
    server = boot_preset(
        'nfv-2m-pinned', who='nfv', flavor='nfv', network='net')
    assert server.api == PINNED
    domain, process = server.domain, server.process
    node, = look.nodes(domain)
    pins = look.pins(domain)
    assert [len(pin) for pin in pins] == [1, 1, 1, 1]
    assert set.union(*pins) <= look.dedicated(node)
    assert process.huge_pages() == {node: 128}
    look.check_affinity(domain, process)
    assert server.told.cpus == 4


@pytest.mark.usefixtures('huge_pages')
def test_nfv_realtime(boot_preset):
    # Emulated, real-time vCPUs would take the machine's CPUs from its others.
    calm = {'os_command_line': 'console=ttyS0 maxcpus=1'}
    server = boot_preset(
        'nfv-realtime', calm, who='nfv', flavor='nfv.realtime')
    assert server.api == {**PINNED, 'hw_cpu_realtime_mask': '^0', **calm}
    domain, process = server.domain, server.process
    assert {vcpu for each in domain.findall('cputune/vcpusched')
            for vcpu in look.cpus(each.get('vcpus'))} == {1, 2, 3}
    assert sum(process.huge_pages().values()) == 128
    assert process.locked() > 0
    assert server.told.cpus == 1


def test_legacy_bios_ide(boot_preset):
    server = boot_preset('legacy-bios-ide', network='net')
    assert server.api == {
        'hw_machine_type': 'pc', 'hw_firmware_type': 'bios',
        'hw_disk_bus': 'ide', 'hw_vif_model': 'e1000', 'hw_video_model': 'vga'}
    domain, told = server.domain, server.told
    assert domain.find("devices/disk[@device='disk']/target").get(
        'bus') == 'ide'
    assert domain.find('devices/video/model').get('type') == 'vga'
    assert 'i440fx' in told.machine
    assert told.firmware == ''
    assert [*told.cards.values()] == ['e1000']


def test_an_unknown_one_is_refused_with_the_one_that_was_meant(
        deployment, boot_preset):
    with pytest.raises(command.Refused, match='did you mean windows'):
        boot_preset('window')
    assert not places.created(deployment)
