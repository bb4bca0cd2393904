"""What waits until a guest is built as an update has changed it."""

from unittest import mock

from nova import exception
from nova import objects
from nova.virt.libvirt import driver
from oslo_serialization import jsonutils
import pytest

from nova_image_override import errors
from testing.harness import base
from tests.functional import test_disk_buses

ASKED = {'hw_disk_bus': 'sata', 'hw_video_model': 'vga'}


class Cloud(test_disk_buses.Cloud):
    HOSTS = ('compute1', 'compute2')
    EXTENDED_HOSTS = HOSTS

    def setUp(self):
        super().setUp()
        self.move_without_copies()

    def updated(self, overrides=ASKED, before=None, volume=True):
        """Return a stopped server that was updated since its guest was built.

        :param volume: whether one is attached to it
        """
        server = self.boot(before)
        if volume:
            self.attach(server)
        self.stop(server)
        self.put(server, overrides)()
        return server

    def actions(self, server):
        """Return the server's actions, the last one first."""
        return [each.action
                for each in objects.InstanceActionList.get_by_instance_uuid(
                    base.nova_context.get_admin_context(), server)]

    def move(self, server, how):
        body = {'migrate': None} if how == 'migrate' else {
            'resize': {'flavorRef': self.flavor(vcpus=1, ram=2048)}}
        return self.act(server, body, admin=True)

    def assert_refused(self, server, ask, what='rescued'):
        before = self.state(server), self.disks(server)
        answer = ask().expect(409, {errors.PARAMETER: errors.WRONG_STATE})
        assert f'cannot be {what}: start it first' in answer.message
        assert (self.state(server), self.disks(server)) == before


MOVES = pytest.mark.parametrize('how', ['migrate', 'resize'])


class TestAfterItsStart:
    def test_a_rescue_goes_back_to_the_guest_with_its_overrides(self, cloud):
        server = cloud.updated()
        cloud.do(server, 'os-start')
        assert cloud.rescue(server).status == 200
        cloud.wait(server, 'RESCUE')
        cloud.do(server, 'unrescue')
        assert cloud.disks(server) == {'sda': 'sata', 'sdb': 'sata'}
        assert cloud.video(server) == 'vga'

    @MOVES
    def test_a_server_with_a_volume_moves(self, cloud, how):
        server = cloud.updated()
        cloud.do(server, 'os-start')
        cloud.stop(server)
        assert cloud.move(server, how).status == 202
        cloud.wait(server, 'VERIFY_RESIZE')

    def test_a_hard_reboot_is_as_good(self, cloud):
        server = cloud.updated()
        cloud.hard_reboot(server)
        assert cloud.rescue(server).status == 200


class TestNotUpdated:
    def assert_rescued_twice(self, cloud, server):
        for _ in range(2):
            assert cloud.rescue(server).status == 200
            cloud.wait(server, 'RESCUE')
            cloud.do(server, 'unrescue')

    def test_an_image_with_more_than_nova_stores_of_it(self, cloud):
        server = cloud.boot(
            {'hw_video_model': 'vga'},
            image=cloud.image(os_command_line='a=' + 'é' * 200))
        self.assert_rescued_twice(cloud, server)
        assert cloud.actions(server) == [
            'unrescue', 'rescue', 'unrescue', 'rescue', 'create']

    def test_a_server_whose_request_spec_was_repaired(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        spec = cloud.spec(server)
        spec.image = spec.image.obj_clone()
        spec.image.properties.hw_video_model = 'qxl'
        spec.save()
        self.assert_rescued_twice(cloud, server)
        assert cloud.request_spec(server)['hw_video_model'] == 'vga'
        assert 'repair_image_props' in cloud.actions(server)


class TestBefore:
    @pytest.mark.parametrize(('before', 'overrides'), [
        (None, ASKED), (ASKED, {'hw_disk_bus': 'virtio'})])
    def test_a_server_is_not_rescued(self, cloud, before, overrides):
        server = cloud.updated(overrides, before)
        cloud.assert_refused(server, lambda: cloud.rescue(server))

    @MOVES
    def test_a_server_with_a_volume_does_not_move(self, cloud, how):
        server = cloud.updated()
        cloud.assert_refused(
            server, lambda: cloud.move(server, how), 'resized or migrated')

    def test_what_builds_no_guest_changes_nothing_about_it(self, cloud):
        server = cloud.updated()
        for action in 'lock', 'unlock':
            assert cloud.act(server, {action: None}).status == 202
        cloud.assert_refused(server, lambda: cloud.rescue(server))

    def test_a_start_that_fails_builds_none(self, cloud):
        server = cloud.updated()
        with mock.patch.object(driver.LibvirtDriver, 'power_on',
                               side_effect=exception.NovaException('no')):
            cloud.act(server, {'os-start': None})
            cloud.wait(server, 'SHUTOFF')
        cloud.assert_refused(server, lambda: cloud.rescue(server))

    @MOVES
    def test_a_server_without_a_volume_moves_and_is_built_there(
            self, cloud, how):
        server = cloud.updated(volume=False)
        assert cloud.move(server, how).status == 202
        cloud.wait(server, 'VERIFY_RESIZE')
        assert cloud.disks(server) == {'sda': 'sata'}

    def test_a_server_moves_whose_volume_its_guest_has_over_the_network(
            self, cloud):
        server = cloud.updated()
        (volume,) = [each for each in cloud.instance(server).get_bdms()
                     if each.is_volume]
        volume.connection_info = jsonutils.dumps({
            **jsonutils.loads(volume.connection_info),
            'driver_volume_type': 'rbd'})
        volume.save()
        assert cloud.move(server, 'migrate').status == 202

    def test_a_server_that_was_never_updated_is_rescued(self, cloud):
        server = cloud.stopped(ASKED)
        assert cloud.rescue(server).status == 200
