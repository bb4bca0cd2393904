"""Overrides in clouds whose hosts have drivers that ignore some.

The hosts run the libvirt driver here. nova-api knows their drivers from the
option virt_drivers alone, the scheduler from what the compute nodes say.
"""

from nova import context as nova_context
from nova import objects
from nova.objects import fields

from nova_image_override.cmd import cells
from testing.harness import base


class TestOneDriver:
    OPTIONS = {'allowed_properties': ['*'], 'virt_drivers': ['vmwareapi']}
    BUILD = False

    def test_what_the_driver_ignores_or_fails_on_is_refused(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'virtio', 'hw_vif_model': 'virtio',
                          'hw_boot_menu': 'true'}), 400,
            dict.fromkeys(('hw_disk_bus', 'hw_vif_model', 'hw_boot_menu'),
                          'no_effect'))
        answer = cloud.check({'hw_disk_bus': 'scsi'})
        cloud.assert_refused(answer, 400, {'hw_disk_bus': 'no_effect'})
        assert 'needs hw_scsi_model' in answer.message

    def test_what_it_acts_on_is_taken(self, cloud):
        for overrides in (
                {'hw_disk_bus': 'ide'}, {'hw_firmware_type': 'uefi'},
                {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'vmpvscsi'}):
            assert cloud.check(overrides).status == 200
        assert cloud.create({'hw_vif_model': 'e1000'}).status == 202


class MixedCloud(base.Cloud):
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


class TestMixed:
    CLOUD = MixedCloud

    def test_a_check_tells_which_drivers_ignore_a_property(self, cloud):
        answer = cloud.check(
            {'hw_boot_menu': 'true', 'hw_disk_bus': 'ide'}).expect(200)
        told = answer.body[base.PARAMETER]['overridden']
        assert told['hw_boot_menu']['drivers'] == {
            'libvirt': 'acts', 'vmwareapi': 'ignored'}
        assert 'drivers' not in told['hw_disk_bus']

    def test_the_check_command_finds_what_the_hosts_have(self, cloud):
        assert {node.hypervisor_type for _, node in cells.compute_nodes()} == {
            'QEMU', 'VMware vCenter Server'}

    def test_the_image_s_hypervisor_type_requires_hosts_that_act(self, cloud):
        """The recipe in docs/source/admin/drivers.rst."""
        chosen = {}
        for said in ('qemu', 'vmware'):
            image = cloud.image(img_hv_type=said)
            chosen[said] = [
                cloud.instance(cloud.boot(
                    {'hw_boot_menu': 'true'}, image=image)).host
                for _ in range(2)]
        assert chosen == {'qemu': ['compute1'] * 2, 'vmware': ['compute2'] * 2}

    def test_a_trait_requires_hosts_that_act(self, cloud):
        """The other recipe."""
        cloud.give_trait('compute1', 'CUSTOM_LIBVIRT')
        image = cloud.image(**{'trait:CUSTOM_LIBVIRT': 'required'})
        assert [
            cloud.instance(cloud.boot({'hw_boot_menu': 'true'},
                                      image=image)).host
            for _ in range(2)] == ['compute1'] * 2
