"""``nova-image-override servers``, on Nova's databases."""

import itertools
from unittest import mock

from nova import objects
from oslo_db import exception as db_exception
import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.cmd import list_servers
from nova_image_override.server_record import ServerRecord
from testing.harness import base
from testing.harness import statements

SCSI = {'hw_disk_bus': 'scsi'}


class Cloud(base.Cloud):
    def server(self, overrides=None, cell=1, **kwargs):
        return self.boot(overrides, admin=True, server={
            'availability_zone': f'nova:compute{cell}'}, **kwargs)

    def rows(self, *asked, **kwargs):
        return [*list_servers.rows(list_servers.overridden(*asked, **kwargs))]

    def servers(self, *asked, **kwargs):
        return [row[0] for row in self.rows(*asked, **kwargs)]

    def use(self, server, preset):
        self.change(server, system_metadata={
            **self.instance(server).system_metadata,
            metadata_keys.preset_keys(preset)[0]: 'digest'})


class TestServersCommand:
    NUMBER_OF_CELLS = 2
    HOSTS = ('compute1', 'compute2')
    CELLS = {'compute1': 'cell1', 'compute2': 'cell2'}

    def test_every_override_of_every_cell(self, cloud):
        failed = cloud.created(cloud.create(
            {'os_type': 'linux'}, flavor=cloud.flavor(vcpus=64)), 'ERROR')
        second = cloud.server(SCSI, cell=2)
        cloud.server(cell=2)
        cloud.server()
        first = cloud.server(
            {'hw_disk_bus': 'scsi', 'hw_pmu': None, 'hw_vif_model': None},
            image=cloud.image(hw_disk_bus='virtio', hw_pmu='false'))
        project = cloud.api.project_id
        assert cloud.rows() == [
            (failed, project, 'cell0', 'os_type', None, 'linux', None),
            (first, project, 'cell1', 'hw_disk_bus', 'virtio', 'scsi', None),
            (first, project, 'cell1', 'hw_pmu', 'false', None, None),
            # What nova-compute has filled in since is not an override.
            (first, project, 'cell1', 'hw_vif_model', None, None, None),
            (second, project, 'cell2', 'hw_disk_bus', None, 'scsi', None),
        ]
        for server in failed, first, second:
            assert cloud.rows(server=server) == [
                row for row in cloud.rows() if row[0] == server]

    def test_a_server_without_overrides_has_no_row(self, cloud):
        assert cloud.rows(server=cloud.server()) == []

    def test_servers_of_one_project(self, cloud):
        cloud.server(SCSI)
        other = 'f' * 32
        theirs = cloud.boot(SCSI, headers={'X-Auth-Project-Id': other})
        assert cloud.servers(other) == [theirs]
        assert cloud.rows('e' * 32) == []

    def test_servers_of_one_preset(self, cloud):
        vga, other, none = (cloud.server(SCSI) for _ in range(3))
        cloud.use(vga, 'vga')
        cloud.use(other, 'vga-2')
        assert [(row[0], row[-1]) for row in cloud.rows(preset='vga')] == [
            (vga, 'vga')]
        assert cloud.rows(preset='vg_') == []
        assert cloud.rows(server=none, preset='vga') == []
        assert cloud.servers(server=vga, preset='vga') == [vga]

    def test_deleted_servers_are_left_out(self, cloud):
        server = cloud.server(SCSI)
        cloud.delete(server)
        assert cloud.rows() == []
        with pytest.raises(errors.NotFound,
                           match=f'there is no server {server} in any cell'):
            cloud.rows(server=server)

    def test_the_hidden_copy_of_a_move_to_another_cell_is_left_out(self, cloud):
        server = cloud.server(SCSI)
        for hidden, found in ((True, []), (False, [server])):
            cloud.change(server, hidden=hidden)
            assert cloud.servers() == found

    def test_dropped_overrides_of_a_shelved_server_are_none(self, cloud):
        server = cloud.server(SCSI)
        cloud.change(server, system_metadata=ServerRecord.of(
            cloud.instance(server)).with_properties(
                {metadata_keys.OFFLOADED: 'image'}))
        assert cloud.rows() == []

    def test_servers_are_read_page_by_page(self, cloud):
        overridden = [
            cloud.server(SCSI, cell=cell) for cell in (1, 2)
            for number in range(4) if cloud.server(cell=cell)]
        for size in (1, 2, 3, 4, 100):
            with mock.patch.object(list_servers, 'PAGE', size):
                assert cloud.servers() == overridden

    def test_a_marker_goes_on_in_its_cell_and_those_after_it(self, cloud):
        overridden = [cloud.server(SCSI, cell=cell)
                      for cell in (1, 1, 1, 2, 2)]
        for size, (number, marker) in itertools.product(
                (1, 100), enumerate(overridden, 1)):
            with mock.patch.object(list_servers, 'PAGE', size):
                assert cloud.servers(marker=marker) == overridden[number:]
        cloud.delete(overridden[1])
        assert cloud.servers(marker=overridden[1]) == overridden[2:]
        assert cloud.servers(
            marker=overridden[0], only='cell1') == overridden[2:3]
        with pytest.raises(errors.NotFound, match=overridden[4]):
            cloud.rows(marker=overridden[4], only='cell1')

    def test_one_cell_by_name_or_uuid(self, cloud):
        cloud.server(SCSI)
        second = cloud.server(SCSI, cell=2)
        for cell in 'cell2', cloud.cell_mappings['cell2'].uuid:
            assert cloud.servers(only=cell) == [second]
        with pytest.raises(errors.NotFound, match='no cell cell3'):
            cloud.rows(only='cell3')

    def test_a_cell_that_does_not_answer_leaves_the_others(self, cloud):
        first, second = cloud.server(SCSI), cloud.server(SCSI, cell=2)
        get = objects.InstanceList.get_by_filters
        gone = []

        def fails(context, *arguments, **options):
            if context.cell_uuid == gone[-1]:
                raise db_exception.DBConnectionError('Connection refused')
            return get(context, *arguments, **options)

        with mock.patch.object(objects.InstanceList, 'get_by_filters', fails):
            for cell, left in (('cell1', second), ('cell2', first)):
                gone.append(cloud.cell_mappings[cell].uuid)
                unread = []
                assert cloud.servers(unread=unread) == [left]
                assert len(unread) == 1
                assert f'database of cell {cell} cannot' in unread[0]
                with pytest.raises(errors.StartupError, match='refused'):
                    cloud.rows()

    def test_a_page_is_two_queries_and_none_locks(self, cloud):
        for overrides in (SCSI, SCSI, None):
            cloud.server(overrides)
        seen = []
        cloud.useFixture(statements.Statements(seen.append))
        assert len(cloud.rows()) == 2
        assert [*statements.changing(seen)] == []
        assert not [
            each.text for each in seen if 'FOR UPDATE' in each.text.upper()]
        # Each of three cells has one page; those of cell0 and cell2 are empty.
        tables = [each.text.partition('\nFROM ')[2].partition(' ')[0]
                  for each in seen]
        assert tables.count('instances') == 3
        assert tables.count('instance_system_metadata') == 1

    def test_a_server_that_has_no_cell_yet_is_said_so(self, cloud):
        server = cloud.unbuilt(SCSI)
        with pytest.raises(errors.NotFound, match='in any cell'):
            cloud.rows(server=server)
