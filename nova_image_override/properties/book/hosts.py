"""Choice of a host."""

from nova_image_override.properties.book.vocabulary import (
    checks, chooses, IMAGE_FILTER, libvirt, Limits, Reader, Record, records)

RECORDS = records(
    Record(
        'hw_architecture',
        'CPU architecture the guest needs; the scheduler picks hosts by it.',
        readers=(
            libvirt('utils.get_arch'), chooses(IMAGE_FILTER),
            checks('API._check_image_arch', 'create', 'rebuild')),
        read_as='architecture'),
    Record(
        'hw_vm_mode', 'Guest ABI; the scheduler picks hosts by it.',
        readers=(chooses(IMAGE_FILTER),), read_as='vm_mode'),
    Record(
        'img_hv_requested_version',
        'Hypervisor versions the guest needs, such as >=6.0,<8.0.',
        limits=Limits(expects='comparisons with a version, such as >=6.0,<8.0'),
        readers=(
            chooses(
                f'{IMAGE_FILTER}._compare_product_version',
                'beside hw_architecture, img_hv_type or hw_vm_mode'),)),
    Record(
        'img_hv_type',
        'Hypervisor the guest needs; the scheduler picks hosts by it.',
        readers=(chooses(IMAGE_FILTER),)),
    Record(
        'traits_required',
        'Trait that the host must have; the scheduler picks hosts by it.',
        checked_by=('numa_get_constraints',),
        readers=(
            chooses('ResourceRequest._process_image_meta'),
            Reader(
                'ironic', 'GenericDriverFields.get_deploy_patch',
                ('create', 'rebuild'),
                note='without the compute part a rebuild takes none of the '
                     'node\'s traits away'))),
)
