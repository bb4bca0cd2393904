"""``check`` reports what is allowed but no driver of the cloud acts on."""

from unittest import mock

import pytest

from nova_image_override.cmd import cells

VMWARE = 'vmwareapi'


@pytest.fixture
def check(deployment):
    """Run the check with lists; return status and findings."""
    def check(allowed, drivers='libvirt', *options, denied='', code='H'):
        deployment.write('nova.conf', f'''
            [image_override]
            allowed_properties = {allowed}
            denied_properties = {denied}
            virt_drivers = {drivers}
            ''')
        status, rows = deployment.rows('check', *options)
        return status, [
            (row['Severity'], row['Code'], row['Subject'], row['Why'])
            for row in rows if row['Code'].startswith(code)]
    return check


def test_an_entry_that_no_driver_acts_on_is_a_warning(check):
    why = 'no driver of this cloud (vmwareapi) acts on it'
    assert check('hw_boot_menu,hw_disk_bus=ide,hw_tpm_*', VMWARE) == (1, [
        ('warning', 'H1', 'hw_boot_menu', why),
        ('warning', 'H1', 'hw_tpm_*', why)])
    assert check('hw_boot_menu', 'libvirt, vmwareapi') == (0, [])
    assert check('hw_boot_menu', '') == (0, [])
    # Some driver acts on one that it matches.
    assert check('os_*', VMWARE) == (0, [])
    assert [each[2] for each in check('hw_disk_type')[1]] == ['hw_disk_type']


def test_what_is_denied_is_not_looked_at(check):
    status, found = check('os_*', VMWARE, denied='os_distro')
    assert (status, [each[:3] for each in found]) == (
        1, [('warning', 'H1', 'os_*')])
    assert check('hw_boot_menu', VMWARE, denied='hw_boot_menu')[1] == []


@pytest.mark.parametrize(('allowed', 'drivers', 'field', 'values'), [
    ('hw_video_model=xen|gop|vga', 'libvirt', 'hw_video_model', 'xen, gop'),
    ('hw_scsi_model=bus*', 'libvirt', 'hw_scsi_model', 'buslogic'),
    ('hw_ephemeral_encryption', 'libvirt', 'hw_ephemeral_encryption', 'true'),
    ('hw_disk_bus', 'libvirt', 'hw_disk_bus', 'fdc, xen, uml'),
    ('hw_scsi_model', 'libvirt, vmwareapi', None, None),
    ('hw_video_model=vga', 'libvirt', None, None),
    ('hw_video_model=xen', '', None, None)])
def test_a_value_that_no_driver_acts_on_is_a_warning(
        check, allowed, drivers, field, values):
    status, found = check(allowed, drivers, code='H1')
    assert (status, [each[:3] for each in found]) == (
        1, [('warning', 'H1', field)]) if field else not found
    assert all(f' acts on {values}: ' in each[3] for each in found)


def test_a_value_of_few_hosts_is_a_warning(check):
    status, found = check('hw_viommu_model')
    virtio = 'needs a libvirt that takes attributes of it (11.3 does not)'
    assert (status, found) == (1, [(
        'warning', 'H3', 'hw_viommu_model', f'auto {virtio}, smmuv3 needs a '
        'libvirt that takes an I/O APIC on Arm (11.3 does not), '
        f'virtio {virtio}: elsewhere the server ends in ERROR')])
    assert {*found} < {*check('hw_*')[1]}


@pytest.mark.parametrize(('allowed', 'drivers', 'denied'), [
    ('hw_scsi_model=virtio*', 'libvirt', ''),
    ('hw_scsi_model', 'libvirt', 'hw_scsi_model=ibm*'),
    ('hw_scsi_model', 'libvirt', 'hw_scsi_model'),
    ('hw_scsi_model', 'vmwareapi', ''), ('hw_boot_menu', 'libvirt', '')])
def test_a_closed_value_that_no_driver_acts_on_is_no_finding(
        check, allowed, drivers, denied):
    assert check(allowed, drivers, denied=denied, code='H3')[1] == []


def test_a_value_of_few_hosts_that_an_entry_names_is_a_note(check):
    assert check('hw_scsi_model=ibmvscsi|virtio-scsi') == (0, [(
        'note', 'H3', 'hw_scsi_model',
        'ibmvscsi needs POWER hosts: elsewhere the server ends in ERROR')])


def test_what_nova_compute_no_longer_starts_without_is_a_note(check):
    status, found = check('hw_tpm_*, hw_cpu_policy')
    assert status == 0
    assert [each[:3] for each in found] == [
        ('note', 'H4', 'hw_cpu_policy'), ('note', 'H4', 'hw_tpm_model'),
        ('note', 'H4', 'hw_tpm_version')]
    assert '[compute] cpu_dedicated_set' in found[0][3]
    assert '[libvirt] swtpm_enabled' in found[1][3]
    assert check('hw_cpu_*', denied='hw_cpu_policy') == (0, [])


@pytest.mark.parametrize(('allowed', 'denied', 'billed'), [
    ('os_type', '', ['os_type']), ('os_*', '', ['os_distro', 'os_type']),
    ('hw_boot_menu', '', []), ('os_*', 'os_type, os_distro', [])])
def test_what_clouds_bill_by_is_a_note(check, allowed, denied, billed):
    _, found = check(allowed, denied=denied, code='B')
    assert [each[:3] for each in found] == [
        ('note', 'B1', name) for name in billed]


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
