"""Whether a host can take a server, and which override is in the way."""

from keystoneauth1 import exceptions
from nova import objects
import nova.conf
from nova.scheduler.client import report
from nova.scheduler.filters import image_props_filter
from oslo_db import exception as db_exception
import pytest

from nova_image_override import versions
from testing.harness import base
from testing.harness import nfv_hosts
from testing.harness import statements
from tests.functional import check_case

AVX512F = 'trait:HW_CPU_X86_AVX512F'
DEDICATED = {'hw_cpu_policy': 'dedicated'}


class Cloud(check_case.Cloud):
    """Two hosts of eight dedicated CPUs; one has pages and threads."""

    HOSTS = ('compute1', 'compute2')

    def setUp(self):
        self.flags(group='compute', **nfv_hosts.CPU_SETS)
        self.flags(group='pci', **nfv_hosts.PCI)
        super().setUp()

    def hardware(self, host):
        if host == 'compute1':
            return nfv_hosts.hardware()
        return nfv_hosts.hardware(threads=1, devices=0)

    def ask(self, body, hosts=True, admin=True):
        return self.http('POST', versions.CHECK_PATH, {**body, 'hosts': hosts},
                         admin=admin)

    def hosts(self, overrides, hints=None, **kwargs):
        """Return what a check tells an administrator of hosts."""
        told = self.ask({
            **self.server_body(overrides, **kwargs),
            'os:scheduler_hints': hints or {},
        }).expect(200).body[base.PARAMETER]['hosts']
        assert 'compute' not in str(told)
        return told


#: Overrides that no host can take -> those that are in the way.
IN_THE_WAY = {
    'a trait': ({'trait:CUSTOM_GOLD': 'required', 'hw_boot_menu': 'true'},
                ['trait:CUSTOM_GOLD']),
    'more nodes than hosts have': ({'hw_numa_nodes': '4'}, ['hw_numa_nodes']),
    'another hypervisor': ({'img_hv_type': 'xen'}, ['img_hv_type']),
    'two of them': ({'img_hv_type': 'xen', 'trait:CUSTOM_GOLD': 'required'},
                    ['img_hv_type', 'trait:CUSTOM_GOLD']),
    'a trait, with CPUs that are there': (
        {**DEDICATED, 'hw_cpu_thread_policy': 'isolate', AVX512F: 'required'},
        [AVX512F]),
}


class TestCheck:
    @pytest.mark.parametrize(
        ('overrides', 'names'), IN_THE_WAY.values(), ids=IN_THE_WAY)
    def test_what_is_in_the_way_is_named(self, cloud, overrides, names):
        flavor = cloud.flavor(4, 4096)
        told = cloud.hosts(overrides, flavor=flavor)
        assert told['possible'] is False
        assert sorted(told['in_the_way']) == names
        assert told['not_asked'] == []
        server = cloud.created(
            cloud.create(overrides, flavor=flavor), 'ERROR')
        assert 'No valid host was found' in cloud.show(
            server)['fault']['message']
        cloud.delete(server)

    @pytest.mark.parametrize('overrides', [
        {}, DEDICATED, {**DEDICATED, 'hw_cpu_thread_policy': 'isolate'},
        {**DEDICATED, 'hw_cpu_thread_policy': 'require'},
        {'hw_mem_page_size': '1GB'}, {'hw_numa_nodes': '2'}])
    def test_what_a_host_can_take_is_built(self, cloud, overrides):
        flavor = cloud.flavor(4, 4096, hw__mem_page_size='any')
        assert cloud.hosts(overrides, flavor=flavor) == {
            'possible': True, 'in_the_way': {}, 'not_asked': []}
        cloud.delete(cloud.boot(overrides, flavor=flavor))

    def test_what_other_guests_have_is_in_the_way(self, cloud):
        flavor = cloud.flavor(4, 3072, hw__mem_page_size='any')
        pages = {'hw_mem_page_size': '1GB'}
        servers = []
        while cloud.hosts(pages, flavor=flavor)['possible']:
            servers.append(cloud.boot(pages, flavor=flavor))
        assert len(servers) == 4
        told = cloud.hosts(pages, flavor=flavor)
        assert list(told['in_the_way']) == ['hw_mem_page_size']
        assert 'NUMATopologyFilter' in told['in_the_way']['hw_mem_page_size']
        for server in servers:
            cloud.delete(server)

    def test_the_flavor_may_be_in_the_way(self, cloud):
        told = cloud.hosts(DEDICATED, flavor=cloud.flavor(64, 4096))
        assert told == {
            'possible': False, 'in_the_way': {}, 'not_asked': []}

    def test_a_trait_that_placement_does_not_know_is_in_the_way(self, cloud):
        """Nova asks Placement twice, and ends in a TypeError of its own."""
        overrides = {**DEDICATED, 'trait:CUSTOM_NOBODY': 'required'}
        told = cloud.hosts(overrides)
        assert told['possible'] is False
        assert list(told['in_the_way']) == ['trait:CUSTOM_NOBODY']
        cloud.delete(cloud.created(cloud.create(overrides), 'ERROR'))

    @pytest.mark.parametrize(('policy', 'others', 'same'), [
        ('affinity', 'require', 'isolate'),
        ('anti-affinity', 'isolate', 'require')])
    def test_a_group_leaves_some_hosts_only(
            self, cloud, policy, others, same):
        flavor = cloud.flavor()
        group = cloud.http('POST', '/os-server-groups', {'server_group': {
            'name': policy, 'policy': policy}}, admin=True).body[
                'server_group']['id']
        hints = {'group': group}
        # The host without threads.
        member = cloud.created(cloud.http('POST', '/servers', {
            **cloud.server_body(
                {**DEDICATED, 'hw_cpu_thread_policy': 'isolate'},
                flavor=flavor),
            'os:scheduler_hints': hints}, admin=True))
        told = cloud.hosts({**DEDICATED, 'hw_cpu_thread_policy': others},
                           hints, flavor=flavor)
        assert told['possible'] is False
        assert 'hw_cpu_thread_policy' in told['in_the_way']
        assert cloud.hosts({**DEDICATED, 'hw_cpu_thread_policy': same},
                           hints, flavor=flavor)['possible'] is True
        cloud.delete(member)

    def test_machine_types_are_not_asked_for(self, cloud):
        """Only the driver knows those of its host, once it builds."""
        assert cloud.hosts(
            {'hw_machine_type': 'pc-q35-99.0'})['possible'] is True

    @pytest.mark.parametrize(('name', 'told'), [
        ('tests.functional.test_hosts_command.OddHosts',
         {'possible': True, 'in_the_way': {}, 'not_asked': ['OddHosts']}),
        ('nowhere.OddHosts', {
            'possible': 'unknown', 'in_the_way': {},
            'not_asked': ['the scheduler of this Nova']})])
    def test_filters_of_others_are_named_and_not_asked(
            self, cloud, name, told):
        options = nova.conf.CONF.filter_scheduler
        cloud.flags(group='filter_scheduler', available_filters=[
            *options.available_filters, name], enabled_filters=[
                *options.enabled_filters, 'OddHosts'])
        assert cloud.hosts(DEDICATED) == told

    def test_a_filter_that_fails_leaves_no_host_and_is_named(
            self, cloud, monkeypatch):
        def passes(self, host_state, spec_obj):
            if spec_obj.image.properties.get('hw_boot_menu'):
                raise KeyError('menu')
            return True

        monkeypatch.setattr(
            image_props_filter.ImagePropertiesFilter, 'host_passes', passes)
        assert cloud.hosts({})['possible'] is True
        told = cloud.hosts({'hw_boot_menu': 'true'})
        assert told['possible'] is False
        assert "ImagePropertiesFilter, which fails: KeyError('menu')" in told[
            'in_the_way']['hw_boot_menu']

    def test_a_cell_that_is_down_may_have_a_host(self, cloud, monkeypatch):
        def get(context, uuids):
            raise db_exception.DBConnectionError

        monkeypatch.setattr(
            objects.ComputeNodeList, 'get_all_by_uuids', staticmethod(get))
        assert cloud.hosts(DEDICATED) == {
            'possible': 'unknown', 'in_the_way': {}, 'not_asked': [
                'hosts beyond 50, or in a cell that does not answer']}

    def test_what_only_placement_takes_for_a_host_is_none(self, cloud):
        """Such as a compute service that was deleted with its cell."""
        trait = 'CUSTOM_GONE'
        cloud._create_trait(trait)
        gone = cloud._post_resource_provider('gone')['uuid']
        cloud._update_inventory(gone, {
            'resource_provider_generation': 0, 'inventories': {
                each: {'total': 9999} for each in (
                    'PCPU', 'MEMORY_MB', 'DISK_GB')}})
        cloud._set_provider_traits(gone, [trait, 'OWNER_NOVA'])
        name = f'trait:{trait}'
        assert cloud.hosts({**DEDICATED, name: 'required'}) == {
            'possible': False, 'not_asked': [], 'in_the_way': {
                name: f'Placement has no host with {trait}: without it there '
                      'is a host'}}
        cloud.placement.delete(f'/resource_providers/{gone}')

    def test_nothing_is_stored(self, cloud):
        made = []
        cloud.image()
        flavor = cloud.flavor()
        with statements.Statements(made.append):
            cloud.hosts({**DEDICATED, 'img_hv_type': 'xen'}, flavor=flavor)
        assert not [*statements.changing(made)]

    def test_without_placement_it_is_not_known(self, cloud, monkeypatch):
        def get(self, url, version=None, global_request_id=None):
            raise exceptions.ConnectFailure

        monkeypatch.setattr(report.SchedulerReportClient, 'get', get)
        assert cloud.hosts(DEDICATED) == {
            'possible': 'unknown', 'in_the_way': {},
            'not_asked': ['Placement']}

    def test_only_administrators_may_ask(self, cloud):
        body = cloud.server_body({})
        cloud.ask(body, admin=False).expect(403, {'hosts': 'policy'})
        answer = cloud.ask(body, hosts=False, admin=False).expect(200)
        assert 'hosts' not in answer.body[base.PARAMETER]

    @pytest.mark.parametrize('value', ['true', 1, None, {}])
    def test_it_is_a_boolean(self, cloud, value):
        cloud.ask(cloud.server_body({}), value).expect(
            400, {'hosts': 'invalid_type'})

    def test_servers_that_exist_have_a_host(self, cloud):
        server = cloud.boot()
        for body in ({'server': {'id': server, 'image_props_override': {}}},
                     {'rebuild': {'id': server}}):
            cloud.ask(body).expect(400, {'hosts': 'not_here'})
        cloud.delete(server)
