"""Every value of every property, on a server that is really built.

By Nova's own conductor, scheduler and libvirt driver, over its fake libvirt.
What flavor and properties alone decide must be answered with the request;
what only a host can tell may end in ERROR, and is listed.
"""

import collections
import collections.abc
import dataclasses
import re
import time
import typing

import pytest

from nova_image_override import catalog as catalog_module
from nova_image_override import errors
from tests.functional import base
from tests.proof import figures
from tests.proof import values

#: One property in so many is tried in the short form.
_SHARE = 1 if figures.FULL else 15


@dataclasses.dataclass(frozen=True)
class Company:
    """What a property needs beside it to have a meaning at all.

    :ivar overrides: other overrides
    :ivar specs: extra specs of the flavor, with "__" for ":"
    :ivar image: properties of the image
    """

    overrides: dict[str, str] = dataclasses.field(default_factory=dict)
    specs: dict[str, str] = dataclasses.field(default_factory=dict)
    image: dict[str, str] = dataclasses.field(default_factory=dict)


_ALONE = Company()

COMPANY: collections.abc.Mapping[str, Company] = {
    'hw_cpu_realtime_mask': Company(specs={
        'hw__cpu_realtime': 'yes', 'hw__cpu_realtime_mask': '^0',
        'hw__cpu_policy': 'dedicated'}),
    'hw_cpu_thread_policy': Company({'hw_cpu_policy': 'dedicated'}),
    'hw_ephemeral_encryption_format': Company(
        {'hw_ephemeral_encryption': 'true'}),
    'hw_firmware_stateless': Company({'hw_firmware_type': 'uefi'}),
    'hw_locked_memory': Company({'hw_mem_page_size': 'small'},
                                {'hw__mem_page_size': 'any'}),
    'hw_maxphysaddr_bits': Company({'hw_maxphysaddr_mode': 'emulate'}),
    'hw_mem_encryption': Company({'hw_firmware_type': 'uefi',
                                  'hw_machine_type': 'q35'}),
    'hw_mem_encryption_model': Company({'hw_mem_encryption': 'true',
                                        'hw_firmware_type': 'uefi',
                                        'hw_machine_type': 'q35'}),
    'hw_mem_page_size': Company(specs={'hw__mem_page_size': 'any'}),
    'hw_numa_cpus': Company({'hw_numa_nodes': '1', 'hw_numa_mem.0': '64'}),
    'hw_numa_mem': Company({'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-1'}),
    'hw_serial_port_count': Company(specs={'hw__serial_port_count': '4'}),
    'hw_tpm_model': Company({'hw_tpm_version': '2.0'}),
    'hw_video_ram': Company(specs={'hw_video__ram_max_mb': '4194303'}),
    'os_command_line': Company(image={'kernel_id': base.IMAGE}),
    'os_secure_boot': Company({'hw_firmware_type': 'uefi'}),
}

#: In the fault of a server for which no host has what it asks for.
_NO_HOST = 'No valid host'

#: Properties whose values only the host can judge: what its QEMU, libvirt or
#: devices support, or how it is configured.
HOST_DECIDES = frozenset({
    'hw_architecture', 'hw_emulation_architecture', 'hw_machine_type',
    'hw_viommu_model', 'os_secure_boot',
    # Buses of another hypervisor than the host's.
    'hw_cdrom_bus', 'hw_disk_bus',
    # Nova 31 to 34 fail in ImagePropertiesFilter (see descriptions.py).
    'hw_maxphysaddr_bits',
})


class Cloud(base.TestCase):
    """A compute, and requests for one server after the other."""

    def setUp(self) -> None:
        self.flags(initial_cpu_allocation_ratio=64.0,
                   initial_disk_allocation_ratio=64.0)
        super().setUp()
        self._flavors: dict[str, str] = {}

    def flavor_for(self, company: Company) -> str:
        key = str(company.specs)
        if key not in self._flavors:
            self._flavors[key] = self.flavor(ram=64, **company.specs)
        return self._flavors[key]

    def outcome(self, field: str, name: str, value: str) -> str:
        """Return what comes of a server with one override: a word, or more.
        """
        company = COMPANY.get(field, _ALONE)
        answer = self.create(
            {**company.overrides, name: value},
            image=self.image(**company.image) if company.image else base.IMAGE,
            flavor=self.flavor_for(company))
        if answer.status != 202:
            assert answer.status < 500, answer.text
            # Which of several overrides is blamed is not what is tried here.
            (code,) = {*answer.problems.values()}
            return f'{answer.status} {code}'
        server_id = answer.body['server']['id']
        server = self._settled(server_id)
        fault = server.get('fault', {}).get('message', '')
        status = server['status']
        self.http('DELETE', f'/servers/{server_id}')
        self._wait_until_deleted({'id': server_id})
        # Ids of servers, which are other ones each time, left out.
        fault = re.sub('(for instance )?[0-9a-f-]{36}', '', fault).strip()
        return status if status == 'ACTIVE' else f'{status}: {fault}'

    def _settled(self, server_id: str) -> dict[str, typing.Any]:
        """Return a server once its build has come to an end."""
        for _ in range(600):
            server = self.admin_api.get_server(server_id)
            if server['status'] != 'BUILD':
                return server
            time.sleep(0.05)
        raise AssertionError(f'{server} is still being built')


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[Cloud]:
    with Cloud.running() as running:
        yield running


@pytest.fixture(scope='module')
def table() -> collections.abc.Iterator[dict[str, dict[str, str]]]:
    """Field -> value -> outcome."""
    found: dict[str, dict[str, str]] = collections.defaultdict(dict)
    yield found
    outcomes = collections.Counter(
        outcome.partition(':')[0]
        for values_of in found.values() for outcome in values_of.values())
    figures.record('values', {
        'tried': outcomes.total(), 'outcomes': dict(sorted(outcomes.items())),
        'table': found})


def fields() -> list[str]:
    return [field for field, prop in values.CATALOG.items()
            if not prop.never][_SHARE // 2::_SHARE]


@pytest.mark.parametrize('field', fields())
def test_every_value_is_built_or_refused_with_the_request(
        field, cloud, table):
    prop: catalog_module.Property = values.CATALOG[field]
    (name, *_) = values.names(prop)
    for value in values.taken(prop):
        outcome = cloud.outcome(field, name, value)
        table[field][value] = outcome
        if outcome.startswith('ERROR') and _NO_HOST not in outcome:
            assert field in HOST_DECIDES, f'{name}={value}: {outcome}'
        assert outcome.startswith((
            'ACTIVE', 'ERROR', f'400 {errors.FLAVOR_CONFLICT}',
            f'400 {errors.NO_EFFECT}')), outcome


@pytest.mark.parametrize('field', fields())
def test_values_beyond_the_boundaries_are_refused(field, cloud, table):
    prop: catalog_module.Property = values.CATALOG[field]
    (name, *_) = values.names(prop)
    for value in values.wrong(prop):
        outcome = cloud.outcome(field, name, value)
        table[field][value] = outcome
        assert outcome in (f'400 {errors.INVALID_VALUE}',
                           f'400 {errors.TOO_LONG}'), f'{value}: {outcome}'
