"""A bus has room for so many drives: at create, rebuild and update."""

import pytest

from testing import release
from testing.harness import base
from tests.functional import test_disk_buses

IDE = {'hw_disk_bus': 'ide', 'hw_machine_type': 'pc'}


class Cloud(test_disk_buses.Cloud):
    def asked(self, disks, config_drive, image=base.IMAGE):
        """Return the keywords of a create with DISKS, the root among them."""
        return {'flavor': 'disks', 'image': image, 'server': {
            'config_drive': config_drive,
            **self.blank(disks - 1, root={'uuid': image})}}

    def drives(self, server):
        """Return kind, bus and name of each drive of the guest built last."""
        return [(disk.get('device'), disk.find('target').get('bus'),
                 disk.find('target').get('dev'))
                for disk in self.guest(server).findall('devices/disk')]

    def iso(self):
        """Return an image that is a CD-ROM."""
        image = self.image()
        self.glance.images[image]['disk_format'] = 'iso'
        return image


class TestCreate:
    BUILD = False

    def test_ide_has_room_for_four(self, cloud):
        for disks, config_drive, status in (
                (4, False, 202), (5, False, 400), (3, True, 202),
                (4, True, 400)):
            answer = cloud.create(IDE, **cloud.asked(disks, config_drive))
            answer.expect(status)
            if status == 400:
                assert answer.problems == {'hw_disk_bus': 'invalid_value'}
                assert 'ide does not take the 5 disks' in answer.message

    def test_a_drive_that_the_image_must_have_counts(self, cloud):
        answer = cloud.create({**IDE, 'img_config_drive': 'mandatory'},
                              **cloud.asked(4, False))
        cloud.assert_refused(answer, 400, dict.fromkeys(
            ('hw_disk_bus', 'img_config_drive'), 'invalid_value'))

    def test_a_drive_on_another_bus_does_not(self, cloud):
        cloud.create({**IDE, 'hw_cdrom_bus': 'sata'},
                     **cloud.asked(4, True)).expect(202)

    def test_without_a_machine_type_it_is_where_the_disks_are(self, cloud):
        answer = cloud.create({'hw_disk_bus': 'ide'}, **cloud.asked(4, True))
        cloud.assert_refused(answer, 400, {'hw_disk_bus': 'invalid_value'})

    def test_a_root_that_is_an_iso_image_is_a_drive(self, cloud):
        asked = cloud.asked(5, False, cloud.iso())
        cloud.create({**IDE, 'hw_cdrom_bus': 'sata'}, **asked).expect(202)
        assert cloud.create(IDE, **asked).status == 400

    def test_a_disk_that_the_request_puts_on_a_bus_that_q35_lacks(self, cloud):
        asked = cloud.asked(2, False)
        asked['server']['block_device_mapping_v2'][1]['disk_bus'] = 'ide'
        answer = cloud.create({'hw_machine_type': 'q35'}, **asked)
        cloud.assert_refused(answer, 400, {'hw_machine_type': 'invalid_value'})
        assert 'a drive of the server is on the bus ide' in answer.message
        assert cloud.create({'hw_machine_type': 'pc'}, **asked).status == 202


class TestNova:
    def test_nova_builds_no_guest_that_an_image_asks_too_much_for(self, cloud):
        answer = cloud.create(None, **cloud.asked(
            4, True, cloud.image(hw_disk_bus='ide'))).expect(202)
        cloud.created(answer, 'ERROR')


class TestLater:
    def test_update_and_rebuild_count_the_config_drive(self, cloud):
        server = cloud.stopped(**cloud.asked(4, True))
        cloud.assert_refused_unchanged(
            server, 400, {'hw_disk_bus': 'invalid_value'},
            {'hw_disk_bus': 'ide'})
        cloud.rebuild(server, IDE).expect(
            400, {'hw_disk_bus': 'invalid_value'})

    def test_without_one_they_have_room(self, cloud):
        server = cloud.stopped(**cloud.asked(4, False))
        assert cloud.update(server, {'hw_disk_bus': 'ide'}).status == 200
        cloud.do(server, 'os-start')
        targets = cloud.guest(server).findall('devices/disk/target')
        assert [target.get('bus') for target in targets] == ['ide'] * 4

    @pytest.mark.skipif(
        release.NUMBER < 28, reason='Nova makes a disk of an ISO image that '
        'has a device name (blockinfo.get_root_info)')
    def test_an_iso_image_keeps_its_name_and_so_stays(self, cloud):
        # On another bus it would be hda, and the config drive sda: libvirt
        # gives both the same address.
        server = cloud.stopped({'hw_machine_type': 'pc'}, image=cloud.iso(),
                               server={'config_drive': True})
        assert cloud.drives(server) == [
            ('cdrom', 'ide', 'hda'), ('cdrom', 'ide', 'hdb')]
        cloud.assert_refused_unchanged(
            server, 400, {'hw_machine_type': 'invalid_value'},
            {'hw_machine_type': 'q35'})

    @pytest.mark.parametrize('bus', ['ide', 'sata'])
    def test_create_rebuild_and_update_make_the_same_guest_or_none(
            self, cloud, bus):
        overrides = {'hw_machine_type': 'pc', 'hw_disk_bus': bus}
        for disks, config_drive, image in (
                (5, False, base.IMAGE), (4, True, base.IMAGE),
                (4, False, cloud.iso())):
            asked = cloud.asked(disks, config_drive, image)
            created = cloud.create(overrides, **asked)
            servers = [created.body['server']['id']] \
                if created.status == 202 else []
            updated, rebuilt = cloud.stopped(**asked), cloud.boot(**asked)
            servers += updated, rebuilt
            later = (cloud.update(updated, overrides),
                     cloud.rebuild(rebuilt, overrides, image))
            if created.status == 400:
                assert [each.problems for each in later] == [
                    created.problems] * 2
            else:
                assert [each.status for each in later] == [200, 202]
                cloud.do(updated, 'os-start')
                for each in servers:
                    cloud.wait(each)
                drives, *others = map(cloud.drives, servers)
                assert len(drives) == disks + config_drive
                assert ('disk', bus) in {each[:2] for each in drives}
                assert others == [drives] * 2
            for each in servers:
                cloud.delete(each)
