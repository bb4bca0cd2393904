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


class OnVSphere(base.Cloud):
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
        assert answer.status == 202, answer.text
        return self.vsphere.built()


class TestVMware:
    CLOUD = OnVSphere

    @pytest.mark.smoke
    def test_create_rebuild_and_delete(self, cloud):
        seen = cloud.useFixture(reads.Reads(cloud.driver, 'spawn'))
        image = cloud.an_image()
        server = cloud.a_server(OVERRIDES, image)
        assert cloud.vsphere.built() == OVERRIDDEN
        assert cloud.rebuilt(server, image) == OVERRIDDEN
        assert cloud.rebuilt(server, image, {'hw_firmware_type': 'bios'}) == (
            PLAIN._replace(firmware='bios'))
        assert cloud.rebuilt(server, image, {}) == PLAIN
        cloud.delete(server)
        assert seen.names == READ

    def test_a_removed_property_is_vsphere_s_default(self, cloud):
        cloud.a_server({'hw_vif_model': None}, cloud.an_image(
            hw_vif_model='vmxnet3', hw_cpu_cores='4'))
        assert cloud.vsphere.built() == PLAIN._replace(cores=4)

    def test_a_refused_create_makes_no_machine(self, cloud):
        wrong = {'hw_disk_bus': 'scsi', 'hw_vif_model': 'virtio',
                 'hw_video_ram': '32', 'hw_cpu_threads': '2',
                 'img_config_drive': 'mandatory'}
        del cloud.vsphere.asked[:]
        answer = cloud.create(
            wrong, image=cloud.an_image(),
            flavor=cloud.flavor(4, 512, hw_video__ram_max_mb='64'))
        cloud.assert_refused(answer, 400, dict.fromkeys(wrong, 'no_effect'))
        assert 'CreateVM_Task' not in [
            method for method, _ in cloud.vsphere.asked]


class TestFaults:
    """Faults of Nova, without overrides: in the properties of images.

    docs/source/contributor/upstream.rst describes them. A test that fails with
    a newer release means that the release fixes the fault.
    """

    CLOUD = OnVSphere

    def test_a_disk_bus_that_it_does_not_know_is_ignored(self, cloud):
        cloud.a_server(image=cloud.an_image(hw_disk_bus='virtio'))
        assert cloud.vsphere.built() == PLAIN

    def test_the_scsi_bus_alone_is_no_adapter(self, cloud):
        cloud.a_server(image=cloud.an_image(hw_disk_bus='scsi'))
        assert [disk.adapterType for disk in cloud.vsphere.disks()] == [None]

    def test_a_network_card_that_it_does_not_know_is_an_error(self, cloud):
        answer = cloud.create(
            image=cloud.an_image(hw_vif_model='virtio'),
            flavor=cloud.flavor(4, 512), server=cloud.on_a_network())
        assert answer.status == 202, answer.text
        cloud.wait(answer.body['server']['id'], 'ERROR')

    def test_video_ram_is_no_integer(self, cloud):
        cloud.a_server(image=cloud.an_image(hw_video_ram='32'))
        assert isinstance(cloud.vsphere.built().video, float)
