"""``check`` reports what is allowed but no driver of the cloud acts on."""

import pytest

from nova_image_override.cmd.check import command

VMWARE = ('--hypervisor-type', 'VMware vCenter Server')


@pytest.fixture
def check(deployment):
    """Run the check with lists; return status and findings."""
    def check(allowed, *options, denied=''):
        deployment.write('nova.conf', f'''
            [image_override]
            allowed_properties = {allowed}
            denied_properties = {denied}
            ''')
        status, rows = deployment.rows('check', *options)
        return status, [
            (row['Severity'], row['Code'], row['Subject'], row['Why'])
            for row in rows if row['Code'].startswith('H')]
    return check


def test_hosts_are_not_looked_at_unless_that_is_asked_for(check):
    assert check('hw_disk_type') == (0, [])


def test_an_entry_that_no_driver_acts_on_is_a_warning(check):
    why = 'no driver of this cloud (vmwareapi) acts on it'
    assert check('hw_boot_menu,hw_disk_bus,hw_tpm_*', *VMWARE) == (1, [
        ('warning', 'H1', 'hw_boot_menu', why),
        ('warning', 'H1', 'hw_tpm_*', why)])
    assert check('hw_boot_menu', '--hypervisor-type', 'QEMU', *VMWARE) == (
        0, [])
    assert [each[2] for each in check(
        'hw_disk_type', '--hypervisor-type', 'QEMU')[1]] == ['hw_disk_type']


def test_values_that_no_driver_acts_on_are_named(check):
    assert check('hw_disk_bus=virtio|scsi|u*,hw_vif_model=vm*', *VMWARE) == (
        1, [('warning', 'H1', 'hw_disk_bus=virtio|scsi|u*',
             'no driver of this cloud (vmwareapi) acts on virtio, u*')])


def test_what_an_entry_allows_among_others_is_a_note(check):
    status, ((severity, code, subject, _),) = check('os_*', *VMWARE)
    assert (status, severity, code) == (0, 'note', 'H2')
    assert 'os_type' in subject
    assert 'os_distro' not in subject


def test_what_is_denied_is_not_looked_at(check):
    status, found = check('os_*', *VMWARE, denied='os_distro')
    assert (status, [each[:3] for each in found]) == (
        1, [('warning', 'H1', 'os_*')])
    assert check('hw_boot_menu', *VMWARE, denied='hw_boot_menu')[1] == []


def test_of_unknown_hosts_nothing_is_said_but_that(check):
    assert [each[:3] for each in check(
        'hw_disk_type', '--hypervisor-type', 'LXC', *VMWARE)[1]] == [
        ('note', 'H3', 'LXC, VMware vCenter Server')]


def test_compute_nodes_are_those_of_nova_s_databases(check, monkeypatch):
    monkeypatch.setattr(
        command, '_hypervisor_types', lambda: {'VMware vCenter Server'})
    assert [each[2] for each in check('hw_pmu', '--compute-nodes')[1]] == [
        'hw_pmu']
    monkeypatch.setattr(command, '_hypervisor_types', set)
    assert [each[:3] for each in check('hw_pmu', '--compute-nodes')[1]] == [
        ('note', 'H3', 'compute nodes')]
