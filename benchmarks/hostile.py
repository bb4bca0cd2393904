"""Requests and images that are designed to be costly."""
from __future__ import annotations

import dataclasses
import itertools
import typing

from oslo_utils import timeutils

from nova_image_override import versions
from nova_image_override.properties import cpu_lists
from testing import paste_config
from testing.cost import cloud as cloud_module
from testing.cost import compared
from testing.cost import measure
from testing.harness import base

EXTENSION = 'extension'


def _repeated(item: str, cpus: int = cpu_lists.CPUS_MAX) -> str:
    """Return a CPU list of ITEM over and over, of CPUS at most."""
    first, _, last = item.partition('-')
    return ','.join([item] * (cpus // (int(last or first) - int(first) + 1)))


@dataclasses.dataclass(frozen=True)
class Case:
    """A request.

    :ivar overrides: what it overrides
    :ivar vcpus: the flavor's
    :ivar specs: the flavor's extra specs, with '__' for ':'
    :ivar image: the image's own properties, with '__' for '.'
    :ivar had: for a rebuild: the overrides that the server has before it
    :ivar fresh: whether names end in numbers that no request had before
    :ivar is_check: whether it only asks what a create would get
    """

    overrides: dict[str, str]
    vcpus: int = 4
    specs: dict[str, str] = dataclasses.field(default_factory=dict)
    image: dict[str, str] = dataclasses.field(default_factory=dict)
    had: dict[str, str] | None = None
    fresh: bool = False
    is_check: bool = False

    def asked(self) -> dict[str, str]:
        """Return what the next request overrides."""
        return {f'{name}{next(_NUMBERS)}' if self.fresh else name: value
                for name, value in self.overrides.items()}


#: What a flavor can set, too.
_AGREED = {
    'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'isolate',
    'hw_cpu_max_sockets': '240', 'hw_cpu_max_cores': '240',
    'hw_pci_numa_affinity_policy': 'required', 'hw_pmu': 'true',
    'hw_vif_multiqueue_enabled': 'true'}

_NUMBERS = itertools.count(1_000_000)

_OTHERS = {
    'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'isolate',
    'hw_locked_memory': 'true', 'hw_mem_page_size': 'large',
    'hw_pmu': 'true', 'hw_cpu_max_sockets': '1',
    'hw_mem_encryption': 'true', 'hw_boot_menu': 'true'}


def _nodes(
    cpus: typing.Callable[[int], str], count: int = 100, dot: str = '.',
) -> dict[str, str]:
    return {
        'hw_numa_nodes': str(count),
        **{f'hw_numa_mem{dot}{n}': '10' for n in range(count)},
        **{f'hw_numa_cpus{dot}{n}': cpus(n) for n in range(count)}}


#: Sixty nodes that have 240 vCPUs and a flavor's memory between them, in lists
#: as long as they may be.
_SIXTY = {
    'hw_numa_nodes': '60',
    **{f'hw_numa_mem.{n}': '10' for n in range(59)}, 'hw_numa_mem.59': '434',
    **{f'hw_numa_cpus.{n}': _repeated(f'{n}', 80) for n in range(59)},
    'hw_numa_cpus.59': _repeated('59-239')}

#: title -> what is asked
CASES: dict[str, Case] = {
    'a hundred lists of CPUs that the flavor lacks': Case({
        'hw_numa_nodes': '100', **_OTHERS,
        **{f'hw_numa_cpus.{n}': _repeated('0-4095') for n in range(100)}}),
    'a hundred lists of all its 240 vCPUs': Case({
        'hw_numa_nodes': '100', **_OTHERS,
        **{f'hw_numa_cpus.{n}': _repeated('0-239') for n in range(100)}}, 240),
    'sixty nodes that agree but for the memory': Case(
        {**_nodes(lambda n: f'{n}' if n < 59 else '59-239', 60),
         'hw_locked_memory': 'true', 'hw_cpu_policy': 'dedicated'}, 240,
        {'hw__mem_page_size': 'large'}),
    'the image has lists of 10 KB, which are too large': Case(
        {'hw_boot_menu': 'true', 'hw_cpu_thread_policy': 'isolate',
         'hw_locked_memory': 'true'}, 240,
        image=_nodes(lambda n: _repeated('0-239', 400_000), dot='__')),
    'a realtime mask of 60 KB, which is too large': Case(
        {'hw_cpu_thread_policy': 'isolate', 'hw_locked_memory': 'true',
         'hw_mem_page_size': 'large'}, 240,
        {'hw__cpu_realtime': 'yes', 'hw__cpu_policy': 'dedicated'},
        {'hw_cpu_realtime_mask': _repeated('0-239', 2_400_000)}),
    'a CPU topology that 240 vCPUs do not have': Case({
        'hw_cpu_max_sockets': '7', 'hw_cpu_max_cores': '7',
        'hw_cpu_max_threads': '4', 'hw_boot_menu': 'true'}, 240),
    'every conflict at once': Case(
        {**_OTHERS, 'hw_sound_model': 'ich9', 'hw_serial_port_count': '3',
         'hw_vif_multiqueue_enabled': 'true', 'hw_virtio_packed_ring': 'true',
         'hw_video_ram': '16', 'os_secure_boot': 'required',
         'hw_tpm_version': '1.2', 'hw_tpm_model': 'tpm-crb',
         'hw_maxphysaddr_mode': 'emulate', 'hw_numa_nodes': '5',
         **{f'trait:CUSTOM_{n}': 'required' for n in range(100)}},
        specs={
            'hw__pmu': 'false', 'hw__sound_model': 'ac97',
            'hw__serial_port_count': '2', 'hw__cpu_policy': 'shared',
            'hw__vif_multiqueue_enabled': 'false',
            'hw__virtio_packed_ring': 'false', 'hw__numa_nodes': '2',
            'os__secure_boot': 'disabled', 'hw__mem_encryption': 'false',
            'hw__maxphysaddr_mode': 'passthrough'}),
    'a hundred traits that the flavor forbids': Case(
        {f'trait:CUSTOM_{n}': 'required' for n in range(100)},
        specs={f'trait__CUSTOM_{n}': 'forbidden' for n in range(100)}),
    'names that are nearly right': Case({
        f'hw_vif_multiqueue_enable{n}': 'true' for n in range(128)}),
    'names that are nearly right, and new': Case({
        f'hw_vif_multiqueue_enable{n}_': 'true' for n in range(128)},
        fresh=True),
    'values that are too long': Case({
        f'trait:CUSTOM_{n}': 'x' * 5000 for n in range(128)}),
    'a check of sixty nodes beside a flavor that says the rest': Case(
        {**_SIXTY, **_AGREED}, 240, specs={
            name.replace('_', '__', 1): value
            for name, value in _AGREED.items()}, is_check=True),
    'a rebuild that takes sixty nodes away': Case(
        {f'trait:CUSTOM_{n}': 'required' for n in range(128)}, 240,
        had=_SIXTY),
    'a rebuild that moves memory between sixty nodes': Case(
        {**_SIXTY, 'hw_numa_mem.0': '11', 'hw_numa_mem.1': '9',
         'hw_boot_menu': 'true', 'hw_mem_page_size': 'large',
         'hw_locked_memory': 'true'}, 240, had=_SIXTY),
}


def servers(cloud: cloud_module.Cloud) -> dict[str, str]:
    """Make the servers that are rebuilt, while there is a conductor.

    :returns: the title of the case -> id
    """
    result = {}
    for title, case in CASES.items():
        if case.had is not None:
            flavor = cloud.flavor(vcpus=case.vcpus, **case.specs)
            (result[title],) = cloud.add_servers(
                case.had, flavor=flavor, count=1)
            # Nova only rebuilds what has run.
            instance = cloud.instance(result[title])
            instance.launched_at = timeutils.utcnow()
            instance.save()
    return result


def variants(
    cloud: cloud_module.Cloud, case: Case, server: str | None = None,
) -> compared.Variants:
    """Return CASE, and what Nova does with the same properties in an image.

    :param server: what is rebuilt
    """
    image = cloud.image(**case.image)
    same = cloud.image(**case.image, **{
        name.replace('.', '__'): value
        for name, value in case.asked().items()
        if name.replace('.', '__') not in case.image})
    flavor = cloud.flavor(vcpus=case.vcpus, **case.specs)

    def prepare(app: str, image: str, named: bool) -> measure.Prepare:
        def call() -> typing.Callable[[], object]:
            overrides = case.asked() if named else None
            if server is None:
                path = versions.CHECK_PATH if named and case.is_check \
                    else '/servers'
                return cloud.call(
                    app, 'POST', path,
                    cloud.server_body(overrides, image, flavor), named=named)
            rebuild: dict[str, object] = {'imageRef': image}
            if overrides is not None:
                rebuild[base.PARAMETER] = overrides
            return cloud.call(
                app, 'POST', f'/servers/{server}/action',
                {'rebuild': rebuild}, named=named)
        return call

    return {
        compared.NOVA: prepare(paste_config.NOVA_APP, same, False),
        EXTENSION: prepare(paste_config.APP, image, True)}
