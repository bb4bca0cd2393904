"""What to do about a conflict: what the flavor says, what agrees with it."""

import collections.abc
import typing

from nova_image_override.properties import families

_NUMA = ('hw:numa_nodes',)
_NODES = (_NUMA, 'only one without it leaves NUMA nodes to the image')
_FIT = (
    'sockets, cores and threads must make its {vcpus} vCPUs within its limits')

#: Field -> the extra specs that Nova compares it with, unless that is the one
#: of the same name, and what agrees with them.
_REMEDIES: dict[str, tuple[tuple[str, ...], str]] = {
    'hw_mem_page_size': (
        (), 'only one with any or large lets the image choose'),
    'hw_cpu_policy': (
        (), 'only one with the same policy agrees, or, unless that is mixed, '
        'one without'),
    'hw_cpu_thread_policy': (
        ('hw:cpu_policy', 'hw:cpu_thread_policy'),
        'it needs dedicated vCPUs, and one with the same hw:cpu_thread_policy '
        'or none'),
    'hw_cpu_realtime_mask': (
        ('hw:cpu_realtime_mask', 'hw:emulator_threads_policy'),
        'the mask must leave one vCPU out and others in, as ^0 does'),
    'hw_numa_nodes': _NODES,
    families.NUMA_CPUS.field: _NODES,
    families.NUMA_MEM.field: _NODES,
    'hw_cpu_sockets': (('hw:cpu_max_sockets',), _FIT),
    'hw_cpu_cores': (('hw:cpu_max_cores',), _FIT),
    'hw_cpu_threads': (('hw:cpu_max_threads',), _FIT),
    'hw_cpu_max_sockets': ((), _FIT),
    'hw_cpu_max_cores': ((), _FIT),
    'hw_cpu_max_threads': ((), _FIT),
    'hw_locked_memory': (
        ('hw:locked_memory', 'hw:mem_page_size'),
        'it needs hw:mem_page_size, and hw:locked_memory the same or none'),
    # Nova compares the flavor's text with the image's number.
    'hw_redirected_usb_ports': ((), 'only one without it agrees'),
    'hw_video_ram': (
        ('hw_video:ram_max_mb',), 'it needs one that is at least as large'),
}


def extra_spec(name: str) -> str:
    """Return the extra spec of the same name as an image property.

    It is named as in _get_flavor_image_meta of nova.virt.hardware.
    """
    return name.replace('_', ':', 1)


def remedy(
    flavor: typing.Any, field: str, reason: str,
    extra_specs: collections.abc.Collection[str] = (),
) -> str:
    """Return REASON, and what to do about it.

    :param flavor: ``nova.objects.Flavor`` of the server
    :param field: what is overridden
    :param reason: why flavor and override conflict
    :param extra_specs: the extra specs that Nova compares it with, if the
        caller knows them
    """
    names, agrees = _REMEDIES.get(
        field, ((), 'only one with the same value, or none, agrees'))
    names = names or tuple(extra_specs) or (extra_spec(field),)
    said = [
        f'{name}={flavor.extra_specs[name]}' if name in flavor.extra_specs
        else f'no {name}' for name in names]
    reason = reason.rstrip('.')
    if names == _NUMA and _NUMA[0] not in flavor.extra_specs:
        return (
            f'{reason}; the flavor has {said[0]}, so hw_numa_cpus.N and '
            f'hw_numa_mem.N have to give out its {flavor.vcpus} vCPUs and '
            f'{flavor.memory_mb} MiB')
    state = '' if all(each in reason for each in said) \
        else f'the flavor has {" and ".join(said)}: '
    return (f'{reason}; {state}{agrees.format(vcpus=flavor.vcpus)}; extra '
            'specs are the operator\'s, so choose another flavor or ask for '
            'one')
