"""Who finds no host, and what tenant and operator see of it.

What docs/source/user/no-valid-host.rst says. The host is that of the demo.
"""

import dataclasses

import pytest

from testing import release
from testing.harness import base
from testing.harness import nfv_hosts

PLACEMENT = 'Got no allocation candidates from the Placement API.'


class Cloud(base.Cloud):
    ADDITIONAL_FILTERS = [
        *base.Cloud.ADDITIONAL_FILTERS, 'PciPassthroughFilter',
        'AggregateInstanceExtraSpecsFilter',
        'AggregateImagePropertiesIsolation']
    THREADS = 2

    def setUp(self):
        self.flags(group='compute', **nfv_hosts.CPU_SETS)
        self.flags(group='pci', **nfv_hosts.PCI)
        super().setUp()

    def hardware(self, host):
        return nfv_hosts.hardware(self.THREADS)

    def isolate(self, host, **metadata):
        """Do that in a cloud which no other test has."""
        self.discard()
        super().isolate(host, **metadata)

    def logged(self):
        return self.stdlog.logger.output

    def refused_by(self, overrides, flavor):
        """Return who has found no host, as the scheduler's log says."""
        before = len(self.logged())
        server = self.created(self.create(overrides, flavor=flavor), 'ERROR')
        # What the tenant sees is the same for all of them.
        assert self.show(server)['fault']['message'].startswith(
            'No valid host was found.')
        log = self.logged()[before:]
        self.delete(server)
        if PLACEMENT in log:
            return PLACEMENT
        (line,) = [line for line in log.splitlines()
                   if 'Filtering removed all hosts' in line
                   and '(start: ' in line]
        assert server in line
        last = line.rpartition("'")[0].rpartition("'")[2]
        name, _, counts = last.partition(': ')
        assert counts == '(start: 1, end: 0)'
        assert f'Filter {name} returned 0 hosts' in log
        return name


@dataclasses.dataclass(frozen=True)
class Case:
    """An override that the only host cannot give, and who says so.

    Without the override a guest of the flavor finds the host.
    """

    overrides: dict[str, str]
    by: str
    vcpus: int = 2
    ram: int = 1024
    specs: dict[str, str] = dataclasses.field(default_factory=dict)


ANY = {'hw__mem_page_size': 'any'}

CASES = {
    'more nodes than the host has': Case(
        {'hw_numa_nodes': '3'}, 'NUMATopologyFilter', vcpus=3, ram=3 * 512),
    'one node has too few dedicated CPUs': Case(
        {'hw_cpu_policy': 'dedicated'}, 'NUMATopologyFilter', vcpus=6),
    'the host has threads': Case(
        {'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'isolate'},
        'NUMATopologyFilter'),
    'no host has the trait': Case(
        {'trait:HW_CPU_X86_AVX512F': 'required'}, PLACEMENT),
    'no host makes TPMs': Case({'hw_tpm_version': '2.0'}, PLACEMENT),
    'another hypervisor': Case(
        {'img_hv_type': 'xen'}, 'ImagePropertiesFilter'),
}


class TestHost:
    @pytest.mark.parametrize('case', CASES.values(), ids=CASES)
    def test_the_override_and_not_the_flavor_finds_no_host(self, cloud, case):
        flavor = cloud.flavor(case.vcpus, case.ram, **case.specs)
        cloud.delete(cloud.boot(flavor=flavor))
        assert cloud.refused_by(case.overrides, flavor) == case.by

    def test_what_other_guests_have_is_missing(self, cloud):
        flavor = cloud.flavor(4, **ANY)
        dedicated = {'hw_cpu_policy': 'dedicated'}
        for _ in range(2):
            cloud.boot(dedicated, flavor=flavor)
        # Placement is asked for VCPUs, too, and has these.
        assert cloud.refused_by(dedicated, flavor) == 'NUMATopologyFilter'
        cloud.flags(group='workarounds', disable_fallback_pcpu_query=True)
        assert cloud.refused_by(dedicated, flavor) == PLACEMENT

    def test_no_override_brings_more_devices(self, cloud):
        flavor = cloud.flavor(pci_passthrough__alias='nic:2')
        assert cloud.refused_by(None, flavor) == 'PciPassthroughFilter'


class TestAggregates:
    def test_flavors_are_kept_on_their_hosts_whatever_is_overridden(
            self, cloud):
        flavor = cloud.flavor(
            aggregate_instance_extra_specs__pinned='true', **ANY)
        for overrides in (None, {'hw_cpu_policy': 'dedicated'}):
            assert cloud.refused_by(overrides, flavor) == (
                'AggregateInstanceExtraSpecsFilter')
        cloud.isolate('compute1', pinned='true')
        cloud.boot({'hw_cpu_policy': 'dedicated'}, flavor=flavor)

    def test_images_are_kept_on_theirs_by_what_is_overridden(self, cloud):
        cloud.isolate('compute1', os_type='windows')
        flavor = cloud.flavor()
        assert cloud.refused_by({'os_type': 'linux'}, flavor) == (
            'AggregateImagePropertiesIsolation')
        cloud.boot({'os_type': 'windows'}, flavor=flavor)


class TestOneThreadPerCore:
    THREADS = 1

    def test_siblings_are_only_to_be_had_of_threads(self, cloud):
        flavor = cloud.flavor()
        policy = {'hw_cpu_policy': 'dedicated'}
        cloud.boot({**policy, 'hw_cpu_thread_policy': 'isolate'},
                   flavor=flavor)
        assert cloud.refused_by(
            {**policy, 'hw_cpu_thread_policy': 'require'}, flavor) == (
            'NUMATopologyFilter')


class TestFlavorsAndPorts:
    """What an override adds to what only a flavor can say."""

    def test_emulator_threads_get_the_cpu_that_the_flavor_gives_them(
            self, cloud):
        flavor = cloud.flavor(hw__emulator_threads_policy='isolate')
        server = cloud.boot({'hw_cpu_policy': 'dedicated'}, flavor=flavor)
        tune = cloud.guest(server).find('cputune')
        vcpus = {pin.get('cpuset') for pin in tune.findall('vcpupin')}
        assert len(vcpus) == 2
        assert tune.find('emulatorpin').get('cpuset') not in vcpus
        assert cloud.create(
            {'hw_emulator_threads_policy': 'isolate'}).problems == {
            'hw_emulator_threads_policy': 'unknown'}

    def test_a_flavor_with_emulator_threads_needs_a_policy_from_somewhere(
            self, cloud):
        flavor = cloud.flavor(hw__emulator_threads_policy='isolate')
        assert cloud.create(flavor=flavor).status == 400

    def test_packed_rings(self, cloud):
        release.need('hw_virtio_packed_ring')
        network = cloud.neutron.network_1['id']
        server = cloud.boot({'hw_virtio_packed_ring': 'true'}, server={
            'networks': [{'uuid': network}]})
        assert cloud.guest(server).find('devices/interface/driver').get(
            'packed') == 'on'
