"""Nova boots images from a real Glance, and keeps Glance's rules."""

from nova.api import auth
import nova.image.glance
import pytest

from nova_image_override import errors
from testing.harness import base
from tests.glance import real

# What Nova's GlanceFixture replaces.
_DEFAULT = nova.image.glance.get_default_image_service


class RealGlance(base.TestCase):
    """Nova's real application; its images come over HTTP.

    Both services read the same protections and import files.
    """

    @pytest.fixture(autouse=True, scope='class')
    def _use_glance(self, request, glance):
        # Set on the class, because its tests share a cloud.
        request.cls._real = glance

    def _setup_services(self) -> None:
        self.OPTIONS = {
            'allowed_properties': ['*'],
            'property_protection_file': str(
                self._real.folder / 'property-protections.conf'),
            'glance_image_import_files': [
                str(self._real.folder / 'glance-image-import.conf'),
                str(self._real.folder / 'glance-api.conf')]}
        self.stub_out('nova.image.glance.get_default_image_service', _DEFAULT)
        self.flags(group='glance', api_servers=None,
                   endpoint_override=self._real.url)
        super()._setup_services()

    def setUp(self) -> None:
        super().setUp()
        # The harness has no tokens; Glance knows the user by one.
        fake = auth.NovaKeystoneContext._create_context

        def with_token(env, **kwargs):
            context = fake(env, **kwargs)
            context.auth_token = env.get('HTTP_X_AUTH_TOKEN')
            return context

        self.stub_out('nova.api.auth.NovaKeystoneContext._create_context',
                      staticmethod(with_token))

    def http(self, *args, admin=False, headers=None, **kwargs):
        token = real.ADMIN if admin else real.MEMBER
        return super().http(*args, admin=admin, headers={
            'X-Auth-Token': token, **(headers or {})}, **kwargs)

    # --- injection ----------------------------------------------------------

    def test_an_injected_property_is_kept_when_others_are_overridden(self):
        image = self._real.imported(hw_disk_bus='virtio')
        self.assertEqual('e1000', self._real.show(image)['hw_vif_model'])
        server = self.boot({'hw_disk_bus': 'scsi'}, image=image)
        properties = self.system_metadata(server)
        self.assertEqual('e1000', properties['hw_vif_model'])
        self.assertEqual('tenant', properties['x_origin'])
        self.assertEqual('scsi', properties['hw_disk_bus'])
        self.assertEqual({'hw_disk_bus': 'virtio'}, self.record(server))

    def test_an_injected_property_cannot_be_overridden(self):
        image = self._real.imported()
        for value in ('virtio', None):
            self.assert_refused(
                self.create({'hw_vif_model': value}, image=image),
                403, {'hw_vif_model': errors.INJECTED})

    def test_nor_where_an_upload_dodged_the_injection(self):
        image = self._real.create()
        self._real.ok('PUT', f'/images/{image}/file', b'data', real.MEMBER,
                      'application/octet-stream')
        self.assertNotIn('hw_vif_model', self._real.show(image))
        self.assert_refused(
            self.create({'hw_vif_model': 'virtio'}, image=image),
            403, {'hw_vif_model': errors.INJECTED})

    def test_an_admin_may_override_it(self):
        image = self._real.imported()
        server = self.boot(
            {'hw_vif_model': 'virtio'}, image=image, admin=True)
        self.assertEqual(
            'virtio', self.system_metadata(server)['hw_vif_model'])

    # --- protections --------------------------------------------------------

    def test_what_glance_refuses_to_create_nova_refuses_too(self):
        image = self._real.imported()
        self.assertEqual(403, self._real.set(
            image, 'hw_pmu', 'true', real.MEMBER).status_code)
        self.assert_refused(
            self.create({'hw_pmu': 'true'}, image=image),
            403, {'hw_pmu': errors.PROTECTED})

    def test_what_an_admin_has_set_a_member_does_not_change(self):
        image = self._real.imported()
        self.assertTrue(self._real.set(
            image, 'hw_pmu', 'false', real.ADMIN).ok)
        self.assert_refused(
            self.create({'hw_pmu': 'true'}, image=image),
            403, {'hw_pmu': errors.PROTECTED})
        self.assert_refused(
            self.create({'hw_pmu': None}, image=image),
            403, {'hw_pmu': errors.PROTECTED})
        server = self.boot({'hw_pmu': 'true'}, image=image, admin=True)
        self.assertEqual('true', self.system_metadata(server)['hw_pmu'])

    def test_create_and_update_are_told_apart_as_in_glance(self):
        image = self._real.imported()
        server = self.boot({'hw_video_model': 'vga'}, image=image)
        self.assertEqual(
            'vga', self.system_metadata(server)['hw_video_model'])
        self.assertTrue(self._real.set(
            image, 'hw_video_model', 'qxl', real.MEMBER).ok)
        self.assertEqual(403, self._real.set(
            image, 'hw_video_model', 'vga', real.MEMBER, 'replace'
        ).status_code)
        answer = self.create({'hw_video_model': 'vga'}, image=image)
        self.assertEqual(403, answer.status)
        self.assertEqual(
            {'hw_video_model': errors.PROTECTED}, answer.problems)

    # --- volumes ------------------------------------------------------------

    def test_what_cinder_copied_from_the_image_is_kept_to_the_same_rules(self):
        image = self._real.imported(hw_disk_bus='virtio')
        self.assertTrue(self._real.set(
            image, 'hw_pmu', 'false', real.ADMIN).ok)
        shown = self._real.show(image)
        copied = {name: shown[name] for name in (
            'hw_disk_bus', 'hw_pmu', 'hw_vif_model', 'x_origin')}
        volume = self.volume(**copied)
        self.assert_refused(
            self.create({'hw_vif_model': 'virtio', 'hw_pmu': 'true'},
                        image=None, server=self.from_volume(volume)),
            403, {'hw_vif_model': errors.INJECTED,
                  'hw_pmu': errors.PROTECTED})
        server = self.boot({'hw_disk_bus': 'scsi'}, image=None,
                           server=self.from_volume(volume))
        properties = self.system_metadata(server)
        self.assertEqual('scsi', properties['hw_disk_bus'])
        self.assertEqual('e1000', properties['hw_vif_model'])
        self.assertEqual('false', properties['hw_pmu'])
