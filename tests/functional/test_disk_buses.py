"""An override of hw_disk_bus moves the disks of an existing server."""

from unittest import mock

from nova import exception
from nova import objects
import pytest

from testing.harness import base
from tests.functional import update_case


class Case(update_case.Case):
    def disks(self, server):
        """Return device -> bus of the guest that was built last."""
        return {target.get('dev'): target.get('bus') for target in
                self.guest(server).findall("devices/disk[@device='disk']"
                                           '/target')}

    def recorded(self, server):
        """Return device -> bus of Nova's block device mappings."""
        return {mapping.device_name: mapping.disk_bus for mapping in
                objects.BlockDeviceMappingList.get_by_instance_uuid(
                    self.instance(server)._context, server)}

    def assert_root(self, server, expected):
        """Assert the guest's only disk, as the guest and Nova have it."""
        self.assertEqual(expected, self.disks(server))
        self.assertEqual(
            {f'/dev/{name}': bus for name, bus in expected.items()},
            self.recorded(server))
        self.assertEqual(f'/dev/{next(iter(expected))}',
                         self.instance(server).root_device_name)

    def bus(self, server, bus, status=200):
        """Update a stopped server, and start it again."""
        answer = self.update(server, {} if bus is None else {
            'hw_disk_bus': bus})
        self.assertEqual(status, answer.status, answer.text)
        self.do(server, 'os-start')


class Stopped(Case):
    @pytest.mark.smoke
    def test_the_root_disk_moves_there_and_back(self):
        server = self.boot()
        self.assertEqual({'vda': 'virtio'}, self.disks(server))
        for bus, expected in (
                ('sata', {'sda': 'sata'}), ('scsi', {'sda': 'scsi'}),
                ('ide', {'hda': 'ide'}), (None, {'vda': 'virtio'})):
            with self.subTest(bus):
                self.do(server, 'os-stop', 'SHUTOFF')
                self.bus(server, bus)
                self.assert_root(server, expected)
        self.hard_reboot(server)
        self.assertEqual({'vda': 'virtio'}, self.disks(server))

    def test_a_boot_volume_moves(self):
        server = self.stopped(
            image=None, server=self.from_volume(self.volume()))
        self.bus(server, 'sata')
        self.assertEqual({'sda': 'sata'}, self.disks(server))
        self.assertEqual({'/dev/sda': 'sata'}, self.recorded(server))

    def test_a_volume_that_came_from_elsewhere(self):
        volume = self.volume(hw_disk_bus='virtio', hw_vif_model='virtio')
        server = self.stopped(image=None, server=self.from_volume(volume))
        self.bus(server, 'ide')
        self.assertEqual({'hda': 'ide'}, self.disks(server))

    def blank(self, number, **kwargs):
        """Return what makes a server boot with NUMBER more disks."""
        return {'block_device_mapping_v2': [
            {'boot_index': 0, 'uuid': base.IMAGE, 'source_type': 'image',
             'destination_type': 'local'},
            *[{'boot_index': -1, 'source_type': 'blank',
               'destination_type': 'local', 'volume_size': 1, **kwargs}
              for _ in range(number)]]}

    def with_disks(self, number):
        """Return a flavor that has ephemeral disks of NUMBER GB."""
        name = f'with-{number}'
        self.admin_api.post_flavor({'flavor': {
            'id': name, 'name': name, 'ram': 1024, 'vcpus': 2, 'disk': 10,
            'OS-FLV-EXT-DATA:ephemeral': number, 'swap': 0}})
        return name

    def test_other_disks_move_with_it(self):
        server = self.stopped(
            flavor=self.with_disks(2), server=self.blank(2))
        self.bus(server, 'sata')
        self.assertEqual(
            {'sda': 'sata', 'sdb': 'sata', 'sdc': 'sata'},
            self.disks(server))

    def test_a_disk_that_was_given_a_bus_at_boot_stays_on_it(self):
        server = self.stopped(
            flavor=self.with_disks(1), server=self.blank(1, disk_bus='scsi'))
        before = self.recorded(server)
        self.bus(server, 'sata')
        self.assertIn('scsi', before.values())
        (own,) = [name for name, bus in before.items() if bus == 'scsi']
        self.assertEqual('scsi', self.recorded(server)[own])
        self.assertEqual(
            {'sata', 'scsi'}, {*self.disks(server).values()})

    def test_ide_takes_four(self):
        self.flags(max_local_block_devices=-1)
        server = self.stopped(
            flavor=self.with_disks(4), server=self.blank(4))
        before = self.recorded(server)
        answer = self.assert_refused_unchanged(
            server, 400, {'hw_disk_bus': 'invalid_value'},
            {'hw_disk_bus': 'ide'})
        self.assertIn('ide does not take the 5 disks', answer.message)
        self.assertEqual(before, self.recorded(server))

    def test_another_property_moves_nothing(self):
        server = self.stopped({'hw_disk_bus': 'ide'})
        self.assertEqual(200, self.update(
            server, {'hw_disk_bus': 'ide', 'hw_video_model': 'vga'}).status)
        self.assertEqual({'/dev/hda': 'ide'}, self.recorded(server))

    def test_a_failure_leaves_the_disks_where_they_are(self):
        server = self.stopped()
        save = objects.Instance.save

        def fail(instance, *args, **kwargs):
            if instance.display_name == 'other':
                raise exception.NovaException('no database')
            return save(instance, *args, **kwargs)

        with mock.patch.object(objects.Instance, 'save', fail):
            answer = self.update(server, {'hw_disk_bus': 'sata'},
                                 body={'name': 'other'})
        self.assertEqual(500, answer.status, answer.text)
        self.assertEqual({'/dev/vda': 'virtio'}, self.recorded(server))
        self.assertEqual(
            '/dev/vda', self.instance(server).root_device_name)

    def test_a_mapping_that_cannot_be_stored_leaves_all_as_it_was(self):
        server = self.stopped()
        before = self.state(server)
        with mock.patch.object(
                objects.BlockDeviceMapping, 'save',
                side_effect=[exception.NovaException('no database'), None]):
            answer = self.update(server, {'hw_disk_bus': 'sata'})
        self.assertEqual(500, answer.status, answer.text)
        self.assertEqual({'/dev/vda': 'virtio'}, self.recorded(server))
        self.assertEqual({**before, 'updated': None},
                         {**self.state(server), 'updated': None})


class Offloaded(Case):
    def test_the_root_disk_moves_at_the_unshelving(self):
        server = self.offloaded()
        self.assertEqual(
            200, self.update(server, {'hw_disk_bus': 'sata'}).status)
        self.do(server, 'unshelve')
        self.assertEqual({'sda': 'sata'}, self.disks(server))


class Rebuilt(Case):
    def test_the_root_disk_moves_there_and_back(self):
        server = self.boot()
        for overrides, expected in (
                ({'hw_disk_bus': 'sata'}, {'sda': 'sata'}),
                (None, {'sda': 'sata'}), ({}, {'vda': 'virtio'})):
            with self.subTest(overrides):
                answer = self.rebuild(server, overrides)
                self.assertEqual(202, answer.status, answer.text)
                self.assert_root(server, expected)

    def test_a_refused_rebuild_leaves_it_where_it_is(self):
        server = self.boot()
        answer = self.rebuild(server, {
            'hw_disk_bus': 'sata', 'trait:CUSTOM_GOLD': 'required'})
        self.assertEqual(409, answer.status, answer.text)
        self.assertEqual({'/dev/vda': 'virtio'}, self.recorded(server))
        self.assertEqual(
            '/dev/vda', self.instance(server).root_device_name)

    def test_an_image_of_another_bus_moves_nothing_as_in_nova(self):
        server = self.boot({'hw_video_model': 'vga'})
        answer = self.rebuild(
            server, image=self.image(hw_disk_bus='sata'))
        self.assertEqual(202, answer.status, answer.text)
        self.assertEqual({'/dev/vda': 'virtio'}, self.recorded(server))
