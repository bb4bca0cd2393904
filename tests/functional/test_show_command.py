"""``nova-image-override show``, on Nova's databases."""

import uuid

import pytest

from nova_image_override import errors
from nova_image_override.cmd import show


@pytest.mark.usefixtures('cloud')
class TestShowCommand:
    NUMBER_OF_CELLS = 2
    HOSTS = ('compute1', 'compute2')
    CELLS = {'compute1': 'cell1', 'compute2': 'cell2'}

    def test_each_override_has_the_images_value_and_the_one_in_force(
            self, cloud):
        server = cloud.boot(
            {'hw_disk_bus': 'scsi', 'os_type': 'linux', 'hw_pmu': None},
            image=cloud.image(hw_disk_bus='virtio', hw_pmu='false'))
        assert show.rows(server) == [('hw_disk_bus', 'virtio', 'scsi'),
                                     ('hw_pmu', 'false', None),
                                     ('os_type', None, 'linux')]

    def test_a_server_without_overrides_has_none(self, cloud):
        assert show.rows(cloud.boot()) == []

    def test_servers_of_every_cell_are_found(self, cloud):
        for host in cloud.HOSTS:
            server = cloud.boot({'os_type': 'linux'}, admin=True, server={
                'availability_zone': f'nova:{host}'})
            assert cloud.instance(server).host == host
            assert show.rows(server) == [('os_type', None, 'linux')]

    def test_a_server_that_found_no_host_is_found_in_cell0(self, cloud):
        answer = cloud.create(
            {'os_type': 'linux'}, flavor=cloud.flavor(vcpus=64))
        server = answer.body['server']['id']
        cloud.wait(server, 'ERROR')
        assert cloud.instance(server).host is None
        assert show.rows(server) == [('os_type', None, 'linux')]

    def test_a_server_that_does_not_exist_is_said_so(self):
        server = str(uuid.uuid4())
        with pytest.raises(errors.NotFound, match=server):
            show.rows(server)

    def test_a_deleted_server_is_said_so(self, cloud):
        server = cloud.boot({'os_type': 'linux'})
        cloud.delete(server)
        with pytest.raises(errors.NotFound, match=server):
            show.rows(server)
