"""``check`` reports what is allowed but no driver of the cloud acts on."""

from unittest import mock

import pytest

from nova_image_override.cmd import cells

VMWARE = 'vmwareapi'


@pytest.fixture
def check(deployment):
    """Run the check with lists; return status and findings."""
    def check(allowed, drivers='libvirt', *options, denied=''):
        deployment.write('nova.conf', f'''
            [image_override]
            allowed_properties = {allowed}
            denied_properties = {denied}
            virt_drivers = {drivers}
            ''')
        status, rows = deployment.rows('check', *options)
        return status, [
            (row['Severity'], row['Code'], row['Subject'], row['Why'])
            for row in rows if row['Code'].startswith('H')]
    return check


def test_an_entry_that_no_driver_acts_on_is_a_warning(check):
    why = 'no driver of this cloud (vmwareapi) acts on it'
    assert check('hw_boot_menu,hw_disk_bus,hw_tpm_*', VMWARE) == (1, [
        ('warning', 'H1', 'hw_boot_menu', why),
        ('warning', 'H1', 'hw_tpm_*', why)])
    assert check('hw_boot_menu', 'libvirt, vmwareapi') == (0, [])
    assert check('hw_boot_menu', '') == (0, [])
    assert [each[2] for each in check('hw_disk_type')[1]] == ['hw_disk_type']


def test_an_entry_by_which_some_driver_acts_is_no_finding(check):
    assert check('os_*', VMWARE) == (0, [])


def test_what_is_denied_is_not_looked_at(check):
    status, found = check('os_*', VMWARE, denied='os_distro')
    assert (status, [each[:3] for each in found]) == (
        1, [('warning', 'H1', 'os_*')])
    assert check('hw_boot_menu', VMWARE, denied='hw_boot_menu')[1] == []


@pytest.mark.parametrize(('drivers', 'types', 'told'), [
    ('libvirt', {'QEMU'}, {}),
    ('libvirt, ironic', {'QEMU', 'ironic'}, {}),
    ('vmwareapi', {'VMware vCenter Server', 'QEMU'},
     {'libvirt': 'add it to virt_drivers'}),
    ('libvirt, zvm', {'QEMU'}, {'zvm': 'remove it from virt_drivers'}),
    ('libvirt', {'QEMU', 'LXC'}, {'LXC': 'leave virt_drivers empty'}),
    ('', {'LXC'}, {}),
    ('ironic', set(), {'ironic': 'remove it from virt_drivers'}),
])
def test_compute_nodes_of_other_drivers_are_warnings(
        deployment, monkeypatch, drivers, types, told):
    monkeypatch.setattr(cells, 'compute_nodes', lambda: (
        ('cell1', mock.Mock(hypervisor_type=each)) for each in types))
    deployment.write('nova.conf', f'''
        [image_override]
        virt_drivers = {drivers}
        ''')
    status, rows = deployment.rows('check', '--compute-nodes')
    assert status == int(bool(told))
    assert {row['Subject']: row['What to change'] for row in rows
            if row['Code'] == 'H2'} == told


def test_without_a_database_there_is_one_line(deployment):
    deployment.write('nova.conf', '[image_override]')
    status, _, err = deployment.run('check', '--compute-nodes')
    assert status == 1
    assert err.strip() == 'nova.conf has no [api_database] connection'
