"""A server that is looked at again and again."""

from testing.deployment import places

#: What every server here is booted with: something for each place.
OVERRIDES = {
    'os_command_line': 'console=ttyS0 life=1', 'hw_machine_type': 'q35',
    **places.SCSI}

#: Two nodes of the flavor "four", of different size.
NODES = {
    'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
    'hw_numa_mem.0': '128', 'hw_numa_mem.1': '384'}


def check(server, overrides=OVERRIDES):
    """Check all three places."""
    assert server.domain.findtext('os/cmdline') == overrides['os_command_line']
    assert server.told.cmdline == overrides['os_command_line']
    check_devices(server, overrides, ['sda'])


def check_devices(server, overrides, disks):
    """Check all three places, but not the command line."""
    assert server.api == overrides
    domain = server.domain
    assert {target.get('bus') for target in
            domain.findall('devices/disk/target')} == {'scsi'}
    assert 'q35' in domain.find('os/type').get('machine')
    told = server.told
    assert told.disks == disks
    assert 'q35' in told.machine
