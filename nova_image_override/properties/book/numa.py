"""NUMA nodes, huge pages and locked memory."""

from nova_image_override.properties.book.vocabulary import (
    AT_CREATE, CPU_LIST, Gets, Limits, number, Record, records, same,
    without)

_CHECKED = ('numa_get_constraints',)


def _in_nodes(name: str) -> Gets:
    """Get the value asked for if the guest has NUMA nodes."""
    return lambda guest: guest.only(
        name, guest.ask('numa_get_constraints') is not None)


RECORDS = records(
    Record(
        'hw_locked_memory',
        'Keep guest memory from being swapped out.',
        needs='a memory page size in the flavor or hw_mem_page_size',
        # As Nova 34; up to 33 only the libvirt driver knows everything. It
        # locks realtime guests, too (_get_guest_memory_backing_config).
        gets=lambda guest: guest.flag('hw:cpu_realtime') or bool(
            guest.ask('get_locked_memory_constraint')),
        checked_by=_CHECKED,
        flavor=same('hw:locked_memory', 'hw:mem_encryption'),
        idle='it needs a server whose memory is not encrypted, and a flavor '
             'without hw:cpu_realtime: both keep it locked'),
    Record(
        'hw_mem_page_size',
        'Memory page size (huge pages): small, large, any, or a size in KiB '
        '(2MB is taken as 2048). Allowed only with a flavor whose '
        'hw:mem_page_size is any or large.',
        limits=Limits(
            pattern='^(small|large|any|[1-9][0-9]{0,8})$', size=True,
            expects='small, large, any, a number of KiB, or a number with '
                    'KB, MB or GB'), checked_by=_CHECKED,
        in_topology=True),
    Record(
        'hw_numa_cpus', 'vCPUs of guest NUMA node N.',
        needs='hw_numa_nodes, and memory for each node',
        gets=_in_nodes('hw_numa_cpus'), limits=CPU_LIST,
        flavor=without('hw:numa_cpus.0'), checked_by=_CHECKED,
        in_topology=True),
    Record(
        'hw_numa_mem', 'Memory of guest NUMA node N, in MiB.',
        needs='hw_numa_nodes, and vCPUs for each node',
        gets=_in_nodes('hw_numa_mem'), limits=number(2**31 - 1),
        flavor=without('hw:numa_mem.0'), checked_by=_CHECKED,
        in_topology=True),
    Record(
        'hw_numa_nodes', 'Number of guest NUMA nodes.', limits=number(128),
        flavor=without('hw:numa_nodes', 'hw:numa_cpus.0', 'hw:numa_mem.0'),
        checked_by=_CHECKED,
        in_topology=True),
    Record(
        'hw_pci_numa_affinity_policy',
        'How closely PCI devices (SR-IOV) and NUMA nodes must lie together. '
        'Acts on devices that the flavor or a port asks for.',
        flavor=same('hw:pci_numa_affinity_policy'),
        checked_by=('get_pci_numa_policy_constraint',), settled=AT_CREATE,
        gets=lambda guest: guest.ask('get_pci_numa_policy_constraint')),
)
