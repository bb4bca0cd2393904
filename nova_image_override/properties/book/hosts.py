"""Choice of a host."""

from nova_image_override.properties.book.vocabulary import (
    CHOOSES, COMPARED, LIBVIRT, Limits, Reader, Record, records)

RECORDS = records(
    Record(
        'hw_architecture',
        'CPU architecture the guest needs; the scheduler picks hosts by it.',
        readers=(LIBVIRT, CHOOSES), read_as='architecture'),
    Record(
        'hw_vm_mode', 'Guest ABI; the scheduler picks hosts by it.',
        readers=(CHOOSES,), read_as='vm_mode'),
    Record(
        'img_hv_requested_version',
        'Hypervisor versions the guest needs, such as >=6.0,<8.0.',
        limits=Limits(expects='comparisons with a version, such as >=6.0,<8.0'),
        needs=f'{", ".join(COMPARED[:-1])} or {COMPARED[-1]}',
        # ImagePropertiesFilter._instance_supported
        gets=lambda guest: guest.only(
            'img_hv_requested_version',
            guest.default_architecture or any(map(guest.prop, COMPARED))),
        readers=(CHOOSES,)),
    Record(
        'img_hv_type',
        'Hypervisor the guest needs; the scheduler picks hosts by it.',
        readers=(CHOOSES,)),
    Record(
        'traits_required',
        'Trait that the host must have; the scheduler picks hosts by it.',
        checked_by=('numa_get_constraints',),
        readers=(CHOOSES, Reader('ironic'))),
)
