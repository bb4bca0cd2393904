"""Overrides in clouds whose hosts have drivers that ignore some.

The hosts run the libvirt driver here. nova-api knows their drivers from the
option virt_drivers alone, the scheduler from what the compute nodes say.
"""

from nova import context as nova_context
from nova import objects
from nova.objects import fields

from nova_image_override.cmd.check import hosts
from testing.harness import base


class Case(base.TestCase):
    def check(self, overrides, **kwargs):
        return self.http(
            'POST', '/image-props-override/check',
            self.server_body(overrides, **kwargs))


class OneDriver(Case):
    OPTIONS = {'allowed_properties': ['*'], 'virt_drivers': ['vmwareapi']}
    BUILD = False

    def test_what_the_driver_ignores_or_fails_on_is_refused(self):
        self.assert_refused(
            self.create({'hw_disk_bus': 'virtio', 'hw_vif_model': 'virtio',
                         'hw_boot_menu': 'true'}), 400,
            dict.fromkeys(('hw_disk_bus', 'hw_vif_model', 'hw_boot_menu'),
                          'no_effect'))
        answer = self.check({'hw_disk_bus': 'scsi'})
        self.assert_refused(answer, 400, {'hw_disk_bus': 'no_effect'})
        self.assertIn('needs hw_scsi_model', answer.message)

    def test_what_it_acts_on_is_taken(self):
        for overrides in (
                {'hw_disk_bus': 'ide'}, {'hw_firmware_type': 'uefi'},
                {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'vmpvscsi'}):
            self.assertEqual(200, self.check(overrides).status)
        self.assertEqual(202, self.create({'hw_vif_model': 'e1000'}).status)


class Mixed(Case):
    SHARED = False  # One of its hosts reports another type.
    OPTIONS = {'allowed_properties': ['*'],
               'virt_drivers': ['libvirt', 'vmwareapi']}
    HOSTS = ('compute1', 'compute2')

    def setUp(self):
        super().setUp()
        node = objects.ComputeNode.get_first_node_by_host_for_old_compat(
            nova_context.get_admin_context(), 'compute2')
        node.hypervisor_type = 'VMware vCenter Server'
        node.supported_hv_specs = [objects.HVSpec.from_list([
            fields.Architecture.X86_64, fields.HVType.VMWARE,
            fields.VMMode.HVM])]
        node.save()

    def test_a_check_tells_which_drivers_ignore_a_property(self):
        answer = self.check({'hw_boot_menu': 'true', 'hw_disk_bus': 'ide'})
        self.assertEqual(200, answer.status, answer.text)
        told = answer.body[base.PARAMETER]['overridden']
        self.assertEqual({'libvirt': 'acts', 'vmwareapi': 'ignored'},
                         told['hw_boot_menu']['drivers'])
        self.assertNotIn('drivers', told['hw_disk_bus'])

    def test_the_check_command_finds_what_the_hosts_have(self):
        self.assertEqual({'QEMU', 'VMware vCenter Server'},
                         hosts.hypervisor_types())

    def test_the_image_s_hypervisor_type_requires_hosts_that_act(self):
        """The recipe in docs/source/admin/drivers.rst."""
        chosen = {}
        for said in ('qemu', 'vmware'):
            image = self.image(img_hv_type=said)
            chosen[said] = [
                self.instance(self.boot(
                    {'hw_boot_menu': 'true'}, image=image)).host
                for _ in range(2)]
        self.assertEqual({'qemu': ['compute1'] * 2,
                          'vmware': ['compute2'] * 2}, chosen)

    def test_a_trait_requires_hosts_that_act(self):
        """The other recipe."""
        provider = self.compute_rp_uuids['compute1']
        self._create_trait('CUSTOM_LIBVIRT')
        self._set_provider_traits(provider, [
            *self._get_provider_traits(provider), 'CUSTOM_LIBVIRT'])
        image = self.image(**{'trait:CUSTOM_LIBVIRT': 'required'})
        self.assertEqual(['compute1'] * 2, [
            self.instance(self.boot(
                {'hw_boot_menu': 'true'}, image=image)).host
            for _ in range(2)])
