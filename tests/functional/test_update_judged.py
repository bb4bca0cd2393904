"""By what an update of a server is judged: its image, its host, its drives."""

from nova import objects
import pytest

from testing.harness import base
from tests.functional import protections
from tests.functional import update_case

Cloud = update_case.Cloud


class ProtectedCloud(update_case.Cloud, protections.Cloud):
    """hw_disk_bus: create member, update admin; hw_video_model exchanged."""

    EXTENDED_HOSTS = ('compute1',)


class TestTheImagesOwnProperties:
    """What nova-compute has stored as a default is not the image's."""

    CLOUD = ProtectedCloud

    @pytest.mark.parametrize(('own', 'asked', 'status'), [
        ({}, {'hw_disk_bus': 'sata'}, 200),
        ({'hw_disk_bus': 'virtio'}, {'hw_disk_bus': 'sata'}, 403),
        ({}, {'hw_video_model': 'vga'}, 403),
        ({'hw_video_model': 'cirrus'}, {'hw_video_model': 'vga'}, 200),
        ({}, {'hw_disk_bus': None}, 403),
        ({'hw_video_model': 'cirrus'}, {'hw_video_model': None}, 200),
    ])
    @pytest.mark.parametrize('state', ['stopped', 'offloaded'])
    def test_the_images_own_properties_decide_what_glance_must_permit(
            self, cloud, state, own, asked, status):
        server = getattr(cloud, state)(image=cloud.image(**own))
        assert {'hw_disk_bus', 'hw_video_model'} <= cloud.system_metadata(
            server).keys()
        answer = cloud.update(server, asked).expect(status)
        if status == 403:
            assert answer.problems == dict.fromkeys(asked, 'protected')

    @pytest.mark.parametrize('asked', [
        {'hw_disk_bus': 'sata'}, {'hw_video_model': 'vga'}])
    def test_where_the_images_properties_are_unknown_both_are_needed(
            self, cloud, asked):
        server = cloud.stopped(image=cloud.image())
        spec = cloud.spec(server)
        spec.image = None
        spec.save()
        assert cloud.update(server, asked).status == 403
        assert cloud.update(server, asked, admin=True).status == 200

    def test_what_an_administrator_gave_stays_while_others_change(
            self, cloud):
        server = cloud.stopped(
            {'hw_disk_bus': 'sata'}, admin=True,
            image=cloud.image(hw_disk_bus='virtio'))
        cloud.update(
            server,
            {'hw_disk_bus': 'sata', 'hw_boot_menu': 'true'}).expect(200)
        assert cloud.update(server, {'hw_disk_bus': 'scsi'}).status == 403


class TestConfigDrive:
    def test_a_config_drive_is_made_by_a_rebuild_or_by_unshelving(
            self, cloud):
        server = cloud.stopped()
        answer = cloud.assert_refused_unchanged(
            server, 409, {'img_config_drive': 'needs_rebuild'},
            {'img_config_drive': 'mandatory'})
        assert 'rebuild' in answer.message and 'shelve' in answer.message
        cloud.put(server, {'img_config_drive': 'optional'})()
        cloud.put(cloud.offloaded(), {'img_config_drive': 'mandatory'})()

    @pytest.mark.parametrize('asked', [None, 'optional'])
    def test_a_server_keeps_the_config_drive_that_it_has(self, cloud, asked):
        server = cloud.stopped(
            image=cloud.image(img_config_drive='mandatory'))
        assert cloud.instance(server).config_drive
        cloud.assert_refused_unchanged(
            server, 400, {'img_config_drive': 'no_effect'},
            {'img_config_drive': asked})
        cloud.do(server, 'os-start')
        cloud.rebuild(
            server, {'img_config_drive': asked},
            cloud.image()).expect(202 if asked is None else 400)


class TestHost:
    def test_a_driver_that_does_not_build_the_guest_anew_is_told(self, cloud):
        server = cloud.stopped()
        instance = cloud.instance(server)
        node = objects.ComputeNode.get_by_host_and_nodename(
            instance._context, instance.host, instance.node)
        node.hypervisor_type = 'VMware vCenter Server'
        node.save()
        try:
            answer = cloud.assert_refused_unchanged(
                server, 409, {'hw_video_model': 'needs_rebuild'},
                {'hw_video_model': 'vga'})
        finally:
            node.hypervisor_type = 'QEMU'
            node.save()
        assert 'rebuild the server' in answer.message

    def test_a_server_without_a_request_spec_is_told(self, cloud):
        server = cloud.stopped()
        cloud.spec(server).destroy()
        cloud.update(server, update_case.VGA).expect(
            409, {base.PARAMETER: 'wrong_state'})
        assert cloud.record(server) == {}


class TestAutoDiskConfig:
    def test_an_updated_disk_config_shows_as_after_a_create(self, cloud):
        server = cloud.stopped()
        for asked, shown in (({'hw_auto_disk_config': 'true'}, 'AUTO'),
                             ({'hw_auto_disk_config': 'false'}, 'MANUAL'),
                             ({'hw_auto_disk_config': 'true'}, 'AUTO'),
                             ({}, 'MANUAL')):
            answer = cloud.update(server, asked).expect(200)
            assert answer.body['server']['OS-DCF:diskConfig'] == shown
