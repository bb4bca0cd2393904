"""Servers that are really built, and what became of each.

Nova's own conductor, scheduler and libvirt driver build them, over its fake
libvirt and on a host that has whatever that fake can be made to have.
"""
from __future__ import annotations

import collections.abc
import dataclasses
import json
import logging
import re
import typing
import xml.etree.ElementTree as ET

import fixtures
from nova import context as nova_context
from nova import objects
from nova.tests.fixtures import libvirt as fakelibvirt
from nova.tests.functional.libvirt import test_vtpm
from oslo_utils import versionutils

from testing import release
from testing.cases import scenarios
from testing.harness import base

_UUID = re.compile('[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def anonymous(text: str) -> str:
    """Return TEXT without what is different for each server.

    Identifiers become numbers, in the order of their first appearance, so
    that two that were the same still are.
    """
    seen: dict[str, str] = {}
    text = _UUID.sub(
        lambda match: seen.setdefault(match[0], f'id-{len(seen)}'), text)
    text = re.sub('instance-[0-9a-f]{8}', 'instance', text)
    return re.sub('(<nova:creationTime>)[^<]*', r'\1', text)


@dataclasses.dataclass(frozen=True)
class Server:
    """What became of one request for a server.

    :ivar outcome: the status, with the fault of one in ERROR; for a refusal
        the HTTP status and the code
    :ivar xml: the guest that the libvirt driver defined
    :ivar request_spec: as it is stored
    :ivar allocations: in placement, by resource provider
    """

    outcome: str
    xml: str = ''
    request_spec: str = ''
    allocations: dict[str, typing.Any] = dataclasses.field(
        default_factory=dict)

    @property
    def refused(self) -> bool:
        return self.outcome.startswith('4')

    @property
    def guest(self) -> str:
        """The XML without Nova's notes for people, which cite the image."""
        if not self.xml:
            return ''
        domain = ET.fromstring(self.xml)
        domain.remove(domain.find('metadata'))
        return ET.tostring(domain, encoding='unicode')


#: What libvirt reports that it can do, in the texts of Nova's fake.
_CAPABILITIES = {
    '_domain_capability_features': '_domain_capability_features_with_SEV',
    '_domain_capability_tpm': '_domain_capability_tpm_supported',
} if release.NUMBER > 33 else {
    # The other text does not say how many guests can have SEV-ES.
    '_domain_capability_features':
    '_domain_capability_features_with_SEV_max_guests',
    '_domain_capability_devices':
    '_domain_capability_devices_with_tpm_supported',
}


class Cloud(base.Cloud):
    """A compute, and requests for one server after the other."""

    #: Servers are built with what only other drivers read, too.
    OPTIONS: typing.ClassVar[dict[str, typing.Any]] = {
        'allowed_properties': ['*'], 'virt_drivers': []}

    #: What the host has, besides what Nova's fake has by itself.
    _OPTIONS: collections.abc.Mapping[str | None, dict[str, typing.Any]] = {
        None: {'initial_cpu_allocation_ratio': 64.0,
               'initial_disk_allocation_ratio': 64.0,
               # Otherwise every guest has the one that images can ask for.
               'pointer_model': 'ps2mouse'},
        'compute': {'cpu_dedicated_set': '0-3,6-9',
                    'cpu_shared_set': '4-5,10-11'},
        'key_manager': {'backend': f'{test_vtpm.__name__}.FakeKeyManager'},
        'libvirt': {'swtpm_enabled': True},
        'serial_console': {'enabled': True},
    }

    def setUp(self) -> None:
        for group, options in self._OPTIONS.items():
            self.flags(group=group, **options)
        # It looks for a user and for programs on this machine.
        self.useFixture(fixtures.MockPatch(
            'nova.virt.libvirt.driver.LibvirtDriver._check_vtpm_support'))
        # It looks for a free one.
        self.useFixture(fixtures.MockPatch(
            'nova.console.serial.acquire_port', return_value=10000))
        connection = fakelibvirt.Connection
        for name, text in _CAPABILITIES.items():
            # Hosts of older releases need not say that they can have a TPM.
            if hasattr(connection, text):
                self.useFixture(fixtures.MockPatchObject(
                    connection, name, getattr(connection, text)))
        super().setUp()
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        self._flavors: dict[str, str] = {}
        self._plain: dict[str, Server] = {}

    def start_host(self, host: str) -> None:
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.libvirt.host.Host._kernel_supports_amd_sev',
            lambda host, model='sev': model != 'sev-snp'))
        self.start_compute(
            hostname=host, **self.hardware(host),
            libvirt_version=versionutils.convert_version_to_int((10, 4, 0)),
            qemu_version=versionutils.convert_version_to_int((8, 2, 0)))
        provider = self.compute_rp_uuids[host]
        for trait in self.traits(host):
            self._create_trait(trait)
        self._set_provider_traits(provider, [
            *self._get_provider_traits(provider), *self.traits(host)])

    def hardware(self, host: str) -> dict[str, typing.Any]:
        return {'host_info': fakelibvirt.HostInfo(
            cpu_nodes=2, cpu_sockets=1, cpu_cores=3, cpu_threads=2,
            kB_mem=8 << 20, mempages={
                cell: fakelibvirt.create_mempages(
                    [(4, 1 << 20), (2048, 512)]) for cell in (0, 1)})}

    def traits(self, host: str) -> tuple[str, ...]:
        """Return the traits that an operator has given a host."""
        return ('CUSTOM_GOLD',)

    def flavor_for(self, scenario: scenarios.Scenario) -> str:
        key = f'{scenario.vcpus} {scenario.specs}'
        if key not in self._flavors:
            self._flavors[key] = self.flavor(
                vcpus=scenario.vcpus, ram=scenarios.MEMORY,
                **scenario.specs)
        return self._flavors[key]

    def plain(
        self, scenario: scenarios.Scenario, image: scenarios.Properties,
    ) -> Server:
        """Return the server of an image, which is built once.

        :param image: the properties of the image
        """
        key = (f'{sorted(image.items())} {self.flavor_for(scenario)} '
               f'{scenario.networks} {scenario.has_kernel}')
        if key not in self._plain:
            self._plain[key] = self.server(scenario, image)
        return self._plain[key]

    def server(
        self, scenario: scenarios.Scenario, image: scenarios.Properties,
        overrides: scenarios.Properties | None = None,
    ) -> Server:
        """Ask for a server, and delete it.

        :param image: the properties of its image
        """
        image_id = self.image(**{
            **({'kernel_id': base.IMAGE} if scenario.has_kernel else {}),
            **{name.replace('.', '__'): value
               for name, value in image.items()}})
        answer = self.create(
            overrides, image=image_id, flavor=self.flavor_for(scenario),
            server={'networks': scenario.networks})
        if answer.status != 202:
            assert answer.status < 500, answer.text
            # Which of several overrides is blamed is not tested here.
            codes = {*answer.problems.values()} or {answer.message}
            return Server(f'{answer.status} {" ".join(codes)}')
        server_id = answer.body['server']['id']
        found = self._built(server_id)
        self.delete(server_id)
        return found

    def delete(self, server_id: str) -> None:
        """Delete a server, and return when it is gone."""
        self.http('DELETE', f'/servers/{server_id}')
        self.commits.until(lambda: self._state(server_id), None)

    def _is_built(self, server_id: str) -> bool:
        status, unfinished = self._state(server_id) or ('BUILD', None)
        return status != 'BUILD' and unfinished is None

    def _built(self, server_id: str) -> Server:
        """Return what has become of a server once its build is over."""
        self.commits.until(lambda: self._is_built(server_id), True)
        shown = self.admin_api.get_server(server_id)
        outcome = shown['status']
        fault = shown.get('fault', {}).get('message', '')
        if fault:
            # Without ids of servers, which are different each time.
            outcome += ': ' + re.sub(
                f'(for instance )?{_UUID.pattern}', '', fault).strip()
        spec = objects.RequestSpec.get_by_instance_uuid(
            nova_context.get_admin_context(), server_id).obj_to_primitive()
        del spec['nova_object.data']['id']
        allocations = self.placement.get(
            f'/allocations/{server_id}').body['allocations']
        return Server(
            outcome, anonymous(self.built.get(server_id, '')),
            anonymous(json.dumps(spec, sort_keys=True)),
            # Those of a server in ERROR are being removed.
            {} if fault else {
                provider: allocation['resources']
                for provider, allocation in allocations.items()})
