"""``nova-image-override show``, on Nova's databases."""

import uuid

from nova_image_override import errors
from nova_image_override.cmd import show
from testing.harness import base


class ShowCommand(base.TestCase):
    NUMBER_OF_CELLS = 2
    HOSTS = ('compute1', 'compute2')
    CELLS = {'compute1': 'cell1', 'compute2': 'cell2'}

    def test_each_override_has_the_images_value_and_the_one_in_force(self):
        server = self.boot(
            {'hw_disk_bus': 'scsi', 'os_type': 'linux', 'hw_pmu': None},
            image=self.image(hw_disk_bus='virtio', hw_pmu='false'))
        self.assertEqual(
            [('hw_disk_bus', 'virtio', 'scsi'), ('hw_pmu', 'false', None),
             ('os_type', None, 'linux')], show.rows(server))

    def test_a_server_without_overrides_has_none(self):
        self.assertEqual([], show.rows(self.boot()))

    def test_servers_of_every_cell_are_found(self):
        for host in self.HOSTS:
            server = self.boot({'os_type': 'linux'}, admin=True, server={
                'availability_zone': f'nova:{host}'})
            self.assertEqual(host, self.instance(server).host)
            self.assertEqual(
                [('os_type', None, 'linux')], show.rows(server))

    def test_a_server_that_found_no_host_is_found_in_cell0(self):
        answer = self.create(
            {'os_type': 'linux'}, flavor=self.flavor(vcpus=64))
        server = answer.body['server']['id']
        self.wait(server, 'ERROR')
        self.assertIsNone(self.instance(server).host)
        self.assertEqual([('os_type', None, 'linux')], show.rows(server))

    def test_a_server_that_does_not_exist_is_said_so(self):
        server = str(uuid.uuid4())
        with self.assertRaisesRegex(errors.NotFound, server):
            show.rows(server)

    def test_a_deleted_server_is_said_so(self):
        server = self.boot({'os_type': 'linux'})
        self.http('DELETE', f'/servers/{server}')
        self._wait_until_deleted({'id': server})
        with self.assertRaisesRegex(errors.NotFound, server):
            show.rows(server)
