"""What happens to overrides in every operation: the map of the docs.

Each test looks at system metadata, request spec and the guest's definition,
after the operation and again after a hard reboot.
"""

import os
from unittest import mock

import fixtures
from nova import exception
from nova.compute import manager as nova_manager
from nova.objects import image_meta
from nova.tests.functional.libvirt import base as libvirt_base
import pytest

from testing.harness import base

#: NUMA nodes of different sizes, which Nova's own migration loses; a machine
#: type, which Nova's own rescue loses.
OVERRIDES = {
    'hw_numa_nodes': '2',
    'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
    'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768',
    'hw_machine_type': 'pc-q35-2.10',
    'hw_disk_bus': 'scsi',
}


class Case(base.TestCase):
    HOSTS = ('compute1', 'compute2')
    EXTENDED_HOSTS = HOSTS

    def setUp(self):
        super().setUp()
        self.flags(allow_resize_to_same_host=False)
        # Copies files to the other host.
        self.useFixture(fixtures.MockPatch(
            'nova.virt.libvirt.driver.LibvirtDriver.'
            'migrate_disk_and_power_off', return_value='{}'))

    def a_server(self, overrides=OVERRIDES, **kwargs):
        return self.boot(overrides, flavor=self.flavor(vcpus=4), **kwargs)

    def a_volume_server(self, overrides=OVERRIDES):
        return self.a_server(
            overrides, image=None,
            server=self.from_volume(self.volume(hw_disk_bus='ide')))

    def assert_kept(self, server, overrides=OVERRIDES, reboot=True):
        stored = self.system_metadata(server)
        self.assertEqual(overrides, {n: stored.get(n) for n in overrides})
        self.assertEqual(overrides, self.http(
            'GET', f'/servers/{server}').body['server'][base.PARAMETER])
        spec = self.request_spec(server)
        self.assertEqual(2, spec['hw_numa_nodes'])
        self.assertEqual([{0}, {1, 2, 3}], spec['hw_numa_cpus'])
        self.assertEqual([256, 768], spec['hw_numa_mem'])
        self.assertEqual('scsi', spec['hw_disk_bus'])
        self.assertEqual('pc-q35-2.10', spec['hw_machine_type'])
        self.assert_guest(server)
        if reboot:
            self.hard_reboot(server)
            self.assert_kept(server, overrides, reboot=False)

    def assert_guest(self, server):
        guest = self.guest(server)
        self.assertEqual(
            [('0', str(256 * 1024)), ('1-3', str(768 * 1024))],
            [(cell.get('cpus'), cell.get('memory'))
             for cell in guest.findall('cpu/numa/cell')])
        self.assert_machine(server)
        self.assertEqual(
            [{0}, {1, 2, 3}],
            [set(cell.cpuset) for cell in
             self.instance(server).numa_topology.cells])

    def assert_machine(self, server):
        guest = self.guest(server)
        self.assertEqual('pc-q35-2.10', guest.find('os/type').get('machine'))
        self.assertEqual(
            'scsi', guest.find('devices/disk/target').get('bus'))

    def both(self):
        """Yield a server booted from an image, and one from a volume."""
        for kind in (self.a_server, self.a_volume_server):
            with self.subTest(kind.__name__):
                yield kind()

    def do(self, server, action, status='ACTIVE', admin=False, expected=202):
        answer = self.act(server, action, admin=admin)
        self.assertEqual(expected, answer.status, answer.text)
        self.wait(server, status)


class Power(Case):
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


class Snapshots(Case):
    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ()

    def properties_of(self, image):
        return self.glance.show(None, image)['properties']

    def assert_in_image(self, image):
        properties = self.properties_of(image)
        self.assertEqual(
            OVERRIDES, {name: properties.get(name) for name in OVERRIDES})
        self.assertEqual([], [
            name for name in properties if name.startswith('os_glance')])

    def test_an_image_of_the_server_has_them_as_its_own_properties(self):
        server = self.a_server()
        answer = self.act(server, {'createImage': {'name': 'snap'}})
        self.assertEqual(202, answer.status, answer.text)
        self.assert_in_image(answer.body['image_id'])
        # Until the task of the snapshot has ended, which nova-api began.
        self.wait(server)
        self.assert_kept(server)
        # What is booted from it has them from the image, not as overrides.
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
        # Until the task of the snapshot has ended, which nova-api began.
        self.wait(server)
        self.assert_kept(server)


class Shelve(Case):
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


class Rebuild(Case):
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
        # Stuck as Nova leaves it; an operator resets it and restarts.
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
        with mock.patch.dict(base.service.SERVICE_MANAGERS,
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


class Rescue(Case):
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
        # Which says how the rescue guest is built, but for its machine type.
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


class Moves(Case):
    def migrate(self, server):
        self.do(server, {'migrate': None}, 'VERIFY_RESIZE', admin=True)

    @pytest.mark.smoke
    def test_cold_migration(self):
        for server in self.both():
            self.migrate(server)
            self.assert_guest(server)
            self.do(server, {'confirmResize': None}, expected=204)
            self.assert_kept(server)

    def test_cold_migration_and_back(self):
        server = self.a_server()
        self.migrate(server)
        self.do(server, {'revertResize': None})
        self.assert_kept(server)

    def test_resize(self):
        server = self.a_server()
        self.do(server, {'resize': {'flavorRef': self.flavor(
            vcpus=4, hw_rng__allowed='true')}}, 'VERIFY_RESIZE')
        self.assert_guest(server)
        self.do(server, {'confirmResize': None}, expected=204)
        self.assert_kept(server)

    def test_a_flavor_that_conflicts_is_400_and_names_the_overrides(self):
        # The last four are a 500 in Nova, whose messages want the image's
        # name there.
        others = {'hw_pmu': 'true', 'hw_vif_multiqueue_enabled': 'true',
                  'hw_virtio_packed_ring': 'true', 'hw_sound_model': 'ich9'}
        overrides = {
            **OVERRIDES,
            **{name: value for name, value in others.items()
               if name in image_meta.ImageMetaProps.fields}}
        server = self.a_server(overrides)
        for specs, blamed in (
                ({'hw__numa_nodes': '2'}, ('hw_numa_nodes',)),
                ({'hw__pmu': 'false'}, ('hw_pmu',)),
                ({'hw__vif_multiqueue_enabled': 'false'},
                 ('hw_vif_multiqueue_enabled',)),
                ({'hw__virtio_packed_ring': 'false'},
                 ('hw_virtio_packed_ring',)),
                ({'hw__sound_model': 'ac97'}, ('hw_sound_model',)),
                ({'hw__pmu': 'false', 'hw__numa_nodes': '2'},
                 ('hw_numa_nodes', 'hw_pmu'))):
            if not set(blamed) <= set(overrides):
                continue
            with self.subTest(str(specs)):
                answer = self.act(server, {'resize': {
                    'flavorRef': self.flavor(vcpus=4, **specs)}})
                self.assertEqual(400, answer.status, answer.text)
                self.assertEqual(dict.fromkeys(blamed, 'flavor_conflict'),
                                 answer.problems)
                self.assertIn('choose a flavor', answer.message)
        self.assert_kept(server, overrides)

    def test_what_flavor_and_image_say_is_left_to_nova(self):
        server = self.a_server(
            {'hw_boot_menu': 'true'}, image=self.image(hw_numa_nodes='2'))
        answer = self.act(server, {'resize': {
            'flavorRef': self.flavor(vcpus=4, hw__numa_nodes='2')}})
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual({}, answer.problems)
        self.assertIn('hw_numa_nodes', answer.message)

    def test_a_resize_that_nova_refuses_is_refused_as_ever(self):
        server = self.a_server()
        flavor = self.instance(server).flavor.flavorid
        for target in (flavor, 'nowhere'):
            answer = self.act(server, {'resize': {'flavorRef': target}})
            self.assertEqual(400, answer.status, answer.text)
            self.assertEqual({}, answer.problems)

    def test_evacuation(self):
        server = self.a_server()
        host = self.instance(server).host
        self.discard_cloud()
        self.computes[host].stop()
        self.admin_api.microversion = '2.11'
        services = self.admin_api.get_services(
            host=host, binary='nova-compute')
        self.assertEqual(1, len(services))
        self.admin_api.force_down_service(host, 'nova-compute', True)
        answer = self.act(server, {'evacuate': {}}, admin=True)
        self.assertEqual(200, answer.status, answer.text)
        self.wait(server)
        self.assertNotEqual(host, self.instance(server).host)
        self.assert_kept(server)


class LiveMigration(Case, libvirt_base.LibvirtMigrationMixin):
    SHARED = False  # The stub of the mixin keeps its state on the test.

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(
            'nova.tests.fixtures.libvirt.Domain.migrateToURI3',
            self._migrate_stub))
        self.migrate_stub_ran = False

    def test_live_migration(self):
        self.server = {'id': self.a_server()}
        host = self.instance(self.server['id']).host
        other = next(h for h in self.HOSTS if h != host)
        self.src, self.dest = self.computes[host], self.computes[other]
        self.do(self.server['id'], {'os-migrateLive': {
            'host': None, 'block_migration': 'auto'}}, admin=True)
        self.assertEqual(other, self.instance(self.server['id']).host)
        self.assert_kept(self.server['id'])
