"""VMware: Nova's driver over Nova's fake of the vSphere API.

What is compared is what the driver asks vSphere to build.
"""

import pytest

from testing.drivers import base
from testing.drivers import reads
from testing.drivers import vmware

#: The properties of these tests' image, and what its guests get.
PLAIN = vmware.Guest('ubuntu64Guest', None, 1, None, ['VirtualE1000'],
                     ['VirtualLsiLogicController'], False)

OVERRIDES = {
    'os_distro': 'centos64Guest', 'hw_firmware_type': 'uefi',
    'hw_cpu_cores': '2', 'hw_cpu_sockets': '2', 'hw_disk_bus': 'scsi',
    'hw_scsi_model': 'vmpvscsi', 'hw_vif_model': 'vmxnet3',
    'img_linked_clone': 'true',
}
OVERRIDDEN = vmware.Guest(
    'centos64Guest', 'efi', 2, None, ['VirtualVmxnet3'],
    ['ParaVirtualSCSIController'], True)

#: What the driver reads to build a guest.
READ = {
    'hw_cpu_cores', 'hw_cpu_max_cores', 'hw_cpu_max_sockets',
    'hw_cpu_max_threads', 'hw_cpu_sockets', 'hw_cpu_threads', 'hw_disk_bus',
    'hw_disk_type', 'hw_firmware_type', 'hw_scsi_model', 'hw_video_ram',
    'hw_vif_model', 'img_config_drive', 'img_linked_clone', 'os_distro',
}


class OnVSphere(base.TestCase):
    DRIVER = 'vmwareapi.VMwareVCDriver'
    OPTIONS = {'allowed_properties': ['*'], 'virt_drivers': ['vmwareapi']}
    DISK_FORMAT = 'vmdk'

    def prepare(self):
        self.vsphere = self.useFixture(vmware.VSphere(self))
        self.flags(group='vmware', **self.vsphere.OPTIONS)
        self.flags(group='vnc', enabled=False)
        self.flags(group='image_cache', subdirectory_name='vmware_base')

    def an_image(self, **properties):
        return self.image(os_distro='ubuntu64Guest', **properties)

    def a_server(self, overrides=None, image=None):
        del self.vsphere.asked[:]
        return self.boot(
            overrides, image=image or self.an_image(),
            flavor=self.flavor(4, 512, hw_video__ram_max_mb='64'),
            server=self.on_a_network())

    def rebuilt(self, server, image, overrides=None):
        """Rebuild a server; return what vSphere was asked to build."""
        del self.vsphere.asked[:]
        answer = self.rebuild(server, overrides, image)
        self.assertEqual(202, answer.status, answer.text)
        return self.vsphere.built()


class VMware(OnVSphere):
    @pytest.mark.smoke
    def test_create_rebuild_and_delete(self):
        seen = self.useFixture(reads.Reads(self.driver, 'spawn'))
        image = self.an_image()
        server = self.a_server(OVERRIDES, image)
        self.assertEqual(OVERRIDDEN, self.vsphere.built())
        self.assertEqual(OVERRIDDEN, self.rebuilt(server, image))
        self.assertEqual(
            PLAIN._replace(firmware='bios'), self.rebuilt(
                server, image, {'hw_firmware_type': 'bios'}))
        self.assertEqual(PLAIN, self.rebuilt(server, image, {}))
        self.delete(server)
        self.assertEqual(READ, seen.names)

    def test_a_removed_property_is_vsphere_s_default(self):
        self.a_server({'hw_vif_model': None}, self.an_image(
            hw_vif_model='vmxnet3', hw_cpu_cores='4'))
        self.assertEqual(PLAIN._replace(cores=4), self.vsphere.built())

    def test_a_refused_create_makes_no_machine(self):
        wrong = {'hw_disk_bus': 'scsi', 'hw_vif_model': 'virtio',
                 'hw_video_ram': '32', 'hw_cpu_threads': '2',
                 'img_config_drive': 'mandatory'}
        del self.vsphere.asked[:]
        answer = self.create(
            wrong, image=self.an_image(),
            flavor=self.flavor(4, 512, hw_video__ram_max_mb='64'))
        self.assert_refused(answer, 400, dict.fromkeys(wrong, 'no_effect'))
        self.assertNotIn(
            'CreateVM_Task', [method for method, _ in self.vsphere.asked])


class Faults(OnVSphere):
    """Faults of Nova, without overrides: in the properties of images.

    docs/source/contributor/upstream.rst describes them. A test that fails with
    a newer release means that the release fixes the fault.
    """

    def test_a_disk_bus_that_it_does_not_know_is_ignored(self):
        self.a_server(image=self.an_image(hw_disk_bus='virtio'))
        self.assertEqual(PLAIN, self.vsphere.built())

    def test_the_scsi_bus_alone_is_no_adapter(self):
        self.a_server(image=self.an_image(hw_disk_bus='scsi'))
        self.assertEqual([None], [
            disk.adapterType for disk in self.vsphere.disks()])

    def test_a_network_card_that_it_does_not_know_is_an_error(self):
        answer = self.create(
            image=self.an_image(hw_vif_model='virtio'),
            flavor=self.flavor(4, 512), server=self.on_a_network())
        self.assertEqual(202, answer.status, answer.text)
        self.wait(answer.body['server']['id'], 'ERROR')

    def test_video_ram_is_no_integer(self):
        self.a_server(image=self.an_image(hw_video_ram='32'))
        self.assertIsInstance(self.vsphere.built().video, float)
