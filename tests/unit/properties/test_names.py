"""Names that users type: each refusal of one has true words.

The names are those of Glance 33's metadata definitions for images, of the
lists of useful image properties in Glance's and Nova's documentation, and what
people make of them.
"""

from nova import utils
import pytest

from nova_image_override import errors
from nova_image_override.properties import catalog as catalog_module
from tests.unit import refusals

CATALOG = catalog_module.running()
UNREAD = 'not an image property that Nova reads'

#: Name -> what the reason says.
SAID = {
    'kernel_id': 'the image\'s own, which no override replaces: boot from an '
                 'image that has this kernel; its arguments are '
                 'os_command_line',
    'ramdisk_id': 'the image\'s own, which no override replaces: boot from an '
                  'image that has this ramdisk',
    'os_shutdown_timeout': 'the image\'s own, which no override replaces: set '
                           'it on the image',
    'cinder_encryption_key_id': 'the image\'s own, which no override replaces: '
                                'Cinder writes it',
    **dict.fromkeys(
        utils.SM_INHERITABLE_KEYS, 'an attribute of the image, not a property: '
        'no override replaces it'),
    'cinder_img_volume_type': f'{UNREAD}: name the volume type in the request '
                              '(block_device_mapping_v2)',
    # Informational, of Glance, or of no release any more.
    **dict.fromkeys(
        ('os_version', 'description', 'instance_uuid', 'image_type',
         'instance_type_rxtx_factor', 'os_secure_boot_signature',
         'sw_database_mysql_version', 'sw_runtime_python_version',
         'sw_webserver_apache_http_port', 'CIM_PASD_InstructionSet',
         'CIM_PASD_ProcessorArchitecture', 'owner_specified.openstack.md5',
         'os_hash_algo', 'hw_boot_order', 'hw_cpu_flags', 'vmware_boot_order'),
        UNREAD),
    'hw_tpm': f'{UNREAD}, did you mean hw_tpm_model or hw_tpm_version?',
    'hw_vtpm': f'{UNREAD}, did you mean hw_tpm_model or hw_tpm_version?',
    'os_name': f'{UNREAD}, did you mean os_distro or os_type?',
    'hw_secure_boot': f'{UNREAD}, did you mean os_secure_boot?',
    'hw_vif_type': f'{UNREAD}, did you mean hw_vif_model?',
    'HW_Uefi': f'{UNREAD}, did you mean hw_firmware_type?',
    # A flavor's extra spec alike decides something else.
    'hw_hide_hypervisor_id': f'{UNREAD}, did you mean img_hide_hypervisor_id?',
    # Only alike: hw_boot_menu, hw_tpm_model, hw_cpu_cores, hw_pmu.
    'hw_boot_mode': f'{UNREAD}, did you mean hw_firmware_type?',
    'hw_net_model': f'{UNREAD}, did you mean hw_vif_model?',
    **{f'hw_cpu_{unit}_max': f'{UNREAD}, did you mean hw_cpu_max_{unit}?'
       for unit in ('sockets', 'cores', 'threads')},
    **dict.fromkeys(
        ('hw_cpu_mode', 'hw_cpu_model', 'cpu_mode', 'cpu_model'),
        f'{UNREAD}: the host decides on the CPU model ([libvirt] cpu_mode); '
        'require what the CPU can do with trait:NAME'),
    **dict.fromkeys(('hw_gpu', 'hw_vgpu'), f'{UNREAD}: it is the flavor that '
                    'asks for GPUs'),
    # Misspelt.
    'hw_disk_buss': f'{UNREAD}, did you mean hw_disk_bus?',
    'hw_guest_agent': f'{UNREAD}, did you mean hw_qemu_guest_agent?',
    'hw_multiqueue': f'{UNREAD}, did you mean hw_vif_multiqueue_enabled?',
    'os_distribution': f'{UNREAD}, did you mean os_distro?',
    **dict.fromkeys(('hw_numa_cpu', 'hw_numa_cpu.0'),
                    f'{UNREAD}, did you mean hw_numa_cpus.N?'),
    'hw_os_command_line': f'{UNREAD}, did you mean os_command_line?',
    'hw_memory_page_size': f'{UNREAD}, did you mean hw_mem_page_size?',
    'img_config_driv': f'{UNREAD}, did you mean img_config_drive?',
    # As Glance's definition of TPM traits spells them.
    'traits:COMPUTE_SECURITY_TPM_2_0':
        f'{UNREAD}, the names are trait:NAME with up to 213 of A-Z, 0-9 and _',
    'hw.emulator_threads_policy': UNREAD,
    'hw_emulator_threads_policy':
        f'{UNREAD}, only a flavor can have it: extra spec '
        'hw:emulator_threads_policy',
}


def reason(name):
    found = refusals.of(CATALOG.resolve, name)
    assert found == {name: (errors.UNKNOWN, found[name][1])}
    return found[name][1]


@pytest.mark.parametrize('name', SAID)
def test_the_reason_is_true_and_says_what_to_do(name):
    assert reason(name) == SAID[name]


@pytest.mark.parametrize('name', [
    *catalog_module.MEANT, *catalog_module.REASONS])
def test_no_property_has_a_name_of_the_tables(name):
    assert CATALOG.field_of(name) is None
    assert name not in CATALOG.legacy
    assert len(reason(name)) <= 300


def test_what_is_meant_are_properties_that_can_be_permitted():
    from nova_image_override.properties import book
    for names in catalog_module.MEANT.values():
        assert not [name for name in names.split()
                    if book.RECORDS[name].never]


@pytest.mark.parametrize('device', [
    each for each in (
        'cdrom', 'disk', 'firmware', 'machine', 'rng', 'scsi', 'sound', 'usb',
        'video', 'viommu', 'watchdog')
    # Nova 31 and older have none of sound and of USB.
    if any(field.startswith(f'hw_{each}_') for field in CATALOG)])
def test_a_device_alone_means_the_properties_that_begin_with_it(device):
    meant = reason(f'hw_{device}').removeprefix(
        f'{UNREAD}, did you mean ').removesuffix('?').split(' or ')
    assert all(name.startswith(f'hw_{device}_') for name in meant)


def test_a_name_too_long_to_be_meant_gets_no_advice():
    assert reason('hw_disk_bus'.ljust(64)).endswith('did you mean hw_disk_bus?')
    assert reason('hw_disk_bus'.ljust(65)) == UNREAD


@pytest.mark.parametrize('name, field', [
    ('architecture', 'hw_architecture'), ('hypervisor_type', 'img_hv_type'),
    ('hypervisor_version_requires', 'img_hv_requested_version'),
    ('vm_mode', 'hw_vm_mode'), ('vmware_ostype', 'os_distro'),
    ('vmware_adaptertype', 'hw_disk_bus or hw_scsi_model'),
    ('vmware_disktype', 'hw_disk_type'),
    ('vmware_image_version', 'img_version'),
    ('auto_disk_config', 'hw_auto_disk_config')])
def test_names_of_glances_definitions_that_are_old_name_the_new_one(
        name, field):
    assert refusals.of(CATALOG.resolve, name) == {
        name: (errors.LEGACY_NAME, f'legacy name, use {field}')}


@pytest.mark.parametrize(('name', 'members'), [
    ('hw_numa_cpus', 'hw_numa_cpus.N, one entry each, N from 0 to 127, no '
                     'leading zeros'),
    ('hw_numa_mem', 'hw_numa_mem.N, one entry each, N from 0 to 127, no '
                    'leading zeros'),
    ('traits_required', 'trait:NAME, one entry each, up to 213 of A-Z, 0-9 '
                        'and _')])
def test_the_field_of_a_family_is_told_the_names_of_its_members(name, members):
    assert refusals.of(CATALOG.resolve, name) == {
        name: (errors.LIST_FIELD, f'use {members}')}
