"""What Glance injects for a user, that user cannot override."""

from nova_image_override import errors
from testing.harness import base
from tests.functional import protections

IMPORT = '''
[image_import_opts]
image_import_plugins = [inject_image_metadata]
[inject_metadata_properties]
ignore_user_roles = admin, builder
inject = hw_vif_model:virtio,vmware_adaptertype:lsiLogic,hw_numa_mem.1:512
'''


class InjectionTest(base.TestCase):
    """Requests come from a project member."""

    def _setup_services(self) -> None:
        self.OPTIONS = {
            **self.OPTIONS,
            'allowed_properties': ['*'],
            'glance_image_import_files': [
                protections.file_with(self, IMPORT)]}
        super()._setup_services()

    def test_an_injected_property_cannot_be_overridden(self):
        answer = self.create({'hw_vif_model': 'e1000'},
                             image=self.image(hw_vif_model='virtio'))
        self.assert_refused(answer, 403, {'hw_vif_model': errors.INJECTED})

    def test_nor_where_the_image_lacks_it(self):
        self.assert_refused(
            self.create({'hw_vif_model': 'e1000'}, image=self.image()),
            403, {'hw_vif_model': errors.INJECTED})

    def test_nor_be_removed(self):
        self.assert_refused(
            self.create({'hw_vif_model': None},
                        image=self.image(hw_vif_model='virtio')),
            403, {'hw_vif_model': errors.INJECTED})

    def test_nor_under_the_current_names_of_a_legacy_one(self):
        self.assert_refused(
            self.create({'hw_disk_bus': 'ide', 'hw_scsi_model': 'buslogic',
                         'hw_numa_mem.1': '1'}, image=self.image()),
            403, {'hw_disk_bus': errors.INJECTED,
                  'hw_scsi_model': errors.INJECTED,
                  'hw_numa_mem.1': errors.INJECTED})

    def test_nor_where_a_volume_copied_it(self):
        volume = self.volume(hw_vif_model='virtio')
        self.assert_refused(
            self.create({'hw_vif_model': 'e1000'}, image=None,
                        server=self.from_volume(volume)),
            403, {'hw_vif_model': errors.INJECTED})

    def test_it_stays_when_others_are_overridden(self):
        server = self.boot({'hw_boot_menu': 'true'},
                           image=self.image(hw_vif_model='virtio'))
        properties = self.system_metadata(server)
        self.assertEqual('virtio', properties['hw_vif_model'])
        self.assertEqual('true', properties['hw_boot_menu'])

    def test_an_ignored_role_may_override_it(self):
        image = self.image(hw_vif_model='virtio')
        for kwargs in ({'admin': True}, {'roles': 'member,reader,Builder'}):
            server = self.boot({'hw_vif_model': 'e1000'}, image=image,
                               **kwargs)
            self.assertEqual(
                'e1000', self.system_metadata(server)['hw_vif_model'])

    def offered(self, **kwargs):
        schema = self.http('GET', '/image-props-override', **kwargs).body[
            base.PARAMETER]['schema']
        return schema['properties'], ' '.join(schema['patternProperties'])

    def test_it_is_not_on_offer(self):
        names, families = self.offered()
        for name in ('hw_vif_model', 'hw_disk_bus', 'hw_scsi_model'):
            self.assertNotIn(name, names)
        self.assertIn('hw_boot_menu', names)
        self.assertIn(r'(?!(?:hw_numa_mem\.1)$)', families)

    def test_it_is_on_offer_to_an_ignored_role(self):
        names, families = self.offered(admin=True)
        self.assertIn('hw_vif_model', names)
        self.assertNotIn('(?!', families)


class WithProtectionsTest(InjectionTest):
    """The same tests where Glance protects nothing from anybody."""

    def _setup_services(self) -> None:
        self.OPTIONS = {'property_protection_file': protections.file_with(
            self, '[.*]\ncreate=@\nread=@\nupdate=@\ndelete=@\n')}
        super()._setup_services()


class OrderTest(base.TestCase):
    """Injection is checked after our lists and before protections."""

    def _setup_services(self) -> None:
        self.OPTIONS = {
            'allowed_properties': ['hw_*'],
            'denied_properties': ['hw_disk_bus'],
            'glance_image_import_files': [
                protections.file_with(self, IMPORT)],
            'property_protection_file': protections.file_with(
                self,
                '[x]\ncreate=@\nread=@\nupdate=@\ndelete=@\n')}
        super()._setup_services()

    def test_each_property_is_told_its_first_refusal(self):
        self.assert_refused(
            self.create({'hw_disk_bus': 'ide', 'os_distro': 'debian',
                         'hw_vif_model': 'e1000', 'hw_pmu': 'true'},
                        image=self.image()),
            403, {'hw_disk_bus': errors.DENIED,
                  'os_distro': errors.NOT_ALLOWED,
                  'hw_vif_model': errors.INJECTED,
                  'hw_pmu': errors.PROTECTED})
