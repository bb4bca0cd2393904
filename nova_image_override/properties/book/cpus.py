"""The guest's CPUs: topology, pinning, features."""
from __future__ import annotations

from typing import Any

from nova_image_override.properties.book.vocabulary import (
    at_most, COMPARED, CPU_LIST, Excludes, IGNORED, LIBVIRT, number, Reader,
    Record, records, same, UNSCHEDULED, VMWARE)

# nova.virt.hardware.get_cpu_topology_constraints caps sockets, cores and
# threads at 65536.
_COUNT = number(65536)
_TOPOLOGY = (LIBVIRT, VMWARE)
_ALL_COMPARED = f'{", ".join(COMPARED[:-1])} and {COMPARED[-1]}'
_THREADS = (LIBVIRT, Reader(
    'vmwareapi', IGNORED, note='a guest has one thread per core'))


def _preferred(dimension: str, text: str) -> Record:
    """Return the record of a part of the CPU topology that is preferred."""
    name = f'hw_cpu_{dimension}'
    return Record(
        name, text, limits=_COUNT,
        readers=_THREADS if dimension == 'threads' else _TOPOLOGY,
        flavor=at_most(f'hw:cpu_max_{dimension}'),
        gets=lambda guest: guest.topology(name),
        idle='the sockets, cores and threads that are asked for must make the '
             'flavor\'s number of vCPUs, within the hw_cpu_max_* limits')


def _most(dimension: str, text: str) -> Record:
    """Return the record of a limit of the CPU topology."""
    return Record(
        f'hw_cpu_max_{dimension}', text, limits=_COUNT,
        readers=_THREADS if dimension == 'threads' else _TOPOLOGY,
        flavor=at_most(f'hw:cpu_max_{dimension}'))


def _address_bits(guest: Any) -> int | None:
    """Follow LibvirtDriver._get_guest_cpu_config_maxphysaddr."""
    bits = (guest.spec('hw:maxphysaddr_bits')
            or guest.prop('hw_maxphysaddr_bits'))
    mode = (guest.spec('hw:maxphysaddr_mode')
            or guest.prop('hw_maxphysaddr_mode'))
    return int(bits) if bits and mode else None


RECORDS = records(
    _preferred(
        'cores',
        'CPU cores per socket, in a topology that makes the flavor\'s vCPUs.'),
    _most('cores', 'Most CPU cores per socket.'),
    _most('sockets', 'Most CPU sockets.'),
    _most('threads', 'Most CPU threads per core.'),
    Record(
        'hw_cpu_policy',
        'CPU pinning: whether vCPUs float over shared host CPUs, are pinned to '
        'dedicated ones, or a mix. A flavor\'s own policy may forbid it.',
        in_topology=True,
        checked_by=('numa_get_constraints',),
        flavor=same('hw:cpu_policy'), keeps='[compute] cpu_dedicated_set',
        gets=lambda guest: guest.ask('get_cpu_policy_constraint')),
    Record(
        'hw_cpu_realtime_mask',
        'vCPUs that run with realtime priority, or with a leading ^ those '
        'that do not.', needs='a flavor with hw:cpu_realtime=yes',
        gets=lambda guest: guest.only(
            'hw_cpu_realtime_mask', guest.flag('hw:cpu_realtime')),
        limits=CPU_LIST,
        checked_by=('get_realtime_cpu_constraint', 'numa_get_constraints')),
    _preferred(
        'sockets',
        'CPU sockets, in a topology that makes the flavor\'s vCPUs.'),
    Record(
        'hw_cpu_thread_policy',
        'How pinned vCPUs use the host\'s hardware threads (hyper-threading).',
        needs='a dedicated or mixed CPU policy',
        in_topology=True, checked_by=('numa_get_constraints',),
        flavor=same('hw:cpu_thread_policy'),
        gets=lambda guest: guest.ask('get_cpu_thread_policy_constraint')),
    _preferred(
        'threads',
        'CPU threads per core, in a topology that makes the flavor\'s vCPUs.'),
    Record(
        'hw_emulation_architecture',
        'CPU architecture to emulate on a host of another one.'),
    Record(
        'hw_maxphysaddr_bits',
        'Physical address bits of the guest\'s CPUs; at most what the host '
        'has.',
        needs=f'hw_maxphysaddr_mode, and none of {_ALL_COMPARED}, beside which '
              'Nova\'s scheduler fails', gets=_address_bits,
        flavor=same('hw:maxphysaddr_bits'), limits=number(64, 32),
        excludes=(
            Excludes(
                'hw_maxphysaddr_mode', ('passthrough',), 'CPU maximum physical '
                'address bits number specification cannot be used with '
                'mode=passthrough', 'set hw_maxphysaddr_mode=emulate, or '
                'leave the bits out'),
            # _compare_maxphysaddr_bits takes JSON text (cpu_info) for a
            # dictionary where there is something else to compare.
            *(Excludes(name, ('*',), 'Nova\'s scheduler fails with both',
                       'leave it out', outcome=UNSCHEDULED)
              for name in COMPARED))),
    Record(
        'hw_maxphysaddr_mode',
        'Whether the physical address width is passed through or emulated.',
        flavor=same('hw:maxphysaddr_mode'),
        gets=lambda guest: guest.ask('get_maxphysaddr_mode'),
        checked_by=('get_maxphysaddr_mode',),
        # libvirt, qemuValidateDomainDefCpu
        excludes=(
            Excludes(
                'hw_architecture', ('*',), 'CPU maximum physical address bits '
                'specification is not supported for this architecture',
                'leave it out', but=('i686', 'x86_64')),)),
    Record(
        'hw_pmu', 'Give the guest a virtual performance monitoring unit.',
        flavor=same('hw:pmu'), checked_by=('get_pmu_constraint',)),
    Record(
        'hw_time_hpet',
        'Give the guest a high precision event timer. x86 with KVM only.',
        # LibvirtDriver._set_kvm_timers
        gets=lambda guest: guest.architecture in (
            None, 'i686', 'x86_64') and bool(guest.prop('hw_time_hpet')),
        idle='it needs an x86 guest, and hw_architecture or '
             'hw_emulation_architecture says another'),
    Record(
        'img_hide_hypervisor_id', 'Hide from the guest that it runs under KVM.',
        # LibvirtDriver._set_features
        gets=lambda guest: (
            guest.flag('hide_hypervisor_id')
            or guest.flag('hw:hide_hypervisor_id')
            or bool(guest.prop('img_hide_hypervisor_id'))),
        flavor=same('hw:hide_hypervisor_id', 'hide_hypervisor_id')),
)
