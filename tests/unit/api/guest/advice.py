"""Does what the reasons of refusals say, as a user would who reads them.

A reason that nobody would know what to do with is an AssertionError. So is
one whose words nobody has taught :data:`STEPS`; those that say the contrary of
what helps are understood, and done.
"""

import math
import re

#: Of the flavor of tests.unit.api.guest.guests.
VCPUS, MEMORY = 4, 1024

#: How reasons begin that no override makes: Nova refuses this flavor with the
#: image as it is. Those without advice no override mends either.
CONFLICT = 'image and flavor conflict by themselves: '

#: A property that has to be there -> some value.
SOME = {'hw_architecture': 'x86_64', 'hw_tpm_version': '2.0',
        'hw_vm_mode': 'hvm', 'img_hv_type': 'kvm'}

#: A property that needs another value -> one that does.
_OTHER_MODEL = {'hw_sound_model': 'ich9', 'hw_usb_model': 'qemu-xhci'}

DIMENSIONS = ('sockets', 'cores', 'threads')


def follow(name, reason, overrides, specs):
    """Do what REASON says about NAME.

    :returns: the overrides and extra specs of each way to do it
    """
    advice = reason.removeprefix('would do nothing: ').rpartition('; ')[2]
    for pattern, step in STEPS.items():
        if said := re.fullmatch(pattern, advice):
            request = Request(name, reason, overrides, specs)
            return [(each.overrides, each.specs)
                    for each in step(request, *said.groups())]
    raise AssertionError(f'nobody knows what to do: {reason}')


class Request:
    """Overrides and extra specs, which are changed in copies."""

    def __init__(self, name, reason, overrides, specs):
        self.name, self.reason = name, reason
        self.overrides, self.specs = overrides, specs

    def set(self, **overrides):
        """Return it with other overrides; '__' for '.', None to leave out."""
        return Request(
            self.name, self.reason, _changed(self.overrides, {
                name.replace('__', '.'): value
                for name, value in overrides.items()}), self.specs)

    def flavor(self, **specs):
        """Return it with other extra specs, alike; '__' for ':'."""
        return Request(
            self.name, self.reason, self.overrides, _changed(self.specs, {
                name.replace('__', ':'): value
                for name, value in specs.items()}))

    def nodes(self):
        """Return the number of NUMA nodes that the request means."""
        lists = max(sum(name.startswith(f'hw_numa_{kind}.')
                        for name in self.overrides) for kind in ('cpus', 'mem'))
        return lists or int(self.overrides.get('hw_numa_nodes', 1))

    def assign(self, *kinds):
        """Return it with vCPUs (cpus) and memory (mem) for each node."""
        nodes = self.nodes()
        ends = [VCPUS * n // nodes for n in range(nodes + 1)]
        assert len({*ends}) == nodes + 1, 'a node without a vCPU'
        lists = {'cpus': [f'{low}-{high - 1}' for low, high
                          in zip(ends, ends[1:])],
                 'mem': [str(MEMORY // nodes + (n < MEMORY % nodes))
                         for n in range(nodes)]}
        return self.set(**{f'hw_numa_{kind}__{n}': value for kind in kinds
                           for n, value in enumerate(lists[kind])})


def _changed(values, changes):
    return {name: value for name, value in {**values, **changes}.items()
            if value is not None}


# --- flavors ----------------------------------------------------------------

def _at(request, spec, way, value):
    others = {'least': 2 * int(value), 'most': 0}
    return [request.flavor(**{spec: str(each)})
            for each in (value, others[way])]


def _without(request, specs):
    return [request.flavor(**dict.fromkeys(specs.split(' and ')))]


def _pinned(request):
    if request.specs.get('hw:cpu_policy') == 'shared':
        request = request.flavor(hw__cpu_policy=None)
    mask = request.specs.get('hw:cpu_dedicated_mask', '0')
    return [request.set(hw_cpu_policy='dedicated'),
            request.set(hw_cpu_policy='mixed').flavor(
                hw__cpu_dedicated_mask=mask)]


def _some_mask(request):
    return [request.flavor(hw__cpu_dedicated_mask='0'),
            request.flavor(hw__cpu_realtime='yes').set(
                hw_cpu_realtime_mask='^0')]


# --- CPU topology -----------------------------------------------------------

def _limit(request, way, vcpus):
    return [request.set(**{
        request.name: {'raise': vcpus, 'lower': '1'}[way]})]


def _within(request, way):
    limits = re.search(r'image \(sockets=(\d+), cores=(\d+), threads=(\d+)\)',
                       request.reason).groups()
    dimension = request.name.rpartition('_')[2]
    limit = int(dict(zip(DIMENSIONS, limits))[dimension])
    return [request.set(**{request.name: str(
        limit + {'stay within': 0, 'go beyond': 1}[way])})]


def _topology(request):
    """Choose the first that makes the vCPUs within all limits."""
    most = [min(int(values.get(f'{prefix}cpu_max_{each}', VCPUS))
                for values, prefix in ((request.overrides, 'hw_'),
                                       (request.specs, 'hw:')))
            for each in DIMENSIONS]
    sizes = next(
        (sockets, cores, VCPUS // sockets // cores)
        for sockets in (1, 2, 4) for cores in (1, 2, 4)
        if VCPUS % (sockets * cores) == 0 and sockets <= most[0]
        and cores <= most[1] and VCPUS // sockets // cores <= most[2])
    return [request.set(**{f'hw_cpu_{each}': str(size)
                           for each, size in zip(DIMENSIONS, sizes)})]


# --- NUMA -------------------------------------------------------------------

def _even_nodes(request, vcpus, memory):
    result = [request.set(hw_numa_nodes=str(
        math.gcd(int(vcpus), int(memory))))]
    # More nodes than vCPUs cannot be assigned any.
    if request.nodes() <= VCPUS:
        result.append(request.assign('cpus', 'mem'))
    return result


def _every_node(request):
    return [request.set(hw_numa_nodes=str(request.nodes())).assign(
        'cpus', 'mem')]


def _gap(request, missing):
    return [request.set(**{missing.replace('.', '__'): '1'})]


def _last(request, _, highest):
    return [request.set(**{request.name.replace('.', '__'): highest})]


# --- what properties need ---------------------------------------------------

def _beside_nothing(request, *others):
    return [request.set(hw_maxphysaddr_mode='emulate',
                        **dict.fromkeys(others))]


def _each_present(value, *names):
    return lambda request: [request.set(**{
        name: value for name in names if name in request.overrides})]


#: What a reason advises, whole -> the ways to do it.
STEPS = {
    r'(?:set|it needs) (\w+)=([\w.-]+)': lambda request, name, value: [
        request.set(**{name: value})],
    r'it needs (\w+)': lambda request, name: [
        request.set(**{name: SOME[name]})],
    r'it needs a flavor with ([\w:]+)=(\S+)': lambda request, spec, value: [
        request.flavor(**{spec: value})],
    # Flavors.
    r'choose a flavor with ([\w:]+)=(\S+), or without it':
        lambda request, spec, value: [
            request.flavor(**{spec: value}), request.flavor(**{spec: None})],
    r'choose a flavor with ([\w:]+)=(\S+)': lambda request, spec, value: [
        request.flavor(**{spec: value})],
    r'choose a flavor with ([\w:]+)=(\w+) or (\w+)':
        lambda request, spec, *values: [
            request.flavor(**{spec: value}) for value in values],
    r'choose a flavor with ([\w:]+) of at (least|most) (\d+)': _at,
    r'choose a smaller page size, or a flavor with other memory than \d+ MiB':
        lambda request: [request.set(hw_mem_page_size='2MB')],
    r'choose a flavor with (hw:mem_page_size)': lambda request, spec: [
        request.flavor(**{spec: 'any'})],
    r'choose a flavor without ([\w:.]+(?: and [\w:.]+)*)': _without,
    r'the server needs what the flavor forbids with (trait:\w+)=forbidden':
        _without,
    # CPUs.
    r'it needs hw_cpu_policy=dedicated \(or mixed, with a flavor that has '
    r'hw:cpu_dedicated_mask\), and a flavor without hw:cpu_policy=shared':
        _pinned,
    r'choose a flavor with hw:cpu_dedicated_mask, or with hw:cpu_realtime '
    r'beside a realtime mask': _some_mask,
    r'leave one vCPU out of hw_cpu_realtime_mask and others in, as (\S+) does':
        lambda request, mask: [request.set(hw_cpu_realtime_mask=mask)],
    r'(raise|lower) a limit, so that sockets, cores and threads can make the '
    r'(\d+) vCPUs of the flavor': _limit,
    r'(stay within|go beyond) these limits': _within,
    r'the sockets, cores and threads that are asked for must make the '
    r"flavor's number of vCPUs, within the hw_cpu_max_\* limits": _topology,
    # NUMA.
    r'choose a number that divides the (\d+) vCPUs and (\d+) MiB of the '
    r'flavor, or assign them with hw_numa_cpus\.N and hw_numa_mem\.N':
        _even_nodes,
    r'set hw_numa_nodes to the number of nodes, and for each of them '
    r'hw_numa_cpus\.N and hw_numa_mem\.N': _every_node,
    r'it needs hw_numa_nodes, and (?:memory|vCPUs) for each node': _every_node,
    r'assign each (?:of the 4 vCPUs of the flavor|vCPU) to one node':
        lambda request: [request.assign('cpus')],
    r'assign the 1024 MiB of the flavor': lambda request: [
        request.assign('mem')],
    r'choose a smaller page size, or a flavor with other memory than 1024 MiB':
        lambda request: [request.set(hw_mem_page_size='small')],
    r'(\S+) is missing: indexes count from 0 without a gap': _gap,
    r'names vCPU (\d+), but the flavor has 4, numbered from 0 to (\d+)': _last,
    # Other properties.
    r'set (hw_maxphysaddr_mode)=(emulate), or leave the bits out':
        lambda request, mode, value: [
            request.set(**{mode: value}),
            request.set(hw_maxphysaddr_bits=None)],
    r'choose another model': lambda request: [request.set(**{
        request.name: _OTHER_MODEL[request.name]})],
    r'leave it out': lambda request: [request.set(**{request.name: None})],
    r'(\w+)=(\S+) goes with version 1\.2': lambda request, name, value: [
        request.set(**{name: value})],
    r'it needs hw_maxphysaddr_mode, and none of (\w+), (\w+) and (\w+), beside '
    r"which Nova's scheduler fails": _beside_nothing,
    r'it needs (hw_architecture), (img_hv_type) or (hw_vm_mode)':
        lambda request, *names: [
            request.set(**{name: SOME[name]}) for name in names],
    r'it needs hw_firmware_type=uefi, which is the default with '
    r'hw_architecture=aarch64 only': lambda request: [
        request.set(hw_firmware_type='uefi')],
    r'it needs an x86 guest, and (?:hw_architecture) or '
    r'(?:hw_emulation_architecture) says another': _each_present(
        'x86_64', 'hw_architecture', 'hw_emulation_architecture'),
    r'Nova takes 0 for unset, so it needs at least (\d+)':
        lambda request, value: [request.set(**{request.name: value})],
    r'it needs hw_video_model=(\w+), (\w+), (\w+) or (\w+), and a host with '
    r'graphical consoles': lambda request, *models: [
        request.set(hw_video_model=model) for model in models],
    r'it needs disks, CD-ROMs and input devices on another bus than usb, such '
    r'as hw_input_bus=virtio, and no PPC guest': lambda request: [
        each.set(hw_input_bus='virtio') for each in _each_present(
            'sata', 'hw_disk_bus', 'hw_cdrom_bus')(request)],
    r'it needs a flavor with at least 2 vCPUs, and hw_vif_model=virtio':
        lambda request: [request.set(hw_vif_model='virtio')],
    r'it needs a server whose memory is not encrypted, and a flavor without '
    r'hw:cpu_realtime: both keep it locked': lambda request: [
        each.flavor(hw__cpu_realtime=None) for each in _each_present(
            None, 'hw_mem_encryption', 'hw_mem_encryption_model')(request)],
}
