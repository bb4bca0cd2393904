"""``nova-image-override servers``, on Nova's databases."""

from unittest import mock
import uuid

from nova import objects

from nova_image_override import errors
from nova_image_override import record
from nova_image_override.cmd import server_pages
from nova_image_override.cmd import servers
from testing.harness import base
from testing.harness import statements

SCSI = {'hw_disk_bus': 'scsi'}


class ServersCommand(base.TestCase):
    NUMBER_OF_CELLS = 2
    HOSTS = ('compute1', 'compute2')
    CELLS = {'compute1': 'cell1', 'compute2': 'cell2'}

    def server(self, overrides=None, cell=1, **kwargs):
        return self.boot(overrides, admin=True, server={
            'availability_zone': f'nova:compute{cell}'}, **kwargs)

    def rows(self, project=None, marker=None, server=None):
        return [row for cell, page in server_pages.pages(
                    project, marker, server)
                for row in servers.rows(
                    cell, page.servers, lambda name, value: True, None)]

    def test_every_override_of_every_cell(self):
        failed = self.create(
            {'os_type': 'linux'}, flavor=self.flavor(vcpus=64)
        ).body['server']['id']
        self.wait(failed, 'ERROR')
        second = self.server(SCSI, cell=2)
        self.server(cell=2)
        self.server()
        first = self.server(
            {'hw_disk_bus': 'scsi', 'hw_pmu': None, 'hw_vif_model': None},
            image=self.image(hw_disk_bus='virtio', hw_pmu='false'))
        project = self.api.project_id
        self.assertEqual([
            (failed, project, 'cell0', 'os_type', None, 'linux'),
            (first, project, 'cell1', 'hw_disk_bus', 'virtio', 'scsi'),
            (first, project, 'cell1', 'hw_pmu', 'false', None),
            # What nova-compute has filled in since is not an override.
            (first, project, 'cell1', 'hw_vif_model', None, None),
            (second, project, 'cell2', 'hw_disk_bus', None, 'scsi'),
        ], self.rows())
        for server in failed, first, second:
            self.assertEqual(
                [row for row in self.rows() if row[0] == server],
                self.rows(server=server))

    def test_a_server_without_overrides_has_no_row(self):
        self.assertEqual([], self.rows(server=self.server()))

    def test_servers_of_one_project(self):
        self.server(SCSI)
        other = 'f' * 32
        theirs = self.create(SCSI, headers={'X-Auth-Project-Id': other}
                             ).body['server']['id']
        self.wait(theirs)
        self.assertEqual([theirs], [row[0] for row in self.rows(other)])
        self.assertEqual([], self.rows('e' * 32))

    def test_deleted_servers_are_left_out(self):
        server = self.server(SCSI)
        self.http('DELETE', f'/servers/{server}')
        self._wait_until_deleted({'id': server})
        self.assertEqual([], self.rows())
        with self.assertRaisesRegex(errors.NotFound, server):
            self.rows(server=server)
        # Yet the place of a deleted one is still known.
        later = self.server(SCSI)
        self.assertEqual(
            [later], [row[0] for row in self.rows(marker=server)])

    def change(self, server, change):
        """Change a server's row in the first cell."""
        with base.nova_context.target_cell(
                base.nova_context.get_admin_context(),
                self.cell_mappings['cell1']) as context:
            instance = objects.Instance.get_by_uuid(context, server)
            change(instance)
            instance.save()

    def test_the_hidden_copy_of_a_move_to_another_cell_is_left_out(self):
        server = self.server(SCSI)
        for hidden, found in ((True, []), (False, [server])):
            self.change(server, lambda instance, hidden=hidden: setattr(
                instance, 'hidden', hidden))
            self.assertEqual(found, [row[0] for row in self.rows()])

    def test_dropped_overrides_of_a_shelved_server_are_none(self):
        server = self.server(SCSI)
        self.change(server, lambda instance: record.replace(
            instance.system_metadata, {record.DROPPED: None}))
        self.assertEqual([], self.rows())

    def test_pages_are_read_one_by_one_and_reading_can_go_on_behind_any(self):
        expected = [self.server(SCSI if number % 4 else None, cell=cell)
                    for cell in (1, 2) for number in range(5)]
        overridden = [server for number, server in enumerate(expected)
                      if number % 5 % 4]
        for size in (1, 2, 3, 100):
            with mock.patch.object(server_pages, 'SIZE', size):
                self.assertEqual(
                    overridden, [row[0] for row in self.rows()])
                for marker in expected:
                    behind = expected[expected.index(marker) + 1:]
                    self.assertEqual(
                        [each for each in behind if each in overridden],
                        [row[0] for row in self.rows(marker=marker)])
                self.assertLessEqual(max(
                    page.number for _, page in server_pages.pages()), size)

    def test_a_page_is_three_queries_at_most_and_none_locks(self):
        for overrides in (SCSI, SCSI, None):
            self.server(overrides)
        seen = []
        self.useFixture(statements.Statements(seen.append))
        ((_, page),) = server_pages.pages()
        self.assertEqual((3, 2), (page.number, len(page.servers)))
        self.assertEqual([], [*statements.changing(seen)])
        self.assertFalse([each.text for each in seen
                          if 'FOR UPDATE' in each.text.upper()])
        # cell0 and cell2 have no page, cell1 has one and then no other.
        self.assertEqual({'FROM instances': 4,
                          'FROM instance_system_metadata': 2}, {
            table: len([each for each in seen if table in each.text])
            for table in ('FROM instances', 'FROM instance_system_metadata')})

    def test_a_server_that_does_not_exist_is_said_so(self):
        server = str(uuid.uuid4())
        for asked in 'marker', 'server':
            with self.assertRaisesRegex(
                    errors.NotFound, f'there is no server {server}'):
                self.rows(**{asked: server})

    def test_a_server_that_has_no_cell_yet_is_said_so(self):
        with mock.patch(base.BUILDS):
            server = self.create(SCSI).body['server']['id']
        for asked in 'marker', 'server':
            with self.assertRaisesRegex(
                    errors.NotFound, f'{server} has not been scheduled yet'):
                self.rows(**{asked: server})
