"""Encryption of memory and disks, TPM, Secure Boot."""

from typing import Any

from nova_image_override.properties.book.vocabulary import (
    AT_BUILD, AT_CREATE, AT_UNSHELVE, ERROR, Excludes, Gets, IGNORED,
    PC, Reader, Record, records, same)

_MEMORY_CHECKED = ('get_mem_encryption_constraint',)

# LibvirtDriver.process_instances_at_startup, ComputeManager.init_host before
# Nova 34.
_SWTPM = '[libvirt] swtpm_enabled'
_ENCRYPTING = 'that way of encrypting memory (Nova 34)'


def _tpm(part: str) -> Gets:
    """Get the version or the model of the TPM."""
    return lambda guest: getattr(guest.ask('get_vtpm_constraint'), part, None)


def _encrypts_disks(guest: Any) -> bool:
    """Follow API._update_ephemeral_encryption_bdms and the prefilter."""
    return bool(guest.ask('get_ephemeral_encryption_constraint'))


def _memory_model(guest: Any) -> Any:
    """Nova 31 only knows whether memory is encrypted, later releases how."""
    found = guest.ask('get_mem_encryption_constraint')
    return (getattr(found, 'model', None)
            or guest.only('hw_mem_encryption_model', bool(found)))


def _secure_boot(guest: Any) -> Any:
    """Follow LibvirtDriver._configure_guest_by_virt_type; Arm boots by UEFI."""
    firmware = guest.prop('hw_firmware_type') or (
        'uefi' if guest.architecture == 'aarch64' else 'bios')
    return (firmware == 'uefi' and guest.ask('get_secure_boot_constraint')) \
        or 'disabled'


RECORDS = records(
    Record(
        'hw_ephemeral_encryption',
        'Encrypt the local disks, where the server has any.',
        # Image.SUPPORTS_LUKS is False for every kind of disk.
        readers=(Reader('libvirt', values=('false',), otherwise=ERROR),),
        settled=AT_CREATE, gets=_encrypts_disks,
        flavor=same('hw:ephemeral_encryption')),
    Record(
        'hw_ephemeral_encryption_format',
        'Format in which local disks are encrypted.',
        needs='hw_ephemeral_encryption=true',
        readers=(Reader('libvirt', ERROR, note='it encrypts no disks'),),
        settled=AT_CREATE, gets=lambda guest: guest.ask(
            'get_ephemeral_encryption_format')
        if _encrypts_disks(guest) else None,
        flavor=same('hw:ephemeral_encryption_format')),
    Record(
        'hw_firmware_stateless', 'Use firmware without persistent variables.',
        needs='hw_firmware_type=uefi', settled=AT_BUILD,
        gets=lambda guest: guest.has_stateless_firmware),
    Record(
        'hw_mem_encryption',
        'Encrypt guest memory.',
        needs='hw_firmware_type=uefi and a capable host',
        checked_by=_MEMORY_CHECKED, settled=AT_UNSHELVE,
        keeps=_ENCRYPTING,
        gets=lambda guest: bool(guest.ask('get_mem_encryption_constraint')),
        flavor=same('hw:mem_encryption')),
    Record(
        'hw_mem_encryption_model',
        'Technology that encrypts guest memory.',
        needs='hw_mem_encryption=true',
        checked_by=_MEMORY_CHECKED, settled=AT_UNSHELVE, gets=_memory_model,
        keeps=_ENCRYPTING,
        flavor=same('hw:mem_encryption_model')),
    Record(
        'hw_tpm_model', 'Model of the emulated TPM (vTPM).',
        needs='hw_tpm_version', gets=_tpm('model'),
        checked_by=('get_vtpm_constraint',), settled=AT_UNSHELVE,
        keeps=_SWTPM, flavor=same('hw:tpm_model')),
    Record(
        'hw_tpm_version',
        'Version of the emulated TPM (vTPM), which a server keeps for life.',
        checked_by=('get_vtpm_constraint',), settled=AT_UNSHELVE,
        # libvirt, qemuValidateDomainDeviceDefTPM
        excludes=(
            Excludes(
                'hw_architecture', ('aarch64',), 'TPM 1.2 is not supported on '
                'this architecture', 'set hw_tpm_version=2.0', of=('1.2',)),),
        gets=_tpm('version'), keeps=_SWTPM, flavor=same('hw:tpm_version')),
    Record(
        'os_secure_boot',
        'Whether UEFI Secure Boot is used.',
        needs='hw_firmware_type=uefi, which is the default with '
              'hw_architecture=aarch64 only', gets=_secure_boot,
        flavor=same('os:secure_boot'), settled=AT_BUILD,
        # LibvirtDriver._check_secure_boot_support
        excludes=(
            Excludes(
                'hw_machine_type', PC, 'on x86, Nova has Secure Boot for q35 '
                'only', 'set hw_machine_type=q35', of=('required',)),
            Excludes(
                'hw_machine_type', PC, 'would do nothing: on x86, Nova has '
                'Secure Boot for q35 only', 'set hw_machine_type=q35',
                of=('optional',), outcome=IGNORED)),
        checked_by=('get_secure_boot_constraint',)),
)
