"""Glance's property protections hold when a server is rebuilt."""

import datetime

from nova_image_override import errors
from testing.harness import base
from tests.functional import protections


class RebuildTest(protections.ProtectionsCase):
    """Rebuild, for which the server's host runs the compute part."""

    EXTENDED_HOSTS = ('compute1',)

    def assert_protected(self, answer, *names):
        self.assertEqual(403, answer.status, answer.text)
        self.assertEqual(dict.fromkeys(names, errors.PROTECTED),
                         answer.problems)

    def test_what_a_rebuild_asks_for_is_judged_by_its_image(self):
        server = self.boot({}, image=self.image())
        self.assert_protected(self.rebuild(
            server, {'hw_disk_bus': 'scsi'},
            self.image(hw_disk_bus='virtio')), 'hw_disk_bus')
        self.assertEqual(202, self.rebuild(
            server, {'hw_disk_bus': 'scsi'}, self.image()).status)

    def test_what_is_kept_is_judged_where_another_image_protects_it(self):
        server = self.boot({'hw_disk_bus': 'scsi'}, image=self.image())
        protecting = self.image(hw_disk_bus='virtio')
        self.assert_protected(
            self.rebuild(server, image=protecting), 'hw_disk_bus')
        self.assertEqual('scsi', self.system_metadata(server)['hw_disk_bus'])
        self.assertEqual(202, self.rebuild(server, {}, protecting).status)
        self.assertEqual(
            'virtio', self.system_metadata(server)['hw_disk_bus'])

    def test_what_is_removed_is_judged_where_another_image_names_it_so(self):
        server = self.boot({'hw_auto_disk_config': None}, image=self.image())
        self.assert_protected(self.rebuild(
            server, image=self.image(auto_disk_config='true')),
            'hw_auto_disk_config')
        self.assertEqual(202, self.rebuild(server, image=self.image()).status)

    def test_what_is_kept_stays_where_the_other_image_is_alike(self):
        server = self.boot(
            {'hw_disk_bus': 'scsi'}, admin=True,
            image=self.image(hw_disk_bus='virtio'))
        self.assertEqual(202, self.rebuild(
            server, image=self.image(hw_disk_bus='ide')).status)
        self.assertEqual('scsi', self.system_metadata(server)['hw_disk_bus'])


class LegacyNames(base.TestCase):
    """What a rebuild keeps, or repeats, where images use different names."""

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
            self.assertEqual(202, answer.status, answer.text)
            return
        self.assertEqual(403, answer.status, answer.text)
        self.assertEqual({code}, set(answer.problems.values()))
        self.assertEqual(before, (
            self.record(server), self.system_metadata(server),
            self.request_spec(server)))

    def test_what_took_the_place_of_a_legacy_name_is_judged_again(self):
        asked = {'hw_disk_bus': 'sata'}
        server = self.boot(asked, image=self.image(vmware_adaptertype='ide'))
        other = self.image(hw_disk_bus='virtio')
        self.assertEqual(403, self.create(asked, image=other).status)
        for overrides in (None, asked):
            self.assert_rebuild(errors.PROTECTED, server, overrides, other)
        self.assert_rebuild(None, server, None, other, admin=True)

    def test_what_a_legacy_name_said_of_another_property_is_written_too(self):
        image = self.image(vmware_adaptertype='lsiLogic')
        answer = self.create({'hw_disk_bus': 'sata'}, image=image)
        self.assert_refused(answer, 403, {'hw_disk_bus': errors.PROTECTED})
        self.assertIn('create hw_scsi_model, which overriding hw_disk_bus '
                      'writes', answer.message)
        self.boot({'hw_disk_bus': 'sata'}, image=image, admin=True)

    def test_a_rebuild_over_the_same_image_keeps_what_an_admin_had(self):
        image = self.image(vm_mode='xen')
        asked = {'hw_vm_mode': 'hvm', 'hw_boot_menu': 'true'}
        server = self.boot(asked, admin=True, image=image)
        for overrides in (None, asked, {'hw_vm_mode': 'hvm'}):
            self.assert_rebuild(None, server, overrides, image)
        self.assertEqual('hvm', self.system_metadata(server)['hw_vm_mode'])

    def test_unless_the_image_has_changed_since(self):
        image = self.image(hw_vm_mode='xen')
        server = self.boot({'hw_vm_mode': 'hvm'}, image=image, admin=True)
        properties = self.glance.images[image]['properties']
        properties['vm_mode'] = properties.pop('hw_vm_mode')
        self.glance.images[image]['updated_at'] += datetime.timedelta(1)
        self.assert_rebuild(errors.PROTECTED, server, None, image)
        self.assert_rebuild(None, server, None, image, admin=True)
        self.assert_rebuild(None, server, None, image)

    def test_what_is_alike_under_each_name_needs_no_permission_again(self):
        server = self.boot({'hw_boot_menu': 'true', 'hw_vm_mode': 'hvm'},
                           image=self.image())
        self.assert_rebuild(None, server, None, self.image(name='other'))

    def test_dropping_one_override_does_not_write_what_it_held_back(self):
        # hw_scsi_model=null is gone; hw_disk_bus now passes on what the image
        # says about it under the legacy name.
        image = self.image(vmware_adaptertype='lsiLogic')
        server = self.boot(
            {'hw_disk_bus': 'sata', 'hw_scsi_model': None}, image=image)
        self.assert_rebuild(
            errors.PROTECTED, server, {'hw_disk_bus': 'sata'}, image)
        self.assert_rebuild(
            None, server, {'hw_disk_bus': 'sata'}, image, admin=True)
        self.assertEqual(
            'lsiLogic', self.system_metadata(server)['hw_scsi_model'])
