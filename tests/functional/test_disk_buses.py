"""An override of hw_disk_bus moves the disks of an existing server."""

from unittest import mock

from nova import exception
from nova import objects
from nova.tests import fixtures as nova_fixtures
import pytest

from nova_image_override.api.change import store
from testing.harness import base
from tests.functional import update_case


class Cloud(update_case.Cloud):
    """The flavor "disks" has room for nine more."""

    def setUp(self):
        super().setUp()
        self.flags(max_local_block_devices=-1)
        self.admin_api.post_flavor({'flavor': {
            'id': 'disks', 'name': 'disks', 'ram': 1024, 'vcpus': 2,
            'disk': 10, 'OS-FLV-EXT-DATA:ephemeral': 9, 'swap': 0}})

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
        assert self.disks(server) == expected
        assert self.recorded(server) == {
            f'/dev/{name}': bus for name, bus in expected.items()}
        assert self.instance(
            server).root_device_name == f'/dev/{next(iter(expected))}'

    def bus(self, server, bus, status=200):
        """Update a stopped server, and start it again."""
        self.update(server, {} if bus is None else {
            'hw_disk_bus': bus}).expect(status)
        self.do(server, 'os-start')

    def attach(self, server):
        """Attach a volume to a server."""
        self.api.post_server_volume(server, {'volumeAttachment': {
            'volumeId': nova_fixtures.CinderFixture.IMAGE_BACKED_VOL}})

    def blank(self, number, root=(), **kwargs):
        """Return what makes a server boot with NUMBER more disks."""
        return {'block_device_mapping_v2': [
            {'boot_index': 0, 'uuid': base.IMAGE, 'source_type': 'image',
             'destination_type': 'local', **dict(root)},
            *[{'boot_index': -1, 'source_type': 'blank',
               'destination_type': 'local', 'volume_size': 1, **kwargs}
              for _ in range(number)]]}

    def cdrom(self, **kwargs):
        """Return what makes a server boot with a volume that is a CD-ROM."""
        asked = self.blank(1, device_type='cdrom', **kwargs)
        asked['block_device_mapping_v2'][1].update(
            source_type='volume', destination_type='volume',
            uuid=nova_fixtures.CinderFixture.IMAGE_BACKED_VOL)
        del asked['block_device_mapping_v2'][1]['volume_size']
        return asked


class TestCreated:
    """What an image itself says of its disks counts for its own bus."""

    def test_a_disk_of_the_image_of_a_volume_backed_server(self, cloud):
        # As API.snapshot_volume_backed makes it.
        image = cloud.image(
            bdm_v2=True, root_device_name='/dev/vda', block_device_mapping=[{
                'source_type': 'volume', 'destination_type': 'volume',
                'volume_id': cloud.volume(), 'disk_bus': 'virtio',
                'device_type': 'disk', 'device_name': '/dev/vda',
                'boot_index': 0, 'delete_on_termination': False}])
        cloud.assert_root(
            cloud.boot({'hw_disk_bus': 'scsi'}, image=image), {'sda': 'scsi'})

    def test_the_name_of_the_root(self, cloud):
        image = cloud.image(root_device_name='/dev/vda')
        server = cloud.boot(
            {'hw_disk_bus': 'scsi'}, image=image, flavor='disks',
            server=cloud.blank(1, root={'uuid': image}))
        # libvirt gives vda and sda of one bus the same address.
        assert cloud.disks(server) == {'sda': 'scsi', 'sdb': 'scsi'}

    def test_the_name_that_the_request_gives_the_root(self, cloud):
        server = cloud.boot(
            {'hw_disk_bus': 'scsi'}, flavor='disks',
            server=cloud.blank(1, root={'device_name': '/dev/vda'}))
        assert cloud.disks(server) == {'sda': 'scsi', 'sdb': 'scsi'}


class TestStopped:
    def test_the_root_disk_moves_there_and_back(self, cloud):
        server = cloud.boot()
        assert cloud.disks(server) == {'vda': 'virtio'}
        for bus, expected in (
                ('sata', {'sda': 'sata'}), ('scsi', {'sda': 'scsi'}),
                ('ide', {'hda': 'ide'}), (None, {'vda': 'virtio'})):
            cloud.stop(server)
            cloud.bus(server, bus)
            cloud.assert_root(server, expected)
        cloud.hard_reboot(server)
        assert cloud.disks(server) == {'vda': 'virtio'}

    def test_a_boot_volume_moves(self, cloud):
        server = cloud.stopped(
            image=None, server=cloud.from_volume(cloud.volume()))
        cloud.bus(server, 'sata')
        assert cloud.disks(server) == {'sda': 'sata'}
        assert cloud.recorded(server) == {'/dev/sda': 'sata'}

    def test_a_volume_that_came_from_elsewhere(self, cloud):
        volume = cloud.volume(hw_disk_bus='virtio', hw_vif_model='virtio')
        server = cloud.stopped(image=None, server=cloud.from_volume(volume))
        cloud.bus(server, 'ide')
        assert cloud.disks(server) == {'hda': 'ide'}

    def test_from_a_bus_that_it_was_given_at_boot_to_the_default(self, cloud):
        server = cloud.stopped(
            flavor='disks', server=cloud.blank(1, root={'disk_bus': 'ide'}))
        assert cloud.recorded(server) == {
            '/dev/hda': 'ide', '/dev/vda': 'virtio'}
        cloud.bus(server, 'virtio')
        assert cloud.recorded(server) == {
            '/dev/vdb': 'virtio', '/dev/vda': 'virtio'}
        assert cloud.disks(server) == {'vdb': 'virtio', 'vda': 'virtio'}

    def test_a_volume_that_was_attached_moves_with_it(self, cloud):
        server = cloud.boot()
        cloud.attach(server)
        for bus, expected in (
                ('sata', {'sda': 'sata', 'sdb': 'sata'}),
                ('ide', {'hda': 'ide', 'hdb': 'ide'}),
                (None, {'vda': 'virtio', 'vdb': 'virtio'})):
            cloud.stop(server)
            cloud.bus(server, bus)
            assert cloud.disks(server) == expected

    def test_a_disk_that_was_given_a_bus_at_boot_stays_on_it(self, cloud):
        server = cloud.stopped(
            flavor='disks', server=cloud.blank(1, disk_bus='scsi'))
        before = cloud.recorded(server)
        cloud.bus(server, 'sata')
        assert 'scsi' in before.values()
        (own,) = [name for name, bus in before.items() if bus == 'scsi']
        assert cloud.recorded(server)[own] == 'scsi'
        assert {*cloud.disks(server).values()} == {'sata', 'scsi'}

    def test_ide_takes_four(self, cloud):
        server = cloud.stopped(flavor='disks', server=cloud.blank(4))
        before = cloud.recorded(server)
        answer = cloud.assert_refused_unchanged(
            server, 400, {'hw_disk_bus': 'invalid_value'},
            {'hw_disk_bus': 'ide'})
        assert 'ide does not take the 5 disks' in answer.message
        assert cloud.recorded(server) == before

    @pytest.mark.parametrize(('asked', 'named'), [
        ({'hw_machine_type': 'pc', 'hw_cdrom_bus': 'scsi'}, 'hw_cdrom_bus'),
        ({'hw_cdrom_bus': 'scsi'}, 'hw_cdrom_bus'),
        # It has no IDE.
        ({'hw_machine_type': 'q35'}, 'hw_machine_type')])
    def test_a_cd_rom_stays_where_it_is(self, cloud, asked, named):
        server = cloud.stopped({'hw_machine_type': 'pc'}, server=cloud.cdrom())
        assert cloud.recorded(server)['/dev/hda'] == 'ide'
        answer = cloud.assert_refused_unchanged(
            server, 400, {named: 'invalid_value'}, asked)
        assert 'a CD-ROM drive of the server keeps its place' in answer.message
        cloud.rebuild(server, asked).expect(400, {named: 'invalid_value'})

    def test_another_property_moves_nothing(self, cloud):
        server = cloud.stopped({'hw_disk_bus': 'ide'})
        cloud.put(server, {'hw_disk_bus': 'ide', 'hw_video_model': 'vga'})()
        assert cloud.recorded(server) == {'/dev/hda': 'ide'}

    def test_a_failure_leaves_the_disks_where_they_are(self, cloud):
        server = cloud.stopped()
        save = objects.Instance.save

        def fail(instance, *args, **kwargs):
            if instance.display_name == 'other':
                raise exception.NovaException('no database')
            return save(instance, *args, **kwargs)

        with mock.patch.object(objects.Instance, 'save', fail):
            cloud.update(server, {'hw_disk_bus': 'sata'},
                         body={'name': 'other'}).expect(500)
        assert cloud.recorded(server) == {'/dev/vda': 'virtio'}
        assert cloud.instance(server).root_device_name == '/dev/vda'

    def test_a_mapping_that_cannot_be_stored_leaves_all_as_it_was(self, cloud):
        server = cloud.stopped()
        before = cloud.state(server)
        with mock.patch.object(
                objects.BlockDeviceMapping, 'save',
                side_effect=[exception.NovaException('no database'), None]):
            cloud.update(server, {'hw_disk_bus': 'sata'}).expect(500)
        assert cloud.recorded(server) == {'/dev/vda': 'virtio'}
        assert {**cloud.state(server), 'updated': None
                } == {**before, 'updated': None}

    def test_a_failure_once_they_have_moved_names_the_root_as_before(
            self, cloud):
        server = cloud.stopped()
        fails = exception.NovaException('no database')
        with mock.patch.object(
                store, 'confirmed', wraps=store.confirmed,
                side_effect=[mock.DEFAULT, fails, mock.DEFAULT]):
            cloud.update(server, {'hw_disk_bus': 'sata'}).expect(500)
        cloud.do(server, 'os-start')
        cloud.assert_root(server, {'vda': 'virtio'})

    @pytest.mark.parametrize(('fails', 'status', 'disks'), [
        (False, 200, {'/dev/sda': 'sata'}),
        (True, 500, {'/dev/vda': 'virtio'})])
    def test_a_volume_that_is_detached_meanwhile_does_not_keep_the_others(
            self, cloud, fails, status, disks):
        server = cloud.boot()
        cloud.attach(server)
        cloud.stop(server)
        save = objects.BlockDeviceMapping.save

        def detached(mapping):
            if not mapping.is_volume:
                return save(mapping)
            objects.BlockDeviceMapping.get_by_volume(
                mapping._context, mapping.volume_id).destroy()
            if fails:
                raise exception.NovaException('no database')
            return save(mapping)

        with mock.patch.object(objects.BlockDeviceMapping, 'save', detached):
            cloud.update(server, {'hw_disk_bus': 'sata'}).expect(status)
        assert cloud.recorded(server) == disks
        assert cloud.instance(server).task_state is None


class TestOffloaded:
    def test_the_root_disk_moves_at_the_unshelving(self, cloud):
        server = cloud.offloaded()
        assert cloud.update(server, {'hw_disk_bus': 'sata'}).status == 200
        cloud.do(server, 'unshelve')
        assert cloud.disks(server) == {'sda': 'sata'}


class TestRebuilt:
    def test_the_root_disk_moves_there_and_back(self, cloud):
        server = cloud.boot()
        for overrides, expected in (
                ({'hw_disk_bus': 'sata'}, {'sda': 'sata'}),
                (None, {'sda': 'sata'}), ({}, {'vda': 'virtio'})):
            cloud.rebuild(server, overrides).expect(202)
            cloud.assert_root(server, expected)

    def test_a_refused_rebuild_leaves_it_where_it_is(self, cloud):
        server = cloud.boot()
        cloud.rebuild(server, {
            'hw_disk_bus': 'sata',
            'trait:CUSTOM_GOLD': 'required'}).expect(409)
        assert cloud.recorded(server) == {'/dev/vda': 'virtio'}
        assert cloud.instance(server).root_device_name == '/dev/vda'

    def test_an_image_of_another_bus_moves_nothing_as_in_nova(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        cloud.rebuild(
            server, image=cloud.image(hw_disk_bus='sata')).expect(202)
        assert cloud.recorded(server) == {'/dev/vda': 'virtio'}
