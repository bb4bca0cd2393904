"""The override decides wherever Nova's scheduler reads image properties.

There are two hosts: the scheduler takes one for the image's own value and the
other for the override. For the weigher, which excludes no host, there is a
third to move to. Rebuilds: tests/functional/test_rebuild_scheduling; their one
host is given, so there is nothing to weigh.
IsolatedHostsFilter reads the image's id, and require_image_type_support its
disk format, which no property overrides.
"""

import fixtures
from nova import context as nova_context
from nova import objects
from nova.objects import fields
from nova.tests.fixtures import libvirt as fakelibvirt
import pytest

from testing import release
from tests.functional import life

#: The host for the override, and the one for the image as it is.
OURS, OTHER = 'compute1', 'compute2'


class Cloud(life.Cloud):
    SHARED = False  # The hosts are made different, and one of them fails.

    #: The image's own properties, and what is overridden.
    IMAGE: dict[str, str] = {}
    OVERRIDES: dict[str, str] = {}

    def take_trait(self, host, trait):
        provider = self.compute_rp_uuids[host]
        self._set_provider_traits(provider, sorted(
            {*self._get_provider_traits(provider)} - {trait}))

    def host(self, server):
        return self.instance(server).host

    def a_server(self, overrides=None, **kwargs):
        return super().a_server(
            self.OVERRIDES if overrides is None else overrides,
            image=self.image(**self.IMAGE), **kwargs)

    def assert_no_valid_host(self, server):
        """Assert that the scheduler found no valid host for the last action."""
        path = f'/servers/{server}/os-instance-actions'
        last = self.http('GET', path).body['instanceActions'][0]
        events = self.http(
            'GET', f'{path}/{last["request_id"]}', admin=True,
        ).body['instanceAction']['events']
        assert 'No valid host' in str(events)

    def assert_decides(self):
        """The image alone goes to OTHER; with the override a server goes to
        OURS and to no other host, whatever moves it."""
        if self.IMAGE:
            assert self.host(self.a_server({})) == OTHER
        server = self.a_server()
        assert self.host(server) == OURS

        self.flags(shelved_offload_time=0)
        self.do(server, 'shelve', 'SHELVED_OFFLOADED')
        self.do(server, 'unshelve')
        assert self.host(server) == OURS

        for action in ({'migrate': None}, {'os-migrateLive': {
                'host': None, 'block_migration': 'auto'}}):
            # Casts to the conductor are calls in Nova's harness, and fail.
            self.act(server, action, admin=True)
            self.wait(server)
            self.assert_no_valid_host(server)
            assert self.host(server) == OURS

        self.take_down(OURS)
        self.act(server, {'evacuate': {}}, admin=True)
        self.wait(server, 'ERROR')
        self.assert_no_valid_host(server)
        assert self.host(server) == OURS


class TestImageFilter:
    IMAGE = {'img_hv_type': 'vmware'}
    OVERRIDES = {'img_hv_type': 'qemu'}

    @pytest.mark.smoke
    def test_the_image_properties_filter(self, cloud):
        node = objects.ComputeNode.get_first_node_by_host_for_old_compat(
            nova_context.get_admin_context(), OTHER)
        node.supported_hv_specs = [objects.HVSpec.from_list([
            fields.Architecture.X86_64, fields.HVType.VMWARE,
            fields.VMMode.HVM])]
        node.save()
        cloud.assert_decides()


class TestAggregateFilter:
    ADDITIONAL_FILTERS = [
        *Cloud.ADDITIONAL_FILTERS, 'AggregateImagePropertiesIsolation']
    IMAGE = {'os_distro': 'linux'}
    OVERRIDES = {'os_distro': 'windows'}

    def test_the_isolation_of_image_properties_by_aggregates(self, cloud):
        cloud.isolate(OURS, os_distro='windows')
        cloud.isolate(OTHER, os_distro='linux')
        cloud.assert_decides()


class NumaFilterCloud(Cloud):
    OVERRIDES = {'hw_numa_nodes': '2'}

    def hardware(self, host):
        return super().hardware(host) if host == OURS else {
            'host_info': fakelibvirt.HostInfo(
                cpu_nodes=1, cpu_sockets=1, cpu_cores=4, cpu_threads=2)}


class TestNumaFilter:
    CLOUD = NumaFilterCloud

    def test_the_numa_topology_filter(self, cloud):
        cloud.assert_decides()


class TraitIsolationCloud(Cloud):
    OVERRIDES = {'trait:CUSTOM_LICENSED': 'required'}

    def setUp(self):
        super().setUp()
        self.flags(enable_isolated_aggregate_filtering=True,
                   group='scheduler')
        self.give_trait(OURS, 'CUSTOM_LICENSED')
        self.isolate(OURS, trait__CUSTOM_LICENSED='required')


class TestTraitIsolation:
    CLOUD = TraitIsolationCloud

    def test_the_isolation_of_traits_by_aggregates(self, cloud):
        # Without the trait there is no way in.
        assert [cloud.host(cloud.a_server({})) for _ in range(2)] == [OTHER] * 2
        cloud.assert_decides()


class TestPrefilter:
    IMAGE = {'hw_disk_bus': 'virtio'}
    OVERRIDES = {'hw_disk_bus': 'scsi'}

    def test_the_prefilter_of_image_metadata(self, cloud):
        cloud.flags(image_metadata_prefilter=True, group='scheduler')
        bus = 'COMPUTE_STORAGE_BUS_{}'.format
        cloud.take_trait(OURS, bus('VIRTIO'))
        cloud.take_trait(OTHER, bus('SCSI'))
        # Nova's compute would report them again.
        for compute in cloud.computes.values():
            cloud.useFixture(fixtures.MockPatchObject(
                compute.manager.rt.reportclient,
                'update_from_provider_tree'))
        cloud.assert_decides()


class WeigherCloud(Cloud, life.LiveMigrationCloud):
    HOSTS = (*Cloud.HOSTS, 'compute3')
    EXTENDED_HOSTS = HOSTS
    IMAGE = {'os_distro': 'linux'}
    OVERRIDES = {'os_distro': 'windows'}

    def setUp(self):
        self.flags(image_props_weight_multiplier=1000.0,
                   image_props_weight_setting=['os_distro=1'],
                   group='filter_scheduler')
        super().setUp()

    def cold_migrate(self, server, host):
        self.migrate(server)
        self.confirm(server)

    def evacuate(self, server, host):
        self.take_down(self.host(server))
        self.do(server, {'evacuate': {}}, admin=True, expected=200)


@pytest.mark.skipif(
    release.NUMBER < 31, reason='Nova has no weigher of image properties')
class TestWeigher:
    CLOUD = WeigherCloud

    def test_the_weigher_of_image_properties(self, cloud):
        # By free memory alone, the next would go to a host without any.
        for host, overrides in (
                (OURS, cloud.OVERRIDES), (OTHER, {}),
                ('compute3', cloud.OVERRIDES)):
            cloud.boot(
                overrides, image=cloud.image(**cloud.IMAGE), admin=True,
                server={'availability_zone': f'nova:{host}'})
        assert [cloud.host(cloud.a_server({})) for _ in range(2)] == [OTHER] * 2
        server, live, lost = (cloud.a_server() for _ in range(3))
        assert OTHER not in map(cloud.host, (server, live, lost))

        cloud.flags(shelved_offload_time=0)
        cloud.do(server, 'shelve', 'SHELVED_OFFLOADED')
        cloud.do(server, 'unshelve')
        assert cloud.host(server) != OTHER

        # Each moves once: Nova's fake libvirt may still have it on its old
        # host. LibvirtDriver._cleanup_resize undefines it where instance.host
        # is not CONF.host, which here is one for all hosts.
        for move, moved in ((cloud.cold_migrate, server),
                            (cloud.live_migrate, live), (cloud.evacuate, lost)):
            (other,) = {OURS, 'compute3'} - {cloud.host(moved)}
            move(moved, other)
            assert cloud.host(moved) == other
