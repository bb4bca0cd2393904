"""Disks, CD-ROM drives and the config drive."""

from nova_image_override.properties.book.vocabulary import (
    API, ERROR, Excludes, LIBVIRT, Limits, Q35, Reader, Record, records, VIRT,
    VMWARE, VMWARE_ONLY, WORD)

#: blockinfo.SUPPORTED_DEVICE_BUSES of the types of guest that Nova still has,
#: less fdc, which libvirt has for floppy drives alone.
_BUSES = ('ide', 'lxc', 'sata', 'scsi', 'usb', 'virtio')
_LXC = {'lxc': 'hosts with virt_type=lxc'}
# libvirt, qemuValidateDomainDeviceDefControllerIDE
_NO_IDE = (
    Excludes(
        'hw_machine_type', (*Q35, *VIRT), 'IDE controllers are unsupported for '
        'this machine type', 'choose the bus sata, scsi or virtio',
        of=('ide',)),
    Excludes(
        'hw_architecture', ('aarch64',), 'IDE controllers are unsupported for '
        'its machine types', 'choose the bus scsi or virtio', of=('ide',)))

RECORDS = records(
    Record(
        'hw_auto_disk_config',
        'Whether the root partition and file system are resized to the '
        'flavor\'s disk; "disabled" forbids the server to ask for it.',
        limits=Limits(values=('true', 'false', 'disabled')),
        # What the server says of itself; no driver asks for it.
        readers=(Reader(API),),
        read_as='auto_disk_config'),
    Record(
        'hw_cdrom_bus',
        'Bus that CD-ROM drives are attached to. Config drives are such '
        'drives where the host makes them so.', hosts=_LXC, excludes=_NO_IDE,
        # libvirt: virtio has no drives whose media can be ejected.
        readers=(Reader('libvirt', values=_BUSES[:-1], otherwise=ERROR),)),
    Record(
        'hw_disk_bus',
        'Bus that disks are attached to, unless the request names one for a '
        'disk.', hosts=_LXC, excludes=_NO_IDE,
        readers=(
            Reader('libvirt', values=_BUSES, otherwise=ERROR),
            Reader('vmwareapi', values=('ide', 'scsi'),
                   needs={'scsi': ('hw_scsi_model', '')}))),
    Record(
        'hw_disk_type',
        'Disk format, such as preallocated, sparse, streamOptimized. '
        + VMWARE_ONLY, limits=WORD,
        readers=(
            Reader(
                'vmwareapi', values=(
                    'eagerZeroedThick', 'preallocated', 'sparse',
                    'streamOptimized', 'thick', 'thin'), otherwise=ERROR),)),
    Record(
        'hw_floppy_bus',
        'Bus that floppy drives are attached to, which only a rescue makes.',
        readers=(Reader('libvirt', values=('fdc',), otherwise=ERROR),)),
    Record(
        'hw_rescue_bus', 'Bus of the rescue device.', excludes=_NO_IDE,
        readers=(Reader('libvirt', values=_BUSES, otherwise=ERROR),)),
    Record(
        'hw_rescue_device', 'Type of the rescue device.',
        # libvirt defines neither of the guests that Nova then makes.
        excludes=(
            Excludes(
                'hw_rescue_bus', ('virtio',), 'this bus does not support '
                'ejectable media', 'choose another one', of=('cdrom',)),
            Excludes(
                'hw_rescue_bus', ('*',), 'invalid bus for a floppy disk',
                'leave it out', of=('floppy',))),
        # Of lun, Nova looks for a hw_lun_bus, which it does not have.
        readers=(
            Reader('libvirt', values=('cdrom', 'disk', 'floppy'),
                   otherwise=ERROR),)),
    Record(
        'hw_scsi_model',
        'Model of the SCSI controller, for disks with hw_disk_bus=scsi.',
        hosts={'ibmvscsi': 'POWER hosts'},
        readers=(
            Reader(
                'libvirt', values=(
                    'ibmvscsi', 'lsilogic', 'lsisas1068', 'lsisas1078',
                    'virtio-scsi', 'vmpvscsi'), otherwise=ERROR),
            Reader(
                'vmwareapi',
                values=('buslogic', 'lsilogic', 'lsisas1068', 'vmpvscsi'),
                needs={'': ('hw_disk_bus', 'scsi')}))),
    Record(
        'img_config_drive', 'Whether the guest must have a config drive.',
        readers=(
            LIBVIRT,
            Reader('vmwareapi', values=('optional',), otherwise=ERROR),
            Reader('ironic'), Reader('zvm'))),
    Record(
        'img_linked_clone',
        'Clone the image\'s disk instead of copying it. ' + VMWARE_ONLY,
        readers=(VMWARE,)),
)
