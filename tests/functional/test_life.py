"""What happens to overrides in every operation: the map of the docs.

Each test looks at system metadata, request spec and the guest's definition,
after the operation and again after a hard reboot.
"""

from unittest import mock

from nova import exception
from nova import service
from nova.compute import manager as nova_manager
from nova.tests import fixtures as nova_fixtures
import pytest

from testing import release
from testing.harness import base
from tests.functional import life


class TestPower:
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ()

    def test_stop_start_pause_suspend_and_reboots(self, cloud):
        for server in cloud.each_kind():
            cloud.do(server, {'reboot': {'type': 'SOFT'}})
            cloud.assert_kept(server)
            for action, status, back in (
                    ('os-stop', 'SHUTOFF', 'os-start'),
                    ('pause', 'PAUSED', 'unpause'),
                    ('suspend', 'SUSPENDED', 'resume')):
                cloud.do(server, action, status)
                cloud.do(server, back)
                cloud.assert_kept(server)

    def test_the_host_and_its_nova_compute_start_again(self, cloud):
        server = cloud.a_server()
        cloud.flags(resume_guests_state_on_host_boot=True)
        cloud.restart_compute_service('compute1')
        cloud.assert_kept(server)

    def test_soft_delete_and_restore(self, cloud):
        cloud.flags(reclaim_instance_interval=3600)
        cloud.discard()  # Deleting a server there only hides it.
        server = cloud.a_server()
        assert cloud.http('DELETE', f'/servers/{server}').status == 204
        cloud.wait(server, 'SOFT_DELETED')
        cloud.do(server, 'restore')
        cloud.assert_kept(server)


class Cloud(life.Cloud):
    def made_image(self, server, action):
        """Return the image of a server, which has the overrides as its own."""
        image = self.act(server, action).expect(202).body['image_id']
        properties = self.glance.show(None, image)['properties']
        assert {name: properties.get(name)
                for name in life.OVERRIDES} == life.OVERRIDES
        assert [
            name for name in properties if name.startswith('os_glance')] == []
        # Until the snapshot task, which nova-api began, has ended.
        self.wait(server)
        self.assert_kept(server)
        return image

    def assert_unshelved(self, server):
        self.do(server, 'unshelve')
        self.assert_kept(server)

    def assert_rescue_guest(self, server, machine='pc-q35-2.10', bus=None):
        """Assert how a rescue guest is built.

        :param bus: that of its root disk, and of a controller, if any matters
        """
        guest = self.guest(server)
        assert guest.find('os/type').get('machine') == machine
        assert len(guest.findall('cpu/numa/cell')) == 2
        if bus:
            assert self.disk_bus(server) == bus
            assert [each.get('model') for each in guest.findall(
                "devices/controller[@type='scsi']")] == (
                    ['lsilogic'] if bus == 'scsi' else [])

    def rescue_and_back(self, server, image=None, **expected):
        overrides = self.show(server)[base.PARAMETER]
        self.rescue(server, **(
            {'rescue_image_ref': image} if image else {})).expect(200)
        self.wait(server, 'RESCUE')
        self.assert_rescue_guest(server, **expected)
        self.do(server, 'unrescue')
        self.assert_kept(server, overrides)

    def stable(self):
        return self.image(hw_rescue_device='disk', hw_rescue_bus='virtio')


class TestSnapshots:
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ()

    def test_an_image_of_the_server_has_them_as_its_own_properties(self, cloud):
        server = cloud.a_server()
        image = cloud.made_image(server, {'createImage': {'name': 'snap'}})
        # A server booted from it has them from the image, not as overrides.
        copy = cloud.boot(image=cloud.uploaded(image)['id'],
                          flavor=cloud.flavor(vcpus=4))
        assert cloud.record(copy) == {}
        cloud.assert_guest(copy)

    def test_a_backup_of_the_server(self, cloud):
        cloud.made_image(cloud.a_server(), {'createBackup': {
            'name': 'backup', 'backup_type': 'daily', 'rotation': 99}})


class TestShelve:
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ('compute1',)

    def test_shelve_and_unshelve(self, cloud):
        cloud.flags(shelved_offload_time=-1)
        server = cloud.a_server()
        cloud.do(server, 'shelve', 'SHELVED')
        cloud.do(server, 'unshelve')
        cloud.assert_kept(server)

    @pytest.mark.smoke
    def test_unshelving_keeps_what_snapshots_do_not_inherit(self, cloud):
        cloud.flags(non_inheritable_image_properties=['hw_machine_type'])
        server = cloud.a_server()
        cloud.offload(server)
        (image,) = [image for image in cloud.glance.images.values()
                    if image['properties'].get('instance_uuid') == server]
        assert 'hw_machine_type' not in image['properties']
        cloud.assert_unshelved(server)

    def test_a_server_of_a_snapshot(self, cloud):
        """Nova's shelve stores another "image_base_image_ref" then."""
        server = cloud.a_server(image=cloud.image(base_image_ref=base.IMAGE))
        cloud.offload(server)
        cloud.assert_unshelved(server)

    def test_a_volume_backed_server(self, cloud):
        server = cloud.a_volume_server()
        cloud.offload(server)
        cloud.assert_unshelved(server)


class TestRebuild:
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ('compute1',)

    def test_rebuild_on_the_same_and_on_another_image(self, cloud):
        server = cloud.a_server()
        for image in (base.IMAGE, cloud.image(hw_disk_bus='ide')):
            cloud.do(server, {'rebuild': {'imageRef': image}})
            cloud.assert_kept(server)

    def test_nova_compute_is_gone_before_the_message_arrives(self, cloud):
        server = cloud.a_server()
        with mock.patch('nova.conductor.api.ComputeTaskAPI.rebuild_instance'):
            cloud.act(server, {'rebuild': {'imageRef': base.IMAGE}})
        # Stuck, as Nova leaves it; an operator resets it and restarts.
        assert cloud.act(server, {'os-resetState': {'state': 'active'}},
                         admin=True).status == 202
        cloud.assert_kept(server)

    def test_nova_compute_starts_again_in_the_middle(self, cloud):
        server = cloud.a_server()
        # It ends before it has built anything: the task state stays.
        with mock.patch.object(
                nova_manager.ComputeManager, '_do_rebuild_instance'):
            cloud.act(server, {'rebuild': {'imageRef': base.IMAGE}})
        with mock.patch.dict(service.SERVICE_MANAGERS,
                             {'nova-compute': base.compute_command.MANAGER}):
            cloud.restart_compute_service('compute1')
        assert cloud.act(server, {'os-resetState': {'state': 'active'}},
                         admin=True).status == 202
        cloud.assert_kept(server)

    def test_the_server_is_deleted_meanwhile(self, cloud):
        server = cloud.a_server()

        def delete(*args, **kwargs):
            cloud.http('DELETE', f'/servers/{server}')
            raise exception.InstanceNotFound(instance_id=server)

        with mock.patch.object(nova_manager.ComputeManager,
                               '_do_rebuild_instance', side_effect=delete):
            answer = cloud.act(server, {'rebuild': {'imageRef': base.IMAGE}})
        assert answer.status in (202, 404), answer.text
        assert cloud.http('GET', f'/servers/{server}').status == 404


WITH_CONTROLLER = {**life.OVERRIDES, 'hw_scsi_model': 'lsilogic'}


class TestRescue:
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ('compute1',)

    def test_rescue_from_the_servers_own_image_has_its_devices(self, cloud):
        cloud.rescue_and_back(cloud.a_server(WITH_CONTROLLER), bus='scsi')

    def test_rescue_from_another_image_has_devices_of_that_image(self, cloud):
        server = cloud.a_server(WITH_CONTROLLER)
        cloud.rescue_and_back(server, cloud.image(hw_disk_bus='sata'),
                              bus='sata')
        cloud.rescue_and_back(
            server, cloud.image(hw_machine_type='pc-i440fx-2.9'),
            machine='pc-i440fx-2.9', bus='virtio')

    @pytest.mark.smoke
    def test_stable_device_rescue(self, cloud):
        cloud.rescue_and_back(cloud.a_server(), cloud.stable())

    @pytest.mark.skipif(release.NUMBER < 30, reason='Nova refuses it')
    def test_stable_device_rescue_when_the_image_is_gone(self, cloud):
        image = cloud.image(hw_disk_bus='ide')
        server = cloud.a_server(image=image)
        cloud.glance.delete(None, image)
        cloud.rescue_and_back(server, cloud.stable())

    def test_stable_device_rescue_of_a_volume_backed_server(self, cloud):
        cloud.rescue_and_back(cloud.a_volume_server(), cloud.stable())

    def test_a_volume_that_the_driver_asks_for_without_a_rescue(self, cloud):
        """It does so before it detaches one that many servers can have."""
        server = cloud.a_server()
        path = f'/servers/{server}/os-volume_attachments'
        volume = nova_fixtures.CinderFixture.MULTIATTACH_VOL
        cloud.http('POST', path, {'volumeAttachment': {
            'volumeId': volume}}).expect(200)
        assert cloud.http('DELETE', f'{path}/{volume}').status == 202
        cloud.commits.until(lambda: len(cloud.instance(server).get_bdms()), 1)
