"""Network interfaces, and what virtio devices have."""

from nova_image_override.properties.book.vocabulary import (
    ERROR, Excludes, PC, Q35, Reader, Record, records, same)


#: From libvirt 8.3 on, "auto" is virtio too.
_VIRTIO_IOMMU = 'a libvirt that takes attributes of it (11.3 does not)'

_NO_IOAPIC = 'a libvirt that takes an I/O APIC on Arm (11.3 does not)'

RECORDS = records(
    Record(
        'hw_vif_model', 'Model of the network interfaces (network cards).',
        # LibvirtDriver's MIN_IGB_*
        hosts={'igb': 'hosts with libvirt 9.3 and QEMU 8',
               'lan9118': 'Arm machine types that have it',
               'spapr-vlan': 'POWER hosts'},
        readers=(
            # vif.SUPPORTED_VIF_MODELS
            Reader(
                'libvirt', values=(
                    'e1000', 'e1000e', 'igb', 'lan9118', 'ne2k_pci', 'pcnet',
                    'rtl8139', 'spapr-vlan', 'virtio', 'vmxnet3'),
                otherwise=ERROR),
            Reader(
                'vmwareapi', values=(
                    'e1000', 'e1000e', 'pcnet', 'sriov', 'vmxnet', 'vmxnet3'),
                otherwise=ERROR))),
    Record(
        'hw_vif_multiqueue_enabled',
        'Give each network interface one queue per vCPU, of which it needs '
        'two. Acts on virtio interfaces whose network can do it.',
        idle='it needs a flavor with at least 2 vCPUs, and '
             'hw_vif_model=virtio',
        # LibvirtGenericVIFDriver.get_base_config
        gets=lambda guest: guest.ask('get_vif_multiqueue_constraint')
        and guest.prop('hw_vif_model') in (None, 'virtio'),
        flavor=same('hw:vif_multiqueue_enabled'),
        checked_by=('get_vif_multiqueue_constraint',)),
    Record(
        'hw_viommu_model', 'Model of the virtual IOMMU.',
        gets=lambda guest: (guest.spec('hw:viommu_model')
                            or guest.prop('hw_viommu_model')),
        # LibvirtDriver._guest_add_iommu_device gives each model attributes.
        hosts={'auto': _VIRTIO_IOMMU, 'smmuv3': _NO_IOAPIC,
               'virtio': _VIRTIO_IOMMU},
        flavor=same('hw:viommu_model'),
        # LibvirtDriver._get_iommu_model
        excludes=(
            Excludes(
                'hw_machine_type', ('*',), 'Nova has a vIOMMU for q35 and virt '
                'only', 'set hw_machine_type=q35, on Arm virt',
                but=('*q35*', '*virt*')),
            # Nova adds one to each vIOMMU; qemuValidateDomainDefFeatures
            Excludes(
                'hw_architecture', ('*',), 'the \'ioapic\' feature, which Nova '
                'adds, is not supported for this architecture',
                'leave it out', but=('i686', 'x86_64')),
            # qemuValidateDomainDeviceDefIOMMU
            Excludes(
                'hw_machine_type', (*Q35, *PC), 'IOMMU device smmuv3 is only '
                'supported with ARM Virt machines', 'set hw_viommu_model=intel',
                of=('smmuv3',)))),
    Record(
        'hw_virtio_packed_ring', 'Use the packed layout of virtio rings.',
        flavor=same('hw:virtio_packed_ring'),
        gets=lambda guest: guest.ask('get_packed_virtqueue_constraint'),
        # libvirt, virDomainDeviceDefValidate
        excludes=(
            Excludes(
                'hw_vif_model', ('*',), 'packed driver option is only '
                'supported for virtio devices', 'set hw_vif_model=virtio',
                of=('true',), but=('virtio',)),),
        checked_by=('get_packed_virtqueue_constraint',)),
)
