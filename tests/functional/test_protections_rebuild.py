"""Glance's property protections hold when a server is rebuilt."""

import datetime

from nova_image_override import errors
from testing.harness import base
from tests.functional import protections


class Cloud(protections.Cloud):
    def assert_protected(self, answer, *names):
        answer.expect(403, dict.fromkeys(names, errors.PROTECTED))


class TestRebuild:
    """Rebuild, for which the server's host runs the compute part."""

    EXTENDED_HOSTS = ('compute1',)

    def test_what_a_rebuild_asks_for_is_judged_by_its_image(self, cloud):
        server = cloud.boot({}, image=cloud.image())
        cloud.assert_protected(cloud.rebuild(
            server, {'hw_disk_bus': 'scsi'},
            cloud.image(hw_disk_bus='virtio')), 'hw_disk_bus')
        assert cloud.rebuild(server, {'hw_disk_bus': 'scsi'},
                             cloud.image()).status == 202

    def test_what_is_kept_is_judged_where_another_image_protects_it(
            self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'}, image=cloud.image())
        protecting = cloud.image(hw_disk_bus='virtio')
        cloud.assert_protected(
            cloud.rebuild(server, image=protecting), 'hw_disk_bus')
        assert cloud.system_metadata(server)['hw_disk_bus'] == 'scsi'
        assert cloud.rebuild(server, {}, protecting).status == 202
        assert cloud.system_metadata(server)['hw_disk_bus'] == 'virtio'

    def test_what_is_removed_is_judged_where_another_image_names_it_so(
            self, cloud):
        server = cloud.boot({'hw_auto_disk_config': None}, image=cloud.image())
        cloud.assert_protected(cloud.rebuild(
            server, image=cloud.image(auto_disk_config='true')),
            'hw_auto_disk_config')
        assert cloud.rebuild(server, image=cloud.image()).status == 202

    def test_another_image_is_judged_as_at_create_however_much_alike(
            self, cloud):
        image = cloud.image(hw_disk_bus='virtio')
        server = cloud.boot({'hw_disk_bus': 'scsi'}, admin=True, image=image)
        cloud.assert_protected(cloud.rebuild(
            server, image=cloud.image(hw_disk_bus='virtio')), 'hw_disk_bus')
        assert cloud.rebuild(server, image=image).status == 202
        assert cloud.system_metadata(server)['hw_disk_bus'] == 'scsi'


class LegacyNamesCloud(base.Cloud):
    EXTENDED_HOSTS = ('compute1',)

    def _setup_services(self) -> None:
        sections = {
            'hw_disk_bus': {'update': 'admin'}, 'vm_mode': {
                'update': 'admin', 'delete': 'admin'},
            'hw_scsi_model': {'create': 'admin'}}
        text = ''.join(f'[^{name}$]\n' + ''.join(
            f'{operation} = {closed.get(operation, "@")}\n'
            for operation in ('create', 'read', 'update', 'delete'))
            for name, closed in sections.items())
        self.OPTIONS = {
            'allowed_properties': ['*'],
            'property_protection_file': protections.file_with(
                self, text + '[.*]\ncreate = @\nread = @\nupdate = @\n'
                'delete = @\n')}
        super()._setup_services()

    def assert_rebuild(self, code, server, *args, **kwargs):
        """Assert that a rebuild is refused with CODE and changes nothing."""
        before = (self.record(server), self.system_metadata(server),
                  self.request_spec(server))
        answer = self.rebuild(server, *args, **kwargs)
        if code is None:
            answer.expect(202)
            return
        answer.expect(403)
        assert set(answer.problems.values()) == {code}
        assert (self.record(server), self.system_metadata(server),
                self.request_spec(server)) == before


class TestLegacyNames:
    """What a rebuild keeps, or repeats, where images use different names."""

    CLOUD = LegacyNamesCloud

    def test_what_took_the_place_of_a_legacy_name_is_judged_again(self, cloud):
        asked = {'hw_disk_bus': 'sata'}
        server = cloud.boot(asked, image=cloud.image(vmware_adaptertype='ide'))
        other = cloud.image(hw_disk_bus='virtio')
        assert cloud.create(asked, image=other).status == 403
        for overrides in (None, asked):
            cloud.assert_rebuild(errors.PROTECTED, server, overrides, other)
        cloud.assert_rebuild(None, server, None, other, admin=True)

    def test_what_a_legacy_name_said_of_another_property_is_written_too(
            self, cloud):
        image = cloud.image(vmware_adaptertype='lsiLogic')
        answer = cloud.create({'hw_disk_bus': 'sata'}, image=image)
        cloud.assert_refused(answer, 403, {'hw_disk_bus': errors.PROTECTED})
        assert ('create hw_scsi_model, which overriding hw_disk_bus '
                'writes') in answer.message
        cloud.boot({'hw_disk_bus': 'sata'}, image=image, admin=True)

    def test_a_rebuild_over_the_same_image_keeps_what_an_admin_had(self, cloud):
        image = cloud.image(vm_mode='xen')
        asked = {'hw_vm_mode': 'hvm', 'hw_boot_menu': 'true'}
        server = cloud.boot(asked, admin=True, image=image)
        for overrides in (None, asked, {'hw_vm_mode': 'hvm'}):
            cloud.assert_rebuild(None, server, overrides, image)
        assert cloud.system_metadata(server)['hw_vm_mode'] == 'hvm'

    def test_a_rebuild_over_an_image_that_has_changed_is_judged_again(
            self, cloud):
        image = cloud.image(hw_vm_mode='xen')
        server = cloud.boot({'hw_vm_mode': 'hvm'}, image=image, admin=True)
        properties = cloud.glance.images[image]['properties']
        properties['vm_mode'] = properties.pop('hw_vm_mode')
        cloud.glance.images[image]['updated_at'] += datetime.timedelta(1)
        cloud.assert_rebuild(errors.PROTECTED, server, None, image)
        cloud.assert_rebuild(None, server, None, image, admin=True)
        cloud.assert_rebuild(None, server, None, image)

    def test_what_is_alike_under_each_name_needs_no_permission_again(
            self, cloud):
        server = cloud.boot({'hw_boot_menu': 'true', 'hw_vm_mode': 'hvm'},
                            image=cloud.image())
        cloud.assert_rebuild(None, server, None, cloud.image(name='other'))

    def test_dropping_one_override_does_not_write_what_it_held_back(
            self, cloud):
        image = cloud.image(vmware_adaptertype='lsiLogic')
        server = cloud.boot(
            {'hw_disk_bus': 'sata', 'hw_scsi_model': None}, image=image)
        cloud.assert_rebuild(
            errors.PROTECTED, server, {'hw_disk_bus': 'sata'}, image)
        cloud.assert_rebuild(
            None, server, {'hw_disk_bus': 'sata'}, image, admin=True)
        assert cloud.system_metadata(server)['hw_scsi_model'] == 'lsiLogic'
