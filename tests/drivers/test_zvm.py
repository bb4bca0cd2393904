"""z/VM: Nova's driver over the cloud connector's HTTP API.

It reads ``os_distro``, and passes it to the connector twice: when the image is
imported, and when a network interface is created. What decides on a config
drive is Nova's own (``nova.virt.configdrive.required_by``).
"""

import fixtures
from nova.virt.zvm import driver
import pytest

from testing.drivers import base
from testing.drivers import reads
from testing.drivers import zvm


class ZVM(base.TestCase):
    DRIVER = 'zvm.ZVMDriver'

    def prepare(self):
        self.connector = self.useFixture(zvm.CloudConnector())
        # z/VM's names of guests have at most eight characters.
        self.flags(instance_name_template='abc%05x', vif_plugging_timeout=0)
        self.flags(group='zvm', cloud_connector_url=self.connector.url,
                   image_tmp_path=self.useFixture(fixtures.TempDir()).path)
        # What a z/VM host needs to start for the first time
        # (docs/source/contributor/upstream.rst).
        self.useFixture(fixtures.MockPatchObject(
            driver.ZVMDriver, 'list_instance_uuids', return_value=[]))

    def a_server(self, overrides, image):
        return self.boot(overrides, image=image, server=self.on_a_network())

    def told(self):
        """Return the systems of imports and interfaces since the last call."""
        calls = self.connector.calls[:]
        del self.connector.calls[:]
        posts = [call for call in calls if call.method == 'POST']
        return ([call.body['image']['image_meta']['os_version']
                 for call in posts if call.path == '/images'],
                [call.body['interface']['os_version']
                 for call in posts if call.path.endswith('/interface')])

    @pytest.mark.smoke
    def test_create_rebuild_and_delete(self):
        image = self.image(os_distro='rhel7.2')
        seen = self.useFixture(reads.Reads(self.driver, 'spawn'))
        self.told()
        server = self.a_server({'os_distro': 'sles12'}, image)
        self.assertEqual((['sles12'], ['sles12']), self.told())
        # The driver has no rebuild of its own: Nova destroys and spawns. The
        # image is there already.
        for overrides, system in (
                (None, 'sles12'), ({'os_distro': 'ubuntu16'}, 'ubuntu16'),
                ({}, 'rhel7.2')):
            answer = self.rebuild(server, overrides, image)
            self.assertEqual(202, answer.status, answer.text)
            self.assertEqual(([], [system]), self.told())
        self.delete(server)
        self.assertEqual({'img_config_drive', 'os_distro'}, seen.names)

    def test_a_config_drive_is_transported_to_the_guest(self):
        self.useFixture(fixtures.MockPatch(
            'nova.virt.configdrive.ConfigDriveBuilder.make_drive'))
        image = self.image(os_distro='rhel7.2')
        for overrides, end in (({}, None),
                               ({'img_config_drive': 'mandatory'}, '.iso')):
            self.told()
            self.boot(overrides, image=image)
            (deployed,) = [
                call.body['transportfiles'] for call in self.connector.calls
                if call.body and call.body.get('action') == 'deploy']
            self.assertEqual(end, deployed and deployed[-4:])

    def test_the_first_import_of_an_image_says_what_it_is(self):
        # ZVMDriver._get_image_info asks for the image by its id.
        image = self.image(os_distro='rhel7.2')
        self.told()
        self.a_server({}, image)
        self.assertEqual((['rhel7.2'], ['rhel7.2']), self.told())
        self.a_server({'os_distro': 'sles12'}, image)
        self.assertEqual(([], ['sles12']), self.told())
        self.assertEqual(
            'rhel7.2',
            self.connector.images[image]['image_meta']['os_version'])

    def test_an_override_gives_an_image_the_system_that_it_lacks(self):
        image = self.image()
        self.told()
        self.a_server({'os_distro': 'sles12'}, image)
        self.assertEqual((['sles12'], ['sles12']), self.told())

    def test_a_server_without_it_fails(self):
        image = self.image(os_distro='rhel7.2')
        answer = self.create({'os_distro': None}, image=image)
        self.assertEqual(202, answer.status, answer.text)
        self.wait(answer.body['server']['id'], 'ERROR')
        fault = self.http('GET', f'/servers/{answer.body["server"]["id"]}'
                          ).body['server']['fault']
        self.assertIn('os_distro', fault['message'])

    def test_all_others_are_ignored(self):
        built = []
        # In the image: nova-api need not accept such an override.
        for others in ({}, {'hw_disk_bus': 'scsi', 'hw_vif_model': 'e1000',
                            'hw_firmware_type': 'uefi'}):
            image = self.image(os_distro='rhel7.2', **others)
            del self.connector.calls[:]
            self.a_server({}, image)
            built.append([
                self._without_names(call) for call in self.connector.calls
                if call.method == 'POST'])
        plain, overridden = built
        self.assertEqual(plain, overridden)
        self.assertEqual(5, len(plain))

    def _without_names(self, call):
        """Return a call without the names of guest, image and interface."""
        (first, body), *_ = sorted(call.body.items())
        if first == 'action':
            body = call.body
        path = call.path.split('/')
        return path[1], path[3:], {
            key: value for key, value in body.items() if key not in (
                'userid', 'image_name', 'url', 'image', 'guest_networks')}


class FirstStart(base.TestCase):
    """A fault of Nova: docs/source/contributor/upstream.rst."""

    DRIVER = 'zvm.ZVMDriver'
    HOSTS = ()

    def prepare(self):
        connector = self.useFixture(zvm.CloudConnector())
        self.flags(instance_name_template='abc%05x')
        self.flags(group='zvm', cloud_connector_url=connector.url)

    def test_a_new_host_does_not_start(self):
        self.assertRaises(
            NotImplementedError, self.start_host, 'compute1')
