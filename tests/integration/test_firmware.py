"""Firmware, machine type and Secure Boot of real guests, all their life.

A guest adds a variable to UEFI's: whether it is there in the next boot shows
whether the NVRAM is still the same.
"""

import pytest

from testing.deployment import command
from testing.deployment import firmware as firmware_module
from testing.deployment import processes
from testing.deployment import tenants
from tests.integration.firmware import change
from tests.integration.firmware import check
from tests.integration.firmware import IMAGE
from tests.integration.firmware import restart
from tests.integration.firmware import SECURE
from tests.integration.firmware import UEFI

STATELESS = {**UEFI, 'hw_firmware_stateless': 'true'}


@pytest.fixture
def uefi(boot):
    """Create servers with enough memory for it."""
    def create(overrides, image=IMAGE):
        return boot(overrides, flavor='uefi', image=image)

    return create


@pytest.fixture(scope='module')
def disks(deployment):
    """Images with a boot loader: signed or not -> id."""
    images = deployment.operator.image
    made = {
        signed: tenants.upload(images, 'test-firmware', firmware_module.disk(
            deployment.state, signed=signed))
        for signed in (True, False)}
    yield made
    for each in made.values():
        images.delete_image(each)


def rebuild(server, overrides, image=IMAGE):
    """Rebuild a server with these overrides, and no others."""
    server.do('rebuild', '--image', image, *(
        command.overriding(overrides) if overrides else
        ['--no-image-prop-override']))


@pytest.mark.short
def test_uefi_at_create_and_another_machine_type_at_the_next_start(uefi):
    overrides = {'hw_firmware_type': 'uefi'}
    server = uefi(overrides)
    check(server, overrides, 'uefi 0', 'new')
    restart(server, UEFI)
    check(server, UEFI, 'uefi 0', 'kept')


@pytest.mark.short
def test_secure_boot_of_a_server_takes_a_rebuild(uefi):
    server = uefi(UEFI)
    server.do('stop', until='SHUTOFF')
    with pytest.raises(command.Refused, match='os_secure_boot: needs_rebuild'):
        change(server, SECURE)
    assert server.api == UEFI
    server.do('start')
    rebuild(server, SECURE)
    check(server, SECURE, 'uefi 1', 'new')


def test_a_bios_guest_has_uefi_at_the_next_start_and_bios_again(uefi):
    server = uefi({})
    check(server, {}, '', '')
    restart(server, UEFI)
    check(server, UEFI, 'uefi 0', 'new')
    restart(server, {})
    check(server, {}, '', '')
    # The host keeps the NVRAM as long as the server.
    restart(server, UEFI)
    check(server, UEFI, 'uefi 0', 'kept')


def test_a_rebuild_makes_the_firmware_anew(uefi):
    server = uefi(SECURE)
    check(server, SECURE, 'uefi 1', 'new')
    for overrides, firmware in (
            (SECURE, 'uefi 1'), (UEFI, 'uefi 0'), (STATELESS, 'uefi 0'),
            (SECURE, 'uefi 1')):
        rebuild(server, overrides)
        check(server, overrides, firmware, 'new')
    rebuild(server, {})
    check(server, {}, '', '')


def test_stateless_firmware_forgets_and_stays_at_the_next_start(uefi):
    server = uefi(STATELESS)
    check(server, STATELESS, 'uefi 0', 'new')
    server.do('stop', until='SHUTOFF')
    for overrides in (UEFI, {}):
        with pytest.raises(
                command.Refused, match='hw_firmware_stateless: needs_rebuild'):
            change(server, overrides)
    server.do('start')
    check(server, STATELESS, 'uefi 0', 'new')


def test_an_offloaded_server_is_given_other_firmware(uefi):
    server = uefi({})
    for overrides, firmware in (
            (UEFI, 'uefi 0'), (SECURE, 'uefi 1'), (STATELESS, 'uefi 0'),
            ({}, '')):
        server.offload()
        change(server, overrides)
        server.do('unshelve')
        check(server, overrides, firmware, firmware and 'new')


@pytest.mark.parametrize(('overrides', 'firmware', 'variables'), [
    (SECURE, 'uefi 1', 'kept'), (STATELESS, 'uefi 0', 'new')],
    ids=['secure', 'stateless'])
def test_firmware_lasts(uefi, overrides, firmware, variables):
    server = uefi(overrides)
    check(server, overrides, firmware, 'new')
    server.do('reboot', '--hard')
    check(server, overrides, firmware, variables)
    server.do('rescue', until='RESCUE')
    check(server, overrides, firmware, variables)
    server.do('unrescue')
    check(server, overrides, firmware, variables)
    server.do('resize', '--flavor', 'four', until='VERIFY_RESIZE')
    server.do('resize', 'confirm')
    # Nova does not take the NVRAM to another host.
    check(server, overrides, firmware, server.told.variables)
    server.offload()
    server.do('unshelve')
    check(server, overrides, firmware, 'new')


def test_a_signed_boot_loader_boots_under_secure_boot(uefi, disks):
    server = uefi(SECURE, image=disks[True])
    check(server, SECURE, 'uefi 1', 'new')


def test_an_unsigned_boot_loader_does_not(uefi, disks, deployment):
    server = uefi(UEFI, image=disks[False])
    check(server, UEFI, 'uefi 0', 'new')
    rebuild(server, SECURE, disks[False])
    host = deployment.hosts[server.host]
    processes.wait_for(
        lambda: 'Access Denied' in host.console(server.id),
        'the refusal of the firmware', 300)
    assert 'GUEST' not in host.console(server.id)
