"""The flavors: three that ask for nothing, and a set for NFV."""

import collections.abc
import typing

from openstack.compute.v2 import _proxy as compute_proxy


class Flavor(typing.NamedTuple):
    """What a flavor gives.

    :ivar vcpus: how many CPUs
    :ivar memory: in MiB
    :ivar specs: its extra specs
    """

    vcpus: int
    memory: int
    specs: dict[str, str] = {}


_ANY = {'hw:mem_page_size': 'any'}
_LARGE = {'hw:mem_page_size': 'large'}

#: name -> flavor
FLAVORS = {
    'small': Flavor(1, 128),
    'four': Flavor(4, 512),
    # UEFI does not start in less than this.
    'uefi': Flavor(1, 512),
    # Pages of any size that the tenant likes, and of any large size.
    'nfv': Flavor(4, 256, _ANY),
    'nfv.large': Flavor(4, 256, _LARGE),
    # For hw_cpu_policy=mixed: the first vCPU shares CPUs, the others do not.
    'nfv.mixed': Flavor(4, 256, {**_ANY, 'hw:cpu_dedicated_mask': '^0'}),
    # For hw_cpu_policy=dedicated: QEMU's other threads have a CPU, too.
    'nfv.isolated': Flavor(
        2, 256, {**_ANY, 'hw:emulator_threads_policy': 'isolate'}),
    'nfv.realtime': Flavor(4, 256, {
        **_LARGE, 'hw:cpu_policy': 'dedicated', 'hw:cpu_realtime': 'yes',
        'hw:cpu_realtime_mask': '^0'}),
    # In two nodes, all the huge pages and dedicated CPUs of a host.
    'nfv.host': Flavor(8, 512, _LARGE),
    # A device that no host has.
    'nfv.device': Flavor(1, 128, {'pci_passthrough:alias': 'nic:1'}),
    # Nothing is left to the tenant.
    'nfv.fixed': Flavor(4, 256, {
        'hw:mem_page_size': '2048', 'hw:cpu_policy': 'shared',
        'hw:numa_nodes': '1', 'hw:locked_memory': 'false',
        'hw:pci_numa_affinity_policy': 'required'}),
}


def furnish(
    compute: compute_proxy.Proxy,
    flavors: collections.abc.Mapping[str, Flavor] = FLAVORS,
) -> None:
    """Make flavors that are missing or are not what they should be."""
    for name, wanted in flavors.items():
        found = compute.find_flavor(name, get_extra_specs=True)
        if found and (found.vcpus, found.ram, found.extra_specs) != (
                wanted.vcpus, wanted.memory, wanted.specs):
            compute.delete_flavor(found)
            found = None
        if not found:
            made = compute.create_flavor(
                name=name, vcpus=wanted.vcpus, ram=wanted.memory, disk=1)
            if wanted.specs:
                compute.create_flavor_extra_specs(made, wanted.specs)
