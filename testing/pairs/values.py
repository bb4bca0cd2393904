"""The values that pairs are made of, and the plain images beneath them."""
from __future__ import annotations

import collections.abc

from testing.cases import scenarios
from testing.cases import values

Value = tuple[str, str]

#: Name of a family of guests -> properties of its plain image. The machine
#: type is said: where it is not, the host decides.
FAMILIES: collections.abc.Mapping[str, scenarios.Properties] = {
    'pc': {'hw_machine_type': 'pc'},
    'q35': {'hw_machine_type': 'q35'},
    # The second is for this host, which is no Arm host.
    'virt': {'hw_machine_type': 'virt', 'hw_architecture': 'aarch64',
             'hw_emulation_architecture': 'aarch64'},
}

#: Architectures that the hypervisor has QEMU for.
_ARCHITECTURES = ('aarch64', 'x86_64')

_FEWER: collections.abc.Mapping[str, tuple[str, ...]] = {
    'hw_architecture': _ARCHITECTURES,
    'hw_emulation_architecture': _ARCHITECTURES,
    **dict.fromkeys(('hw_cpu_max_cores', 'hw_cpu_max_sockets',
                     'hw_cpu_max_threads'), ('1',)),
    # Versions of a machine type are that type.
    'hw_machine_type': ('pc', 'pc-i440fx-6.2', 'q35', 'pc-q35-6.2', 'virt'),
    'os_command_line': ('console=ttyS0',),
    'os_distro': ('ubuntu22.04',),
}


def all_values() -> list[Value]:
    """Return the values of each property that libvirt's driver reads."""
    result = []
    for field, prop in values.CATALOG.items():
        if prop.record.never or prop.family or not (
                prop.record.reader('libvirt')):
            continue
        for value in _FEWER.get(field) or values.taken(prop):
            # As it is stored: 2MB is 2048 too.
            if prop.canonical(value) == value:
                result.append((field, value))
    return result


def beneath(*chosen: Value) -> tuple[dict[str, str], dict[str, str], bool]:
    """Return what else values need to act.

    :returns: properties of the image, extra specs of the flavor, and whether
        the image has a kernel
    """
    image: dict[str, str] = {}
    specs: dict[str, str] = {}
    has_kernel = False
    for field, value in chosen:
        scenario = scenarios.scenario(field, value)
        image.update((name, own) for name, own in scenario.image.items()
                     if name != 'hw_machine_type')
        specs.update((name.replace('__', ':'), spec)
                     for name, spec in scenario.specs.items())
        has_kernel |= scenario.has_kernel
    return image, specs, has_kernel
