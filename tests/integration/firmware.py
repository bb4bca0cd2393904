"""Guests with UEFI, and what they find of it."""

from testing.deployment import command

#: An image with a kernel that UEFI boots.
IMAGE = 'guest-uefi'
UEFI = {'hw_firmware_type': 'uefi', 'hw_machine_type': 'q35'}
SECURE = {**UEFI, 'os_secure_boot': 'required'}


def change(server, overrides):
    """Replace a server's overrides."""
    server.run('set', *command.replacing(overrides))


def restart(server, overrides):
    """Replace the overrides of a server while it is stopped."""
    server.restart(*command.replacing(overrides))


def check(server, overrides, firmware, variables):
    """Check all three places.

    :param firmware: what the guest says, and whether Secure Boot is in force
    :param variables: whether those that it wrote are there
    """
    assert server.api == overrides
    domain, told = server.domain, server.told
    machine = 'q35' if overrides.get('hw_machine_type') else 'i440fx'
    assert machine in domain.find('os/type').get('machine')
    assert machine in told.machine
    loader = domain.find('os/loader')
    assert (loader is not None) == bool(firmware)
    if loader is not None:
        secure = 'yes' if 'os_secure_boot' in overrides else 'no'
        stateless = 'hw_firmware_stateless' in overrides
        assert loader.get('secure') == secure
        assert loader.get('stateless') == ('yes' if stateless else None)
        assert (domain.find('os/nvram') is None) == stateless
    assert (told.firmware, told.variables) == (firmware, variables)
