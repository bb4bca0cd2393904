"""Requests and images that are designed to be costly."""
from __future__ import annotations

import dataclasses
import itertools
import typing
from urllib import parse

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.properties import cpu_lists


def _repeated(item: str, cpus: int = cpu_lists.CPUS_MAX) -> str:
    """Return a CPU list of ITEM over and over, of CPUS at most."""
    first, _, last = item.partition('-')
    return ','.join([item] * (cpus // (int(last or first) - int(first) + 1)))


@dataclasses.dataclass(frozen=True)
class Case:
    """A request.

    :ivar overrides: what it overrides, or filters by
    :ivar vcpus: the flavor's
    :ivar specs: the flavor's extra specs
    :ivar image: the image's own properties
    :ivar kind: one of PATHS
    :ivar had: for a rebuild or an update: the server, one of HAD
    :ivar fresh: whether names end in numbers that no request had before
    :ivar preset: the preset that it names
    :ivar rules: the deployer's (``hostile_cloud.RULES``)
    :ivar roles: the caller's
    """

    overrides: dict[str, str | None]
    vcpus: int = 4
    specs: dict[str, str] = dataclasses.field(default_factory=dict)
    image: dict[str, str] = dataclasses.field(default_factory=dict)
    kind: str = 'create'
    had: str = ''
    fresh: bool = False
    preset: str = ''
    rules: str = 'all is allowed'
    roles: str = 'member,reader'

    def asked(self) -> dict[str, str | None]:
        """Return what the next request overrides."""
        return {f'{name}{next(_NUMBERS)}' if self.fresh else name: value
                for name, value in self.overrides.items()}

    @property
    def method(self) -> str:
        """Its method."""
        return {'update': 'PUT', 'list': 'GET', 'discovery': 'GET'}.get(
            self.kind, 'POST')

    @property
    def path(self) -> str:
        """Its path, with {server} for the server, and its query."""
        query = [(errors.PARAMETER, name) for name in list(self.overrides)[:9]]
        if self.preset:
            query.append((errors.PRESET, self.preset))
        return PATHS[self.kind] + (
            '?' + parse.urlencode(query, errors='replace')
            if self.kind == 'list' else '')

    def body(
        self, asked: dict[str, str | None] | None, image: str, flavor: str,
    ) -> dict[str, dict[str, typing.Any]] | None:
        """Return its body, if it has any; without overrides if ASKED is None.
        """
        if self.method == 'GET':
            return None
        key, others = {
            'update': ('server', {'name': 'test'}),
            'rebuild': ('rebuild', {'imageRef': image}),
        }.get(self.kind, ('server', {
            'name': 'test', 'networks': 'none', 'imageRef': image,
            'flavorRef': flavor}))
        if asked is not None:
            others[errors.PARAMETER] = asked
            if self.preset:
                others[errors.PRESET] = self.preset
        return {key: others}


#: kind of request -> path
PATHS = {
    'create': '/servers', 'check': versions.CHECK_PATH,
    'rebuild': '/servers/{server}/action', 'update': '/servers/{server}',
    'list': '/servers/detail', 'discovery': versions.PATH}

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
    cpus: typing.Callable[[int], str], count: int = 100,
) -> dict[str, str]:
    return {
        'hw_numa_nodes': str(count),
        **{f'hw_numa_mem.{n}': '10' for n in range(count)},
        **{f'hw_numa_cpus.{n}': cpus(n) for n in range(count)}}


#: Sixty nodes that have 240 vCPUs and a flavor's memory between them, in lists
#: that name nearly as many CPUs as they may.
_SIXTY = {
    'hw_numa_nodes': '60',
    **{f'hw_numa_mem.{n}': '10' for n in range(59)}, 'hw_numa_mem.59': '434',
    **{f'hw_numa_cpus.{n}': _repeated(f'{n}', 30) for n in range(59)},
    'hw_numa_cpus.59': _repeated('59-239', 2_200)}

#: name -> the overrides of a server
HAD: dict[str, dict[str, str]] = {
    'nothing': {}, 'sixty nodes': _SIXTY,
    'a hundred traits': {
        f'trait:CUSTOM_{n}': 'required' for n in range(100)}}

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
        {'hw:mem_page_size': 'large'}),
    'the image has lists of 10 KB, which are too large': Case(
        {'hw_boot_menu': 'true', 'hw_cpu_thread_policy': 'isolate',
         'hw_locked_memory': 'true'}, 240,
        image=_nodes(lambda n: _repeated('0-239', 400_000))),
    'a realtime mask of 60 KB, which is too large': Case(
        {'hw_cpu_thread_policy': 'isolate', 'hw_locked_memory': 'true',
         'hw_mem_page_size': 'large'}, 240,
        {'hw:cpu_realtime': 'yes', 'hw:cpu_policy': 'dedicated'},
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
            'hw:pmu': 'false', 'hw:sound_model': 'ac97',
            'hw:serial_port_count': '2', 'hw:cpu_policy': 'shared',
            'hw:vif_multiqueue_enabled': 'false',
            'hw:virtio_packed_ring': 'false', 'hw:numa_nodes': '2',
            'os:secure_boot': 'disabled', 'hw:mem_encryption': 'false',
            'hw:maxphysaddr_mode': 'passthrough'}),
    'a hundred traits that the flavor forbids': Case(
        {f'trait:CUSTOM_{n}': 'required' for n in range(100)},
        specs={f'trait:CUSTOM_{n}': 'forbidden' for n in range(100)}),
    'names that are nearly right': Case({
        f'hw_vif_multiqueue_enable{n}': 'true' for n in range(128)}),
    'names that are nearly right, and new': Case({
        f'hw_vif_multiqueue_enable{n}_': 'true' for n in range(128)},
        fresh=True),
    'values that are too long': Case({
        f'trait:CUSTOM_{n}': 'x' * 5000 for n in range(128)}),
    'a check of sixty nodes beside a flavor that says the rest': Case(
        {**_SIXTY, **_AGREED}, 240, specs={
            name.replace('_', ':', 1): value
            for name, value in _AGREED.items()}, kind='check'),
    'a rebuild that takes sixty nodes away': Case(
        {f'trait:CUSTOM_{n}': 'required' for n in range(128)}, kind='rebuild',
        had='sixty nodes'),
    'a rebuild that moves memory between sixty nodes': Case(
        {**_SIXTY, 'hw_numa_mem.0': '11', 'hw_numa_mem.1': '9',
         'hw_boot_menu': 'true', 'hw_mem_page_size': 'large',
         'hw_locked_memory': 'true'}, kind='rebuild', had='sixty nodes'),
}
