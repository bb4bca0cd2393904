"""The rows of the map that build a device or talk to the guest."""

from unittest import mock
import xml.etree.ElementTree as ET

from nova.tests import fixtures as nova_fixtures
from nova.tests.fixtures import libvirt as fakelibvirt

from tests.functional import life


class Cloud(life.Cloud):
    def attached(self, server, path, body):
        """Return the definition of the device that a request attaches."""
        devices = []
        original = fakelibvirt.Domain.attachDeviceFlags

        def keep(domain, xml, flags):
            devices.append(ET.fromstring(xml))
            return original(domain, xml, flags)

        with mock.patch.object(
                fakelibvirt.Domain, 'attachDeviceFlags', keep):
            self.http('POST', f'/servers/{server}/{path}', body).expect(200)
        (device,) = devices
        return device


class TestAttached:
    """What is attached later is built according to the overrides too."""

    HOSTS = ('compute1',)
    EXTENDED_HOSTS = ()

    def test_a_volume(self, cloud):
        server = cloud.a_server()
        device = cloud.attached(server, 'os-volume_attachments', {
            'volumeAttachment': {
                'volumeId': nova_fixtures.CinderFixture.IMAGE_BACKED_VOL}})
        assert device.find('target').get('bus') == 'scsi'
        cloud.assert_kept(server)

    def test_a_network_interface(self, cloud):
        overrides = {**life.OVERRIDES, 'hw_vif_model': 'e1000'}
        server = cloud.a_server(overrides)
        device = cloud.attached(server, 'os-interface', {
            'interfaceAttachment': {
                'net_id': nova_fixtures.NeutronFixture.network_1['id']}})
        assert device.find('model').get('type') == 'e1000'
        cloud.assert_kept(server, overrides)

    def test_the_administrators_password(self, cloud):
        overrides = {**life.OVERRIDES, 'os_admin_user': 'boss',
                     'hw_qemu_guest_agent': 'true'}
        server = cloud.a_server(overrides)
        with mock.patch('nova.virt.libvirt.guest.Guest.set_user_password'
                        ) as set_password:
            cloud.do(server, {'changePassword': {'adminPass': 'secret'}})
        set_password.assert_called_once_with('boss', 'secret')
        cloud.assert_kept(server, overrides)
