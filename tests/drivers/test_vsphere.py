"""VMware: Nova's driver with govmomi's simulator of vSphere.

What is compared is what vSphere has then. ``test_vmware.py`` has what the
simulator cannot follow, over Nova's fake.
"""

import pathlib

import fixtures
import nova.conf
import pytest

from testing.drivers import base
from testing.drivers import image_contents
from testing.drivers import vsphere
from testing.harness import ids

CONF = nova.conf.CONF

pytestmark = pytest.mark.skipif(
    not vsphere.PROGRAM.exists(),
    reason='there is no simulator of vSphere: "make vcsim" builds it for root '
           'on Debian')

#: The properties of these tests' image, and what its guests get.
PLAIN = vsphere.Guest(
    'ubuntu64Guest', 'bios', 1, 'VirtualE1000', 'VirtualLsiLogicController',
    'preallocated', False)

OVERRIDES = {
    'os_distro': 'centos64Guest', 'hw_firmware_type': 'uefi',
    'hw_cpu_cores': '2', 'hw_cpu_sockets': '2', 'hw_disk_bus': 'scsi',
    'hw_scsi_model': 'vmpvscsi', 'hw_vif_model': 'vmxnet3',
    'hw_disk_type': 'thin',
}
OVERRIDDEN = vsphere.Guest(
    'centos64Guest', 'efi', 2, 'VirtualVmxnet3', 'ParaVirtualSCSIController',
    'thin', False)


#: What guests have written to their disks.
WRITTEN = b'written by the guest' * 1000


class OnVSphere(base.Cloud):
    DRIVER = 'vmwareapi.VMwareVCDriver'
    DISK_FORMAT = 'vmdk'

    def prepare(self):
        self.vsphere = self.useFixture(vsphere.VSphere())
        self.contents = self.useFixture(image_contents.Contents(self.glance))
        self.flags(group='vmware', **self.vsphere.options)
        self.flags(group='vnc', enabled=False)
        self.flags(group='image_cache', subdirectory_name='vmware_base')
        self.flags(allow_resize_to_same_host=True)

    def an_image(self, **properties):
        return self.image(os_distro='ubuntu64Guest', **properties)

    def a_server(self, overrides=None, image=None):
        return self.boot(
            overrides, image=image or self.an_image(),
            flavor=self.flavor(4, 512), server=self.on_a_network())

    def guest(self, overrides=None, image=None):
        """Return the guest of a server that is deleted afterwards."""
        server = self.a_server(overrides, image)
        guest = self.vsphere.guest(server)
        self.delete(server)
        return guest

    def a_used_server(self, overrides=OVERRIDES, image=None):
        server = self.a_server(overrides, image)
        (root,) = self.vsphere.disks(server)
        self.vsphere.write(root, WRITTEN)
        return server

    def on_disk(self, server):
        """Return what is on a server's root disk."""
        return self.vsphere.read(self.vsphere.disks(server)[0])

    def snapshot(self, server):
        """Return the id of an image that is made from a server."""
        return self.do(server, {'createImage': {'name': 'taken'}})['image_id']

    def do(self, server, action, status='ACTIVE'):
        answer = self.act(server, action)
        assert answer.status in (200, 202, 204), answer.text
        self.wait(server, status)
        return answer.body

    def assert_guest(self, guest, server):
        assert self.vsphere.guest(server) == guest

    def rescue(self, image, other=None):
        server = self.a_used_server(image=image)
        body = {'rescue_image_ref': other} if other else {}
        self.do(server, {'rescue': body}, 'RESCUE')
        # The guest is as it was, with a disk of the image next to its own.
        self.assert_guest(OVERRIDDEN, server)
        root, rescue = self.vsphere.disks(server)
        assert rescue.controllerKey == root.controllerKey
        assert (other or image) in rescue.backing.fileName
        self.do(server, {'unrescue': None})
        self.assert_guest(OVERRIDDEN, server)
        assert len(self.vsphere.disks(server)) == 1
        assert self.on_disk(server) == WRITTEN


class TestBuilt:
    CLOUD = OnVSphere

    @pytest.mark.smoke
    def test_create_rebuild_and_delete(self, cloud):
        image = cloud.an_image()
        server = cloud.a_server(OVERRIDES, image)
        cloud.assert_guest(OVERRIDDEN, server)
        # The disk type is that of the image's first boot, see Faults.
        for overrides, guest in (
                (None, OVERRIDDEN),
                ({'hw_firmware_type': 'uefi'}, PLAIN._replace(
                    firmware='efi', disk='thin')),
                ({}, PLAIN._replace(disk='thin'))):
            assert cloud.rebuild(server, overrides, image).status == 202
            cloud.assert_guest(guest, server)
        cloud.delete(server)
        assert cloud.vsphere.machines() == []

    def test_a_removed_property_is_vsphere_s_default(self, cloud):
        image = cloud.an_image(hw_vif_model='vmxnet3', hw_cpu_cores='4')
        assert cloud.guest({'hw_vif_model': None},
                           image) == PLAIN._replace(cores=4)

    @pytest.mark.parametrize('model, controller', [
        ('lsilogic', 'VirtualLsiLogicController'),
        ('lsisas1068', 'VirtualLsiLogicSASController'),
        ('buslogic', 'VirtualBusLogicController'),
        ('vmpvscsi', 'ParaVirtualSCSIController')])
    def test_every_adapter(self, cloud, model, controller):
        assert cloud.guest({'hw_disk_bus': 'scsi', 'hw_scsi_model': model}) == (
            PLAIN._replace(controller=controller))

    def test_the_ide_bus(self, cloud):
        assert cloud.guest({'hw_disk_bus': 'ide'}) == (
            PLAIN._replace(controller='VirtualIDEController'))

    @pytest.mark.parametrize('model, card', [
        ('e1000e', 'VirtualE1000e'), ('pcnet', 'VirtualPCNet32'),
        ('sriov', 'VirtualSriovEthernetCard'),
        ('vmxnet', 'VirtualVmxnet'), ('vmxnet3', 'VirtualVmxnet3')])
    def test_every_network_card(self, cloud, model, card):
        assert cloud.guest({'hw_vif_model': model}) == PLAIN._replace(card=card)

    @pytest.mark.parametrize('kind, disk', [
        ('thin', 'thin'), ('thick', 'preallocated'),
        ('preallocated', 'preallocated'),
        ('eagerZeroedThick', 'eagerZeroedThick')])
    def test_every_type_of_disk(self, cloud, kind, disk):
        assert cloud.guest({'hw_disk_type': kind}) == PLAIN._replace(disk=disk)

    @pytest.mark.parametrize('image, overrides, linked', [
        ({}, {'img_linked_clone': 'true'}, True),
        ({'img_linked_clone': 'true'}, {}, True),
        ({'img_linked_clone': 'true'},
         {'img_linked_clone': 'false'}, False)], ids=ids.short)
    def test_a_linked_clone_instead_of_a_whole_disk_and_back(
            self, cloud, image, overrides, linked):
        assert cloud.guest(overrides, cloud.an_image(**image)).linked == linked


class TestRefused:
    CLOUD = OnVSphere
    WRONG = {'hw_disk_bus': 'scsi', 'hw_vif_model': 'virtio',
             'hw_video_ram': '32', 'hw_cpu_threads': '2',
             'img_config_drive': 'mandatory'}

    def test_a_create_makes_no_machine(self, cloud):
        answer = cloud.create(
            self.WRONG, image=cloud.an_image(),
            flavor=cloud.flavor(4, 512, hw_video__ram_max_mb='64'))
        cloud.assert_refused(
            answer, 400, dict.fromkeys(self.WRONG, 'no_effect'))
        assert cloud.vsphere.machines() == []

    def test_a_rebuild_leaves_the_machine(self, cloud):
        image = cloud.an_image()
        server = cloud.a_server(OVERRIDES, image)
        before = cloud.vsphere.machine(server)
        for wrong in ({'hw_vif_model': 'virtio'}, {'hw_disk_bus': 'virtio'}):
            answer = cloud.rebuild(server, wrong, image)
            assert (400, dict.fromkeys(
                wrong, 'no_effect')) == (answer.status, answer.problems)
        assert cloud.vsphere.machine(server) == before
        cloud.assert_guest(OVERRIDDEN, server)


class TestLife:
    CLOUD = OnVSphere

    def test_resize(self, cloud):
        overrides = dict(OVERRIDES)
        del overrides['hw_cpu_sockets']  # They must make all CPUs.
        server = cloud.a_used_server(overrides)
        larger = cloud.flavor(8, 1024)
        for after, cpus in (('revertResize', 4), ('confirmResize', 8)):
            cloud.do(server, {'resize': {'flavorRef': larger}}, 'VERIFY_RESIZE')
            assert cloud.vsphere.machine(server).config.hardware.numCPU == 8
            cloud.assert_guest(OVERRIDDEN, server)
            cloud.do(server, {after: None})
            assert cloud.vsphere.machine(server).config.hardware.numCPU == cpus
            cloud.assert_guest(OVERRIDDEN, server)
        assert cloud.on_disk(server) == WRITTEN

    def test_rescue_from_the_server_s_own_image(self, cloud):
        cloud.rescue(cloud.an_image())

    def test_rescue_from_another_image(self, cloud):
        cloud.rescue(cloud.an_image(), cloud.image(
            os_distro='sles12_64Guest', hw_firmware_type='bios',
            hw_vif_model='pcnet', hw_disk_bus='ide'))

    def test_a_snapshot_has_the_disk_and_boots_alike(self, cloud):
        overrides = dict(OVERRIDES)
        del overrides['hw_disk_type']  # See Faults.
        server = cloud.a_used_server(overrides)
        image = cloud.snapshot(server)
        cloud.assert_guest(
            OVERRIDDEN._replace(disk='preallocated'), server)
        cloud.delete(server)
        # Nova makes the server's properties the snapshot's own.
        other = cloud.a_server(image=image)
        cloud.assert_guest(OVERRIDDEN, other)
        assert cloud.on_disk(other) == WRITTEN
        assert cloud.record(other) == {}

    def test_a_snapshot_that_says_what_its_disk_is_boots_with_it(self, cloud):
        server = cloud.a_used_server()
        image = cloud.snapshot(server)
        cloud.delete(server)
        cloud.glance.images[image]['properties']['hw_disk_type'] = (
            'streamOptimized')
        other = cloud.a_server(image=image)
        assert cloud.on_disk(other) == WRITTEN
        cloud.assert_guest(OVERRIDDEN, other)

    def test_a_snapshot_that_inherits_no_type_of_disk_boots_with_it(
            self, cloud):
        cloud.flags(non_inheritable_image_properties=[
            *CONF.non_inheritable_image_properties, 'hw_disk_type'])
        server = cloud.a_used_server()
        image = cloud.snapshot(server)
        cloud.delete(server)
        other = cloud.a_server(image=image)
        assert cloud.on_disk(other) == WRITTEN
        cloud.assert_guest(OVERRIDDEN, other)

    def test_an_unshelved_server_has_its_disk(self, cloud):
        cloud.flags(shelved_offload_time=0)
        server = cloud.a_used_server()
        cloud.do(server, {'shelve': None}, 'SHELVED_OFFLOADED')
        assert cloud.vsphere.machines() == []
        cloud.do(server, {'unshelve': None})
        cloud.assert_guest(OVERRIDDEN, server)
        assert cloud.on_disk(server) == WRITTEN

    def test_overrides_of_a_shelved_server_act_when_it_is_unshelved(
            self, cloud):
        cloud.flags(shelved_offload_time=0)
        server = cloud.a_used_server()
        cloud.do(server, {'shelve': None}, 'SHELVED_OFFLOADED')
        answer = cloud.http('PUT', f'/servers/{server}', {'server': {
            base.PARAMETER: {'hw_vif_model': 'e1000e'}}})
        assert answer.status == 200, answer.text
        cloud.do(server, {'unshelve': None})
        cloud.assert_guest(
            PLAIN._replace(card='VirtualE1000e', disk='thin'), server)
        assert cloud.on_disk(server) == WRITTEN


class TestFaults:
    """Faults of Nova, in the properties of images.

    docs/source/contributor/upstream.rst describes them. A test that fails with
    a newer release means that the release fixes the fault.
    """

    CLOUD = OnVSphere

    def test_the_first_boot_of_an_image_decides_on_the_type_of_its_disks(
            self, cloud):
        image = cloud.an_image()
        assert cloud.guest(image=image) == PLAIN
        assert cloud.guest({'hw_disk_type': 'thin'}, image) == PLAIN
        assert cloud.contents.downloaded.count(image) == 1

    def test_a_snapshot_with_a_type_of_disk_boots_without_the_disk(self, cloud):
        server = cloud.a_used_server(
            {}, image=cloud.an_image(hw_disk_type='thin'))
        image = cloud.snapshot(server)
        cloud.delete(server)
        other = cloud.a_server(image=image)
        assert cloud.on_disk(other) == cloud.contents.uploaded[image]
        assert cloud.on_disk(other) != WRITTEN

    def test_a_config_drive_is_an_error(self, cloud):
        def make(path):
            # A descriptor of ISO 9660, and bytes that are not text.
            pathlib.Path(path).write_bytes(b'\1CD001\1' + bytes([0xf7]))

        cloud.useFixture(fixtures.MockPatch(
            'nova.virt.configdrive.ConfigDriveBuilder.make_drive',
            side_effect=make))
        answer = cloud.create(
            image=cloud.an_image(img_config_drive='mandatory'),
            flavor=cloud.flavor(4, 512))
        assert answer.status == 202, answer.text
        cloud.wait(answer.body['server']['id'], 'ERROR')


class TestPlain:
    """A host with nova-compute as Nova ships it."""

    CLOUD = OnVSphere

    EXTENDED_HOSTS = ()

    def test_an_unshelved_server_with_a_type_of_disk_has_lost_the_disk(
            self, cloud):
        cloud.flags(shelved_offload_time=0)
        server = cloud.a_used_server()
        cloud.do(server, {'shelve': None}, 'SHELVED_OFFLOADED')
        cloud.do(server, {'unshelve': None})
        assert cloud.on_disk(server) != WRITTEN
