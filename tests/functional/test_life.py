"""What happens to overrides in every operation: the map of the docs.

Each test looks at system metadata, request spec and the guest's definition,
after the operation and again after a hard reboot.
"""

import os
from unittest import mock

from nova import exception
from nova import service
from nova.compute import manager as nova_manager
import pytest

from testing.harness import base
from tests.functional import life


class Power(life.Case):
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ()

    def test_stop_start_pause_suspend_and_reboots(self):
        for server in self.both():
            self.do(server, {'reboot': {'type': 'SOFT'}})
            self.assert_kept(server)
            self.do(server, {'os-stop': None}, 'SHUTOFF')
            self.do(server, {'os-start': None})
            self.assert_kept(server)
            self.do(server, {'pause': None}, 'PAUSED')
            self.do(server, {'unpause': None})
            self.assert_kept(server)
            self.do(server, {'suspend': None}, 'SUSPENDED')
            self.do(server, {'resume': None})
            self.assert_kept(server)

    def test_the_host_and_its_nova_compute_start_again(self):
        server = self.a_server()
        self.flags(resume_guests_state_on_host_boot=True)
        self.restart_compute_service('compute1')
        self.assert_kept(server)

    def test_soft_delete_and_restore(self):
        self.flags(reclaim_instance_interval=3600)
        self.discard_cloud()  # Deleting a server there only hides it.
        server = self.a_server()
        self.assertEqual(204, self.http(
            'DELETE', f'/servers/{server}').status)
        self.wait(server, 'SOFT_DELETED')
        self.do(server, {'restore': None})
        self.assert_kept(server)


class Snapshots(life.Case):
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ()

    def properties_of(self, image):
        return self.glance.show(None, image)['properties']

    def assert_in_image(self, image):
        properties = self.properties_of(image)
        self.assertEqual(
            life.OVERRIDES,
            {name: properties.get(name) for name in life.OVERRIDES})
        self.assertEqual([], [
            name for name in properties if name.startswith('os_glance')])

    def test_an_image_of_the_server_has_them_as_its_own_properties(self):
        server = self.a_server()
        answer = self.act(server, {'createImage': {'name': 'snap'}})
        self.assertEqual(202, answer.status, answer.text)
        self.assert_in_image(answer.body['image_id'])
        # Until the snapshot task, which nova-api began, has ended.
        self.wait(server)
        self.assert_kept(server)
        # A server booted from it has them from the image, not as overrides.
        self.glance.images[answer.body['image_id']]['status'] = 'active'
        copy = self.boot(image=answer.body['image_id'],
                         flavor=self.flavor(vcpus=4))
        self.assertEqual({}, self.record(copy))
        self.assert_guest(copy)

    def test_a_backup_of_the_server(self):
        server = self.a_server()
        answer = self.act(server, {'createBackup': {
            'name': 'backup', 'backup_type': 'daily', 'rotation': 99}})
        self.assertEqual(202, answer.status, answer.text)
        self.assert_in_image(answer.body['image_id'])
        # Until the snapshot task, which nova-api began, has ended.
        self.wait(server)
        self.assert_kept(server)


class Shelve(life.Case):
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ('compute1',)

    def shelved_image(self, server):
        (image,) = [image for image in self.glance.images.values()
                    if image['properties'].get('instance_uuid') == server]
        image['status'] = 'active'
        return image

    def test_shelve_and_unshelve(self):
        self.flags(shelved_offload_time=-1)
        server = self.a_server()
        self.do(server, {'shelve': None}, 'SHELVED')
        self.do(server, {'unshelve': None})
        self.assert_kept(server)

    def test_shelve_offload_and_unshelve(self):
        self.flags(shelved_offload_time=0)
        server = self.a_server()
        self.do(server, {'shelve': None}, 'SHELVED_OFFLOADED')
        self.shelved_image(server)
        self.do(server, {'unshelve': None})
        self.assert_kept(server)

    @pytest.mark.smoke
    def test_even_what_snapshots_do_not_inherit(self):
        self.flags(shelved_offload_time=0,
                   non_inheritable_image_properties=['hw_machine_type'])
        server = self.a_server()
        self.do(server, {'shelve': None}, 'SHELVED_OFFLOADED')
        self.assertNotIn('hw_machine_type',
                         self.shelved_image(server)['properties'])
        self.do(server, {'unshelve': None})
        self.assert_kept(server)

    def test_a_volume_backed_server(self):
        self.flags(shelved_offload_time=0)
        server = self.a_volume_server()
        self.do(server, {'shelve': None}, 'SHELVED_OFFLOADED')
        self.do(server, {'unshelve': None})
        self.assert_kept(server)


class Rebuild(life.Case):
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ('compute1',)

    def test_rebuild_on_the_same_and_on_another_image(self):
        server = self.a_server()
        for image in (base.IMAGE, self.image(hw_disk_bus='ide')):
            self.do(server, {'rebuild': {'imageRef': image}})
            self.assert_kept(server)

    def test_a_volume_backed_server(self):
        server = self.a_volume_server()
        answer = self.act(
            server, {'rebuild': {'imageRef': base.IMAGE}}, compute='2.92')
        self.assertEqual(202, answer.status, answer.text)
        self.wait(server)
        self.assert_kept(server)

    def test_nova_compute_is_gone_before_the_message_arrives(self):
        server = self.a_server()
        with mock.patch('nova.conductor.api.ComputeTaskAPI.rebuild_instance'):
            self.act(server, {'rebuild': {'imageRef': base.IMAGE}})
        # Stuck, as Nova leaves it; an operator resets it and restarts.
        self.assertEqual(202, self.act(
            server, {'os-resetState': {'state': 'active'}},
            admin=True).status)
        self.assert_kept(server)

    def test_nova_compute_starts_again_in_the_middle(self):
        server = self.a_server()
        # It ends before it has built anything: the task state stays.
        with mock.patch.object(
                nova_manager.ComputeManager, '_do_rebuild_instance'):
            self.act(server, {'rebuild': {'imageRef': base.IMAGE}})
        with mock.patch.dict(service.SERVICE_MANAGERS,
                             {'nova-compute': base.compute_command.MANAGER}):
            self.restart_compute_service('compute1')
        self.assertEqual(202, self.act(
            server, {'os-resetState': {'state': 'active'}},
            admin=True).status)
        self.assert_kept(server)

    def test_the_server_is_deleted_meanwhile(self):
        server = self.a_server()

        def delete(*args, **kwargs):
            self.http('DELETE', f'/servers/{server}')
            raise exception.InstanceNotFound(instance_id=server)

        with mock.patch.object(nova_manager.ComputeManager,
                               '_do_rebuild_instance', side_effect=delete):
            answer = self.act(server, {'rebuild': {'imageRef': base.IMAGE}})
        self.assertIn(answer.status, (202, 404), answer.text)
        self.assertEqual(404, self.http('GET', f'/servers/{server}').status)


class Rescue(life.Case):
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ('compute1',)

    def assert_rescue_guest(self, server):
        guest = self.guest(server)
        self.assertEqual('pc-q35-2.10', guest.find('os/type').get('machine'))
        self.assertEqual(2, len(guest.findall('cpu/numa/cell')))

    def rescue_and_back(self, server, image=None, check=None):
        # The server's folder, which _create_image would have made.
        os.makedirs(os.path.join(base.CONF.instances_path, server))
        self.do(server, {'rescue': {'rescue_image_ref': image}
                         if image else {'adminPass': 'x'}},
                'RESCUE', expected=200)
        (check or self.assert_rescue_guest)(server)
        self.do(server, {'unrescue': None})
        self.assert_kept(server)

    def stable(self):
        return self.image(hw_rescue_device='disk', hw_rescue_bus='virtio')

    def test_rescue_from_the_servers_own_image(self):
        self.rescue_and_back(self.a_server())

    def test_rescue_from_another_image(self):
        # The image decides how the rescue guest is built, not its machine type.
        self.rescue_and_back(
            self.a_server(), self.image(),
            lambda server: self.assertEqual(
                'pc-q35-2.10',
                self.guest(server).find('os/type').get('machine')))

    @pytest.mark.smoke
    def test_stable_device_rescue(self):
        self.rescue_and_back(self.a_server(), self.stable())

    def test_stable_device_rescue_when_the_image_is_gone(self):
        image = self.image(hw_disk_bus='ide')
        server = self.a_server(image=image)
        self.glance.delete(None, image)
        self.rescue_and_back(server, self.stable())

    def test_stable_device_rescue_of_a_volume_backed_server(self):
        self.rescue_and_back(self.a_volume_server(), self.stable())
