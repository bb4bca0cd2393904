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


class Cloud(base.Cloud):
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

    def _without_names(self, call):
        """Return a call without the names of guest, image and interface."""
        (first, body), *_ = sorted(call.body.items())
        if first == 'action':
            body = call.body
        path = call.path.split('/')
        return path[1], path[3:], {
            key: value for key, value in body.items() if key not in (
                'userid', 'image_name', 'url', 'image', 'guest_networks')}


class TestZVM:
    @pytest.mark.smoke
    def test_create_rebuild_and_delete(self, cloud):
        image = cloud.image(os_distro='rhel7.2')
        seen = cloud.useFixture(reads.Reads(cloud.driver, 'spawn'))
        cloud.told()
        server = cloud.a_server({'os_distro': 'sles12'}, image)
        assert cloud.told() == (['sles12'], ['sles12'])
        # The driver has no rebuild of its own: Nova destroys and spawns. The
        # image is there already.
        for overrides, system in (
                (None, 'sles12'), ({'os_distro': 'ubuntu16'}, 'ubuntu16'),
                ({}, 'rhel7.2')):
            answer = cloud.rebuild(server, overrides, image)
            assert answer.status == 202, answer.text
            assert cloud.told() == ([], [system])
        cloud.delete(server)
        assert seen.names == {'img_config_drive', 'os_distro'}

    def test_a_config_drive_is_transported_to_the_guest(self, cloud):
        cloud.useFixture(fixtures.MockPatch(
            'nova.virt.configdrive.ConfigDriveBuilder.make_drive'))
        image = cloud.image(os_distro='rhel7.2')
        for overrides, end in (({}, None),
                               ({'img_config_drive': 'mandatory'}, '.iso')):
            cloud.told()
            cloud.boot(overrides, image=image)
            (deployed,) = [
                call.body['transportfiles'] for call in cloud.connector.calls
                if call.body and call.body.get('action') == 'deploy']
            assert (deployed and deployed[-4:]) == end

    def test_the_first_import_of_an_image_says_what_it_is(self, cloud):
        # ZVMDriver._get_image_info asks for the image by its id.
        image = cloud.image(os_distro='rhel7.2')
        cloud.told()
        cloud.a_server({}, image)
        assert cloud.told() == (['rhel7.2'], ['rhel7.2'])
        cloud.a_server({'os_distro': 'sles12'}, image)
        assert cloud.told() == ([], ['sles12'])
        assert cloud.connector.images[image]['image_meta'][
            'os_version'] == 'rhel7.2'

    def test_an_override_gives_an_image_the_system_that_it_lacks(self, cloud):
        image = cloud.image()
        cloud.told()
        cloud.a_server({'os_distro': 'sles12'}, image)
        assert cloud.told() == (['sles12'], ['sles12'])

    def test_a_server_without_it_fails(self, cloud):
        image = cloud.image(os_distro='rhel7.2')
        answer = cloud.create({'os_distro': None}, image=image)
        assert answer.status == 202, answer.text
        cloud.wait(answer.body['server']['id'], 'ERROR')
        fault = cloud.http('GET', f'/servers/{answer.body["server"]["id"]}'
                           ).body['server']['fault']
        assert 'os_distro' in fault['message']

    def test_all_others_are_ignored(self, cloud):
        built = []
        # In the image: nova-api need not accept such an override.
        for others in ({}, {'hw_disk_bus': 'scsi', 'hw_vif_model': 'e1000',
                            'hw_firmware_type': 'uefi'}):
            image = cloud.image(os_distro='rhel7.2', **others)
            del cloud.connector.calls[:]
            cloud.a_server({}, image)
            built.append([
                cloud._without_names(call) for call in cloud.connector.calls
                if call.method == 'POST'])
        plain, overridden = built
        assert overridden == plain
        assert len(plain) == 5


class FirstStartCloud(base.Cloud):
    DRIVER = 'zvm.ZVMDriver'
    HOSTS = ()

    def prepare(self):
        connector = self.useFixture(zvm.CloudConnector())
        self.flags(instance_name_template='abc%05x')
        self.flags(group='zvm', cloud_connector_url=connector.url)


class TestFirstStart:
    """A fault of Nova: docs/source/contributor/upstream.rst."""

    CLOUD = FirstStartCloud

    def test_a_new_host_does_not_start(self, cloud):
        with pytest.raises(NotImplementedError):
            cloud.start_host('compute1')
