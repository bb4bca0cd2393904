"""``nova-image-override servers``, on Nova's databases."""

from unittest import mock
import uuid

from nova import objects
import pytest

from nova_image_override import errors
from nova_image_override import record
from nova_image_override.cmd import server_pages
from nova_image_override.cmd import servers
from testing.harness import base
from testing.harness import statements

SCSI = {'hw_disk_bus': 'scsi'}


class Cloud(base.Cloud):
    def server(self, overrides=None, cell=1, **kwargs):
        return self.boot(overrides, admin=True, server={
            'availability_zone': f'nova:compute{cell}'}, **kwargs)

    def rows(self, project=None, marker=None, server=None):
        return [row for cell, page in server_pages.pages(
                    project, marker, server)
                for row in servers.rows(
                    cell, page.servers, lambda name, value: True, None)]

    def change(self, server, change):
        """Change a server's row in the first cell."""
        with base.nova_context.target_cell(
                base.nova_context.get_admin_context(),
                self.cell_mappings['cell1']) as context:
            instance = objects.Instance.get_by_uuid(context, server)
            change(instance)
            instance.save()


class TestServersCommand:
    NUMBER_OF_CELLS = 2
    HOSTS = ('compute1', 'compute2')
    CELLS = {'compute1': 'cell1', 'compute2': 'cell2'}

    def test_every_override_of_every_cell(self, cloud):
        failed = cloud.create(
            {'os_type': 'linux'}, flavor=cloud.flavor(vcpus=64)
        ).body['server']['id']
        cloud.wait(failed, 'ERROR')
        second = cloud.server(SCSI, cell=2)
        cloud.server(cell=2)
        cloud.server()
        first = cloud.server(
            {'hw_disk_bus': 'scsi', 'hw_pmu': None, 'hw_vif_model': None},
            image=cloud.image(hw_disk_bus='virtio', hw_pmu='false'))
        project = cloud.api.project_id
        assert cloud.rows() == [
            (failed, project, 'cell0', 'os_type', None, 'linux'),
            (first, project, 'cell1', 'hw_disk_bus', 'virtio', 'scsi'),
            (first, project, 'cell1', 'hw_pmu', 'false', None),
            # What nova-compute has filled in since is not an override.
            (first, project, 'cell1', 'hw_vif_model', None, None),
            (second, project, 'cell2', 'hw_disk_bus', None, 'scsi'),
        ]
        for server in failed, first, second:
            assert cloud.rows(server=server) == [
                row for row in cloud.rows() if row[0] == server]

    def test_a_server_without_overrides_has_no_row(self, cloud):
        assert cloud.rows(server=cloud.server()) == []

    def test_servers_of_one_project(self, cloud):
        cloud.server(SCSI)
        other = 'f' * 32
        theirs = cloud.create(SCSI, headers={'X-Auth-Project-Id': other}
                              ).body['server']['id']
        cloud.wait(theirs)
        assert [row[0] for row in cloud.rows(other)] == [theirs]
        assert cloud.rows('e' * 32) == []

    def test_deleted_servers_are_left_out(self, cloud):
        server = cloud.server(SCSI)
        cloud.delete(server)
        assert cloud.rows() == []
        with pytest.raises(errors.NotFound, match=server):
            cloud.rows(server=server)
        # Yet the place of a deleted one is still known.
        later = cloud.server(SCSI)
        assert [row[0] for row in cloud.rows(marker=server)] == [later]

    def test_the_hidden_copy_of_a_move_to_another_cell_is_left_out(self, cloud):
        server = cloud.server(SCSI)
        for hidden, found in ((True, []), (False, [server])):
            cloud.change(server, lambda instance, hidden=hidden: setattr(
                instance, 'hidden', hidden))
            assert [row[0] for row in cloud.rows()] == found

    def test_dropped_overrides_of_a_shelved_server_are_none(self, cloud):
        server = cloud.server(SCSI)
        cloud.change(server, lambda instance: setattr(
            instance, 'system_metadata', record.with_properties(
                instance.system_metadata, {record.OFFLOADED: 'image'})))
        assert cloud.rows() == []

    def test_pages_are_read_one_by_one_and_reading_can_go_on_behind_any(
            self, cloud):
        expected = [cloud.server(SCSI if number % 4 else None, cell=cell)
                    for cell in (1, 2) for number in range(5)]
        overridden = [server for number, server in enumerate(expected)
                      if number % 5 % 4]
        for size in (1, 2, 3, 100):
            with mock.patch.object(server_pages, 'SIZE', size):
                assert [row[0] for row in cloud.rows()] == overridden
                for marker in expected:
                    behind = expected[expected.index(marker) + 1:]
                    assert [row[0] for row in cloud.rows(marker=marker)] == [
                        each for each in behind if each in overridden]
                assert max(
                    page.number for _, page in server_pages.pages()) <= size

    def test_a_page_is_three_queries_at_most_and_none_locks(self, cloud):
        for overrides in (SCSI, SCSI, None):
            cloud.server(overrides)
        seen = []
        cloud.useFixture(statements.Statements(seen.append))
        ((_, page),) = server_pages.pages()
        assert (page.number, len(page.servers)) == (3, 2)
        assert [*statements.changing(seen)] == []
        assert not [
            each.text for each in seen if 'FOR UPDATE' in each.text.upper()]
        # cell0 and cell2 have no page, cell1 has one and then no other.
        assert {
            table: len([each for each in seen if table in each.text])
            for table in ('FROM instances', 'FROM instance_system_metadata')
        } == {'FROM instances': 4, 'FROM instance_system_metadata': 2}

    def test_a_server_that_does_not_exist_is_said_so(self, cloud):
        server = str(uuid.uuid4())
        for asked in 'marker', 'server':
            with pytest.raises(errors.NotFound,
                               match=f'there is no server {server}'):
                cloud.rows(**{asked: server})

    def test_a_server_that_has_no_cell_yet_is_said_so(self, cloud):
        with mock.patch(base.BUILDS):
            server = cloud.create(SCSI).body['server']['id']
        for asked in 'marker', 'server':
            with pytest.raises(errors.NotFound,
                               match=f'{server} has not been scheduled yet'):
                cloud.rows(**{asked: server})
