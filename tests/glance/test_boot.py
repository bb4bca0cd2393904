"""Nova boots images from a real Glance, and keeps Glance's rules."""

from nova.api import auth
import nova.image.glance
import pytest

from nova_image_override import errors
from testing.harness import base
from tests.glance import real

# What Nova's GlanceFixture replaces.
_DEFAULT = nova.image.glance.get_default_image_service


class Cloud(base.Cloud):
    #: The real one.
    real: real.Glance

    def _setup_services(self) -> None:
        self.OPTIONS = {
            'allowed_properties': ['*'],
            'property_protection_file': str(
                self.real.folder / 'property-protections.conf'),
            'glance_image_import_files': [
                str(self.real.folder / 'glance-image-import.conf'),
                str(self.real.folder / 'glance-api.conf')]}
        self.stub_out('nova.image.glance.get_default_image_service', _DEFAULT)
        self.flags(group='glance', api_servers=None,
                   endpoint_override=self.real.url)
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


@pytest.fixture(autouse=True, scope='module')
def _real_glance(glance):
    Cloud.real = glance


class TestRealGlance:
    """Nova's real application; its images come over HTTP.

    Both services read the same protections and import files.
    """

    # --- injection ----------------------------------------------------------

    def test_an_injected_property_is_kept_when_others_are_overridden(
            self, cloud, glance):
        image = glance.imported(hw_disk_bus='virtio')
        assert glance.show(image)['hw_vif_model'] == 'e1000'
        server = cloud.boot({'hw_disk_bus': 'scsi'}, image=image)
        properties = cloud.system_metadata(server)
        assert properties['hw_vif_model'] == 'e1000'
        assert properties['x_origin'] == 'tenant'
        assert properties['hw_disk_bus'] == 'scsi'
        assert cloud.record(server) == {'hw_disk_bus': 'virtio'}

    def test_an_injected_property_cannot_be_overridden(self, cloud, glance):
        image = glance.imported()
        for value in ('virtio', None):
            cloud.assert_refused(
                cloud.create({'hw_vif_model': value}, image=image),
                403, {'hw_vif_model': errors.INJECTED})

    def test_what_an_upload_kept_from_being_injected_is_refused_too(
            self, cloud, glance):
        image = glance.create()
        glance.ok('PUT', f'/images/{image}/file', b'data', real.MEMBER,
                       'application/octet-stream')
        assert 'hw_vif_model' not in glance.show(image)
        cloud.assert_refused(
            cloud.create({'hw_vif_model': 'virtio'}, image=image),
            403, {'hw_vif_model': errors.INJECTED})

    def test_an_admin_may_override_an_injected_property(self, cloud, glance):
        image = glance.imported()
        server = cloud.boot(
            {'hw_vif_model': 'virtio'}, image=image, admin=True)
        assert cloud.system_metadata(server)['hw_vif_model'] == 'virtio'

    # --- protections --------------------------------------------------------

    def test_what_glance_refuses_to_create_nova_refuses_too(
            self, cloud, glance):
        image = glance.imported()
        assert glance.set(image, 'hw_pmu', 'true',
                               real.MEMBER).status_code == 403
        cloud.assert_refused(
            cloud.create({'hw_pmu': 'true'}, image=image),
            403, {'hw_pmu': errors.PROTECTED})

    def test_what_an_admin_has_set_a_member_does_not_change(
            self, cloud, glance):
        image = glance.imported()
        assert glance.set(image, 'hw_pmu', 'false', real.ADMIN).ok
        cloud.assert_refused(
            cloud.create({'hw_pmu': 'true'}, image=image),
            403, {'hw_pmu': errors.PROTECTED})
        cloud.assert_refused(
            cloud.create({'hw_pmu': None}, image=image),
            403, {'hw_pmu': errors.PROTECTED})
        server = cloud.boot({'hw_pmu': 'true'}, image=image, admin=True)
        assert cloud.system_metadata(server)['hw_pmu'] == 'true'

    def test_create_and_update_are_told_apart_as_in_glance(self, cloud, glance):
        image = glance.imported()
        server = cloud.boot({'hw_video_model': 'vga'}, image=image)
        assert cloud.system_metadata(server)['hw_video_model'] == 'vga'
        assert glance.set(image, 'hw_video_model', 'qxl', real.MEMBER).ok
        assert glance.set(image, 'hw_video_model', 'vga', real.MEMBER,
                               'replace').status_code == 403
        answer = cloud.create({'hw_video_model': 'vga'}, image=image)
        assert answer.status == 403
        assert answer.problems == {'hw_video_model': errors.PROTECTED}

    # --- volumes ------------------------------------------------------------

    def test_what_cinder_copied_from_the_image_is_kept_to_the_same_rules(
            self, cloud, glance):
        image = glance.imported(hw_disk_bus='virtio')
        assert glance.set(image, 'hw_pmu', 'false', real.ADMIN).ok
        shown = glance.show(image)
        copied = {name: shown[name] for name in (
            'hw_disk_bus', 'hw_pmu', 'hw_vif_model', 'x_origin')}
        volume = cloud.volume(**copied)
        cloud.assert_refused(
            cloud.create({'hw_vif_model': 'virtio', 'hw_pmu': 'true'},
                         image=None, server=cloud.from_volume(volume)),
            403, {'hw_vif_model': errors.INJECTED,
                  'hw_pmu': errors.PROTECTED})
        server = cloud.boot({'hw_disk_bus': 'scsi'}, image=None,
                            server=cloud.from_volume(volume))
        properties = cloud.system_metadata(server)
        assert properties['hw_disk_bus'] == 'scsi'
        assert properties['hw_vif_model'] == 'e1000'
        assert properties['hw_pmu'] == 'false'
