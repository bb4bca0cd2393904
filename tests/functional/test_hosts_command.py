"""``nova-image-override hosts``, with the hosts of Nova's harness."""

import argparse
import io
from unittest import mock
import uuid

from keystoneauth1 import exceptions
from nova import objects
import nova.conf
from nova.scheduler import filters
from nova.scheduler.client import report
from oslo_db import exception as db_exception
import pytest

from nova_image_override.cmd import deployment_files
from nova_image_override.cmd import list_hosts
from testing.harness import base
from testing.harness import nfv_hosts
from testing.harness import statements

TAKES = 'can take the server'
AVX512F = 'trait:HW_CPU_X86_AVX512F'


class OddHosts(filters.BaseHostFilter):
    """A filter of a deployer's own."""

    def host_passes(self, host_state, spec_obj):
        return host_state.host != 'compute2'


class Cloud(base.Cloud):
    """Three hosts in two cells; one has neither pages nor threads."""

    NUMBER_OF_CELLS = 2
    HOSTS = ('compute1', 'compute2', 'compute3')
    CELLS = {'compute2': 'cell2'}

    def setUp(self):
        self.flags(group='compute', **nfv_hosts.CPU_SETS)
        super().setUp()

    def hardware(self, host):
        if host == 'compute3':
            return nfv_hosts.hardware(threads=1, devices=0)
        return nfv_hosts.hardware(devices=0)

    def change_service(self, host, **changes):
        self.discard()
        (service,) = self.http(
            'GET', f'/os-services?binary=nova-compute&host={host}',
            admin=True).body['services']
        assert self.http('PUT', f'/os-services/{service["id"]}', changes,
                         admin=True).status == 200

    def asked(self, *overrides, **options):
        """Return the exit status and the rows of the command."""
        self.error = io.StringIO()
        command = list_hosts.Hosts(
            mock.Mock(stderr=self.error, options=argparse.Namespace(
                config_file=[], config_dir=[])), None)
        rows = []

        def keep(parsed_args, names, data):
            rows.extend(tuple(row) for row in data)
            return 0

        with mock.patch.object(
                deployment_files, 'read_nova_conf',
                return_value=nova.conf.CONF), mock.patch.object(
                command, 'produce_output', keep):
            parser = command.get_parser('hosts')
            arguments = [f'--image-prop-override={each}' for each in overrides]
            for name, value in options.items():
                arguments += [f'--{name}'] if value is True else [
                    f'--{name}', value]
            return command.run(parser.parse_args(arguments)), rows


def test_hosts_are_counted_by_what_they_lack(cloud):
    flavor = cloud.flavor()
    assert cloud.asked(flavor=flavor) == (0, [(3, TAKES, '')])
    assert cloud.asked(f'{AVX512F}=required', flavor=flavor) == (1, [
        (0, TAKES, ''), (3, 'without the trait HW_CPU_X86_AVX512F', AVX512F),
        (3, f'{TAKES} without', AVX512F)])


def test_overrides_that_some_hosts_can_take(cloud):
    flavor = cloud.flavor()
    policies = 'hw_cpu_policy=dedicated', 'hw_cpu_thread_policy=require'
    status, rows = cloud.asked(*policies, flavor=flavor)
    assert status == 0
    assert rows[:2] == [
        (2, TAKES, ''),
        (1, 'refused by NUMATopologyFilter',
         'hw_cpu_thread_policy')]


def test_each_host_is_listed_with_its_reason(cloud):
    flavor = cloud.flavor()
    cloud.change_service('compute2', status='disabled')
    assert cloud.asked('hw_numa_nodes=2', flavor=flavor, hosts=True) == (0, [
        ('cell1', 'compute1', 'compute1', TAKES),
        ('cell1', 'compute3', 'compute3', TAKES),
        ('cell2', 'compute2', 'compute2', 'disabled')])


def test_a_host_that_is_down(cloud):
    cloud.change_service('compute2', forced_down=True)
    assert cloud.asked(flavor=cloud.flavor())[1][:2] == [
        (2, TAKES, ''), (1, 'refused by ComputeFilter', '')]


def test_a_filter_of_others_is_run_like_those_of_nova(cloud):
    options = nova.conf.CONF.filter_scheduler
    cloud.flags(group='filter_scheduler', available_filters=[
        *options.available_filters, f'{__name__}.OddHosts'], enabled_filters=[
            *options.enabled_filters, 'OddHosts'])
    assert cloud.asked(flavor=cloud.flavor())[1] == [
        (2, TAKES, ''), (1, 'refused by OddHosts', '')]


@pytest.fixture
def down(cloud, monkeypatch):
    """Have one of the cells down."""
    cell = cloud.cell_mappings['cell2'].uuid

    def unless_down(read):
        def get(context, *args, **kwargs):
            if context.cell_uuid == cell:
                raise db_exception.DBConnectionError('gone')
            return read(context, *args, **kwargs)

        return staticmethod(get)

    for owner, name in ((objects.ComputeNodeList, 'get_all'),
                        (objects.ComputeNodeList, 'get_all_by_uuids'),
                        (objects.InstanceList, 'get_by_filters')):
        monkeypatch.setattr(owner, name, unless_down(getattr(owner, name)))


def test_a_cell_that_is_down_is_named_and_the_others_are_listed(
        cloud, down, capsys):
    assert cloud.asked(flavor=cloud.flavor()) == (2, [(2, TAKES, '')])
    line, = capsys.readouterr().err.splitlines()
    assert 'database of cell cell2 cannot be read' in line


def test_a_server_is_found_where_another_cell_is_down(cloud, down, capsys):
    server = cloud.boot(flavor=cloud.flavor())
    status, rows = cloud.asked(server=server)
    assert (status, rows[0][1:]) == (2, (TAKES, ''))
    line, = capsys.readouterr().err.splitlines()
    assert 'database of cell cell2 cannot be read' in line
    assert cloud.asked(server=str(uuid.uuid4())) == (2, [])
    assert cloud.error.getvalue().endswith('in any cell that can be read\n')


def test_a_filter_that_is_not_there_is_one_line(cloud):
    cloud.flags(group='filter_scheduler', available_filters=['nowhere.Odd'])
    assert cloud.asked(flavor=cloud.flavor()) == (2, [])
    assert 'nowhere' in cloud.error.getvalue()


def test_a_trait_that_placement_does_not_know(cloud):
    status, rows = cloud.asked(
        'hw_cpu_policy=dedicated', 'trait:CUSTOM_NOBODY=required',
        flavor=cloud.flavor())
    assert status == 1
    assert (3, 'without the trait CUSTOM_NOBODY',
            'trait:CUSTOM_NOBODY') in rows


def test_a_zone_has_some_of_the_hosts(cloud):
    cloud.discard()
    aggregate = cloud.admin_api.post_aggregate({'aggregate': {
        'name': 'az1', 'availability_zone': 'az1'}})['id']
    cloud.admin_api.add_host_to_aggregate(aggregate, 'compute2')
    assert cloud.asked(flavor=cloud.flavor(), zone='az1') == (0, [
        (1, TAKES, ''),
        (2, 'not in the zone, or the aggregates, of the request', '')])


def test_a_server_that_found_no_host(cloud):
    server = cloud.created(cloud.create(
        {'hw_numa_nodes': '4', 'hw_boot_menu': 'true'},
        flavor=cloud.flavor(4, 4096)), 'ERROR')
    status, rows = cloud.asked(server=server)
    assert status == 1
    assert rows[:2] == [
        (0, TAKES, ''),
        (3, 'refused by NUMATopologyFilter',
         'hw_numa_nodes')]
    assert (3, f'{TAKES} without', 'hw_numa_nodes') in rows
    assert (0, f'{TAKES} without', 'hw_boot_menu') in rows
    cloud.delete(server)


@pytest.mark.parametrize(('overrides', 'options', 'line'), [
    ([], {'flavor': 'none'}, 'there is no flavor none'),
    ([], {'server': '5f2c1a34-0c1e-4b6f-9e2d-7a8b9c0d1e2f'},
     'there is no server 5f2c1a34'),
    (['hw_numa_node=1'], {}, 'hw_numa_node: unknown: '),
    (['hw_numa_nodes=3'], {}, 'hw_numa_nodes: '),
    (['hw_disk_type=thin'], {}, 'hw_disk_type: no_effect: would do nothing on'),
    (['hw_vif_model=sriov'], {}, 'hw_vif_model: no_effect: the server would'),
    (['hw_disk_type=thin', 'hw_numa_nodes=3'], {}, '; hw_numa_nodes: '),
    ([], {'preset': 'none'}, 'unknown_preset'),
    ([], {'image': '/nowhere'}, '/nowhere'),
])
def test_what_cannot_be_asked_is_one_line(cloud, overrides, options, line):
    if not {'flavor', 'server'} & {*options}:
        options = {**options, 'flavor': cloud.flavor()}
    assert cloud.asked(*overrides, **options) == (2, [])
    told = cloud.error.getvalue()
    assert line in told
    assert told.count('\n') == 1


def test_what_a_driver_of_the_cloud_acts_on_is_asked_for(cloud):
    cloud.flags(group='image_override', virt_drivers=['libvirt', 'vmwareapi'])
    flavor = cloud.flavor()
    for override in 'hw_disk_type=thin', 'hw_vif_model=sriov':
        assert cloud.asked(override, flavor=flavor)[1][0] == (3, TAKES, '')


def test_placement_that_does_not_answer_is_one_line(cloud, monkeypatch):
    flavor = cloud.flavor()

    def get(self, url, version=None, global_request_id=None):
        raise exceptions.ConnectFailure

    monkeypatch.setattr(report.SchedulerReportClient, 'get', get)
    assert cloud.asked(flavor=flavor) == (2, [])
    assert cloud.error.getvalue().startswith('Placement does not answer')


def test_nothing_is_claimed(cloud):
    flavor = cloud.flavor()
    made = []
    with statements.Statements(made.append):
        for _ in range(2):
            assert cloud.asked('hw_cpu_policy=dedicated', flavor=flavor)[1][
                0] == (3, TAKES, '')
    assert not [*statements.changing(made)]
