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


class Cloud(base.Cloud):
    def _setup_services(self) -> None:
        self.OPTIONS = {
            **self.OPTIONS,
            'allowed_properties': ['*'],
            'glance_image_import_files': [
                protections.file_with(self, IMPORT)]}
        super()._setup_services()

    def offered(self, **kwargs):
        schema = self.http('GET', '/image-props-override', **kwargs).body[
            base.PARAMETER]['schema']
        return schema['properties'], ' '.join(schema['patternProperties'])


class TestInjection:
    """Requests come from a project member."""

    def test_an_injected_property_cannot_be_overridden(self, cloud):
        answer = cloud.create({'hw_vif_model': 'e1000'},
                              image=cloud.image(hw_vif_model='virtio'))
        cloud.assert_refused(answer, 403, {'hw_vif_model': errors.INJECTED})

    def test_nor_where_the_image_lacks_it(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_vif_model': 'e1000'}, image=cloud.image()),
            403, {'hw_vif_model': errors.INJECTED})

    def test_nor_be_removed(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_vif_model': None},
                         image=cloud.image(hw_vif_model='virtio')),
            403, {'hw_vif_model': errors.INJECTED})

    def test_nor_under_the_current_names_of_a_legacy_one(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'ide', 'hw_scsi_model': 'buslogic',
                          'hw_numa_mem.1': '1'}, image=cloud.image()),
            403, {'hw_disk_bus': errors.INJECTED,
                  'hw_scsi_model': errors.INJECTED,
                  'hw_numa_mem.1': errors.INJECTED})

    def test_nor_where_a_volume_copied_it(self, cloud):
        volume = cloud.volume(hw_vif_model='virtio')
        cloud.assert_refused(
            cloud.create({'hw_vif_model': 'e1000'}, image=None,
                         server=cloud.from_volume(volume)),
            403, {'hw_vif_model': errors.INJECTED})

    def test_it_stays_when_others_are_overridden(self, cloud):
        server = cloud.boot({'hw_boot_menu': 'true'},
                            image=cloud.image(hw_vif_model='virtio'))
        properties = cloud.system_metadata(server)
        assert properties['hw_vif_model'] == 'virtio'
        assert properties['hw_boot_menu'] == 'true'

    def test_an_ignored_role_may_override_it(self, cloud):
        image = cloud.image(hw_vif_model='virtio')
        for kwargs in ({'admin': True}, {'roles': 'member,reader,Builder'}):
            server = cloud.boot({'hw_vif_model': 'e1000'}, image=image,
                                **kwargs)
            assert cloud.system_metadata(server)['hw_vif_model'] == 'e1000'

    def test_it_is_not_on_offer(self, cloud):
        names, families = cloud.offered()
        for name in ('hw_vif_model', 'hw_disk_bus', 'hw_scsi_model'):
            assert name not in names
        assert 'hw_boot_menu' in names
        assert r'(?!(?:hw_numa_mem\.1)$)' in families

    def test_it_is_on_offer_to_an_ignored_role(self, cloud):
        names, families = cloud.offered(admin=True)
        assert 'hw_vif_model' in names
        assert '(?!' not in families


class WithProtectionsCloud(Cloud):
    def _setup_services(self) -> None:
        self.OPTIONS = {'property_protection_file': protections.file_with(
            self, '[.*]\ncreate=@\nread=@\nupdate=@\ndelete=@\n')}
        super()._setup_services()


class TestWithProtections(TestInjection):
    """The same tests where Glance protects nothing from anybody."""

    CLOUD = WithProtectionsCloud


class OrderCloud(base.Cloud):
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


class TestOrder:
    """Injection is checked after our lists and before protections."""

    CLOUD = OrderCloud

    def test_each_property_is_told_its_first_refusal(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'ide', 'os_distro': 'debian',
                          'hw_vif_model': 'e1000', 'hw_pmu': 'true'},
                         image=cloud.image()),
            403, {'hw_disk_bus': errors.DENIED,
                  'os_distro': errors.NOT_ALLOWED,
                  'hw_vif_model': errors.INJECTED,
                  'hw_pmu': errors.PROTECTED})
