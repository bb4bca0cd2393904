"""Disks, CD-ROM drives and the config drive."""

from nova_image_override.properties.book.vocabulary import (
    ANEW, API, checks, ERROR, GUEST, libvirt, Limits, PREFILTER, Reader, Record,
    records, vmware, VMWARE_ONLY, WORD)

#: blockinfo.SUPPORTED_DEVICE_BUSES of the types of guest that Nova still has,
#: less fdc, which libvirt has for floppy drives alone.
_BUSES = ('ide', 'lxc', 'sata', 'scsi', 'usb', 'virtio')
_LXC = {'lxc': 'hosts with virt_type=lxc'}
_BUS = 'blockinfo.get_disk_bus_for_device_type'
_VMWARE_IMAGE = 'VMwareImage.from_image'
_ATTACHED = (*GUEST, 'attach')
_RESCUE = checks('API.rescue', 'rescue')

RECORDS = records(
    Record(
        'hw_auto_disk_config',
        'Whether the root partition and file system are resized to the '
        'flavor\'s disk; "disabled" forbids the server to ask for it.',
        limits=Limits(
            pattern='^(true|false|disabled)$',
            expects='one of true, false, disabled'),
        readers=(
            Reader(
                API, 'API._inherit_properties_from_image',
                ('create', 'rebuild', 'resize'),
                note='what the server says of itself; no driver asks for it'),),
        read_as='auto_disk_config'),
    Record(
        'hw_cdrom_bus',
        'Bus that CD-ROM drives are attached to. Config drives are such '
        'drives where the host makes them so.', hosts=_LXC,
        # libvirt: virtio has no drives whose media can be ejected.
        readers=(
            libvirt(_BUS, values=_BUSES[:-1], otherwise=ERROR), PREFILTER)),
    Record(
        'hw_disk_bus',
        'Bus that disks are attached to, unless the request names one for a '
        'disk.', hosts=_LXC,
        readers=(
            libvirt(_BUS, _ATTACHED, values=_BUSES, otherwise=ERROR), PREFILTER,
            vmware(
                _VMWARE_IMAGE, values=('ide', 'scsi'),
                needs={'scsi': ('hw_scsi_model', '')},
                note='any other bus leaves the adapter lsiLogic, and scsi '
                     'without hw_scsi_model names none'))),
    Record(
        'hw_disk_type',
        'Disk format, such as preallocated, sparse, streamOptimized. '
        + VMWARE_ONLY, limits=WORD,
        readers=(
            vmware(
                _VMWARE_IMAGE, ('create', 'rebuild', 'rescue'),
                values=(
                    'eagerZeroedThick', 'preallocated', 'sparse',
                    'streamOptimized', 'thick', 'thin'), otherwise=ERROR,
                note='VMware\'s cache of images is by image: where the '
                     'datastore has it already, the disk has the type of '
                     'the first boot'),)),
    Record(
        'hw_floppy_bus',
        'Bus that floppy drives are attached to, which only a rescue makes.',
        readers=(
            libvirt(_BUS, ('rescue',), values=('fdc',), otherwise=ERROR),)),
    Record(
        'hw_rescue_bus', 'Bus of the rescue device.',
        readers=(
            libvirt('blockinfo.get_rescue_bus', ('rescue',), values=_BUSES,
                    otherwise=ERROR), _RESCUE)),
    Record(
        'hw_rescue_device', 'Type of the rescue device.',
        # Of lun, Nova looks for a hw_lun_bus, which it does not have.
        readers=(
            libvirt('blockinfo.get_rescue_device', ('rescue',), values=(
                'cdrom', 'disk', 'floppy'), otherwise=ERROR), _RESCUE)),
    Record(
        'hw_scsi_model',
        'Model of the SCSI controller, for disks with hw_disk_bus=scsi.',
        hosts={'ibmvscsi': 'POWER hosts'},
        readers=(
            libvirt(
                'LibvirtDriver._get_scsi_controller', _ATTACHED, values=(
                    'ibmvscsi', 'lsilogic', 'lsisas1068', 'lsisas1078',
                    'virtio-scsi', 'vmpvscsi'), otherwise=ERROR),
            vmware(
                _VMWARE_IMAGE,
                values=('buslogic', 'lsilogic', 'lsisas1068', 'vmpvscsi'),
                needs={'': ('hw_disk_bus', 'scsi')}))),
    Record(
        'img_config_drive', 'Whether the guest must have a config drive.',
        readers=(
            libvirt('LibvirtDriver._create_configdrive'),
            vmware(
                'VMwareVMOps.spawn', values=('optional',), otherwise=ERROR,
                note='Nova cannot send vSphere a config drive'),
            Reader('ironic', 'IronicDriver.spawn', ('create', 'rebuild')),
            Reader('zvm', 'utils.generate_configdrive', ANEW),
            checks(
                'API._validate_flavor_image_nostatus', 'create', 'rebuild'))),
    Record(
        'img_linked_clone',
        'Clone the image\'s disk instead of copying it. ' + VMWARE_ONLY,
        readers=(vmware(_VMWARE_IMAGE),)),
)
