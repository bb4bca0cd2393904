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


class OnVSphere(base.TestCase):
    DRIVER = 'vmwareapi.VMwareVCDriver'
    OPTIONS = {'allowed_properties': ['*'], 'virt_drivers': ['vmwareapi']}
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
        self.assertIn(answer.status, (200, 202, 204), answer.text)
        self.wait(server, status)
        return answer.body

    def assert_guest(self, guest, server):
        self.assertEqual(guest, self.vsphere.guest(server))


class Built(OnVSphere):
    @pytest.mark.smoke
    def test_create_rebuild_and_delete(self):
        image = self.an_image()
        server = self.a_server(OVERRIDES, image)
        self.assert_guest(OVERRIDDEN, server)
        # The disk type is that of the image's first boot, see Faults.
        for overrides, guest in (
                (None, OVERRIDDEN),
                ({'hw_firmware_type': 'uefi'}, PLAIN._replace(
                    firmware='efi', disk='thin')),
                ({}, PLAIN._replace(disk='thin'))):
            self.assertEqual(
                202, self.rebuild(server, overrides, image).status)
            self.assert_guest(guest, server)
        self.delete(server)
        self.assertEqual([], self.vsphere.machines())

    def test_a_removed_property_is_vsphere_s_default(self):
        image = self.an_image(hw_vif_model='vmxnet3', hw_cpu_cores='4')
        self.assertEqual(
            PLAIN._replace(cores=4), self.guest({'hw_vif_model': None}, image))

    def test_every_adapter(self):
        for model, controller in (
                ('lsilogic', 'VirtualLsiLogicController'),
                ('lsisas1068', 'VirtualLsiLogicSASController'),
                ('buslogic', 'VirtualBusLogicController'),
                ('vmpvscsi', 'ParaVirtualSCSIController')):
            with self.subTest(model):
                self.assertEqual(
                    PLAIN._replace(controller=controller), self.guest({
                        'hw_disk_bus': 'scsi', 'hw_scsi_model': model}))

    def test_the_ide_bus(self):
        self.assertEqual(PLAIN._replace(controller='VirtualIDEController'),
                         self.guest({'hw_disk_bus': 'ide'}))

    def test_every_network_card(self):
        for model, card in (
                ('e1000e', 'VirtualE1000e'), ('pcnet', 'VirtualPCNet32'),
                ('sriov', 'VirtualSriovEthernetCard'),
                ('vmxnet', 'VirtualVmxnet'), ('vmxnet3', 'VirtualVmxnet3')):
            with self.subTest(model):
                self.assertEqual(PLAIN._replace(card=card),
                                 self.guest({'hw_vif_model': model}))

    def test_every_type_of_disk(self):
        for kind, disk in (
                ('thin', 'thin'), ('thick', 'preallocated'),
                ('preallocated', 'preallocated'),
                ('eagerZeroedThick', 'eagerZeroedThick')):
            with self.subTest(kind):
                self.assertEqual(PLAIN._replace(disk=disk),
                                 self.guest({'hw_disk_type': kind}))

    def test_a_linked_clone_instead_of_a_whole_disk_and_back(self):
        for image, overrides, linked in (
                ({}, {'img_linked_clone': 'true'}, True),
                ({'img_linked_clone': 'true'}, {}, True),
                ({'img_linked_clone': 'true'},
                 {'img_linked_clone': 'false'}, False)):
            with self.subTest(image=image, overrides=overrides):
                self.assertEqual(linked, self.guest(
                    overrides, self.an_image(**image)).linked)


class Refused(OnVSphere):
    WRONG = {'hw_disk_bus': 'scsi', 'hw_vif_model': 'virtio',
             'hw_video_ram': '32', 'hw_cpu_threads': '2',
             'img_config_drive': 'mandatory'}

    def test_a_create_makes_no_machine(self):
        answer = self.create(
            self.WRONG, image=self.an_image(),
            flavor=self.flavor(4, 512, hw_video__ram_max_mb='64'))
        self.assert_refused(
            answer, 400, dict.fromkeys(self.WRONG, 'no_effect'))
        self.assertEqual([], self.vsphere.machines())

    def test_a_rebuild_leaves_the_machine(self):
        image = self.an_image()
        server = self.a_server(OVERRIDES, image)
        before = self.vsphere.machine(server)
        for wrong in ({'hw_vif_model': 'virtio'}, {'hw_disk_bus': 'virtio'}):
            answer = self.rebuild(server, wrong, image)
            self.assertEqual(
                (400, dict.fromkeys(wrong, 'no_effect')),
                (answer.status, answer.problems))
        self.assertEqual(before, self.vsphere.machine(server))
        self.assert_guest(OVERRIDDEN, server)


class Life(OnVSphere):
    def test_resize(self):
        overrides = dict(OVERRIDES)
        del overrides['hw_cpu_sockets']  # They must make all CPUs.
        server = self.a_used_server(overrides)
        larger = self.flavor(8, 1024)
        for after, cpus in (('revertResize', 4), ('confirmResize', 8)):
            self.do(server, {'resize': {'flavorRef': larger}}, 'VERIFY_RESIZE')
            self.assertEqual(
                8, self.vsphere.machine(server).config.hardware.numCPU)
            self.assert_guest(OVERRIDDEN, server)
            self.do(server, {after: None})
            self.assertEqual(
                cpus, self.vsphere.machine(server).config.hardware.numCPU)
            self.assert_guest(OVERRIDDEN, server)
        self.assertEqual(WRITTEN, self.on_disk(server))

    def test_rescue_from_the_server_s_own_image(self):
        self.rescue(self.an_image())

    def test_rescue_from_another_image(self):
        self.rescue(self.an_image(), self.image(
            os_distro='sles12_64Guest', hw_firmware_type='bios',
            hw_vif_model='pcnet', hw_disk_bus='ide'))

    def rescue(self, image, other=None):
        server = self.a_used_server(image=image)
        body = {'rescue_image_ref': other} if other else {}
        self.do(server, {'rescue': body}, 'RESCUE')
        # The guest is as it was, with a disk of the image next to its own.
        self.assert_guest(OVERRIDDEN, server)
        root, rescue = self.vsphere.disks(server)
        self.assertEqual(root.controllerKey, rescue.controllerKey)
        self.assertIn(other or image, rescue.backing.fileName)
        self.do(server, {'unrescue': None})
        self.assert_guest(OVERRIDDEN, server)
        self.assertEqual(1, len(self.vsphere.disks(server)))
        self.assertEqual(WRITTEN, self.on_disk(server))

    def test_a_snapshot_has_the_disk_and_boots_alike(self):
        overrides = dict(OVERRIDES)
        del overrides['hw_disk_type']  # See Faults.
        server = self.a_used_server(overrides)
        image = self.snapshot(server)
        self.assert_guest(
            OVERRIDDEN._replace(disk='preallocated'), server)
        self.delete(server)
        # Nova makes the server's properties the snapshot's own.
        other = self.a_server(image=image)
        self.assert_guest(OVERRIDDEN, other)
        self.assertEqual(WRITTEN, self.on_disk(other))
        self.assertEqual({}, self.record(other))

    def test_a_snapshot_that_says_what_its_disk_is_boots_with_it(self):
        server = self.a_used_server()
        image = self.snapshot(server)
        self.delete(server)
        self.glance.images[image]['properties']['hw_disk_type'] = (
            'streamOptimized')
        other = self.a_server(image=image)
        self.assertEqual(WRITTEN, self.on_disk(other))
        self.assert_guest(OVERRIDDEN, other)

    def test_a_snapshot_that_inherits_no_type_of_disk_boots_with_it(self):
        self.flags(non_inheritable_image_properties=[
            *CONF.non_inheritable_image_properties, 'hw_disk_type'])
        server = self.a_used_server()
        image = self.snapshot(server)
        self.delete(server)
        other = self.a_server(image=image)
        self.assertEqual(WRITTEN, self.on_disk(other))
        self.assert_guest(OVERRIDDEN, other)

    def test_an_unshelved_server_has_its_disk(self):
        self.flags(shelved_offload_time=0)
        server = self.a_used_server()
        self.do(server, {'shelve': None}, 'SHELVED_OFFLOADED')
        self.assertEqual([], self.vsphere.machines())
        self.do(server, {'unshelve': None})
        self.assert_guest(OVERRIDDEN, server)
        self.assertEqual(WRITTEN, self.on_disk(server))

    def test_overrides_of_a_shelved_server_act_when_it_is_unshelved(self):
        self.flags(shelved_offload_time=0)
        server = self.a_used_server()
        self.do(server, {'shelve': None}, 'SHELVED_OFFLOADED')
        answer = self.http('PUT', f'/servers/{server}', {'server': {
            base.PARAMETER: {'hw_vif_model': 'e1000e'}}})
        self.assertEqual(200, answer.status, answer.text)
        self.do(server, {'unshelve': None})
        self.assert_guest(
            PLAIN._replace(card='VirtualE1000e', disk='thin'), server)
        self.assertEqual(WRITTEN, self.on_disk(server))


class Faults(OnVSphere):
    """Faults of Nova, in the properties of images.

    docs/source/contributor/upstream.rst describes them. A test that fails with
    a newer release means that the release fixes the fault.
    """

    def test_the_first_boot_of_an_image_decides_on_the_type_of_its_disks(self):
        image = self.an_image()
        self.assertEqual(PLAIN, self.guest(image=image))
        self.assertEqual(PLAIN, self.guest({'hw_disk_type': 'thin'}, image))
        self.assertEqual(1, self.contents.downloaded.count(image))

    def test_a_snapshot_with_a_type_of_disk_boots_without_the_disk(self):
        server = self.a_used_server(
            {}, image=self.an_image(hw_disk_type='thin'))
        image = self.snapshot(server)
        self.delete(server)
        other = self.a_server(image=image)
        self.assertEqual(
            self.contents.uploaded[image], self.on_disk(other))
        self.assertNotEqual(WRITTEN, self.on_disk(other))

    def test_a_config_drive_is_an_error(self):
        def make(path):
            # A descriptor of ISO 9660, and bytes that are not text.
            pathlib.Path(path).write_bytes(b'\1CD001\1' + bytes([0xf7]))

        self.useFixture(fixtures.MockPatch(
            'nova.virt.configdrive.ConfigDriveBuilder.make_drive',
            side_effect=make))
        answer = self.create(
            image=self.an_image(img_config_drive='mandatory'),
            flavor=self.flavor(4, 512))
        self.assertEqual(202, answer.status, answer.text)
        self.wait(answer.body['server']['id'], 'ERROR')


class Plain(OnVSphere):
    """A host with nova-compute as Nova ships it."""

    EXTENDED_HOSTS = ()

    def test_an_unshelved_server_with_a_type_of_disk_has_lost_the_disk(self):
        self.flags(shelved_offload_time=0)
        server = self.a_used_server()
        self.do(server, {'shelve': None}, 'SHELVED_OFFLOADED')
        self.do(server, {'unshelve': None})
        self.assertNotEqual(WRITTEN, self.on_disk(server))
