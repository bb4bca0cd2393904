"""Overrides in clouds whose hosts have drivers that ignore some.

The hosts run the libvirt driver here; their compute nodes say that they have
another one, which is all that nova-api and the scheduler know about a host.
"""

from nova import context as nova_context
from nova import objects
from nova.objects import fields

from nova_image_override.api import cloud_drivers
from testing.harness import base

VMWARE = 'VMware vCenter Server'


class Case(base.TestCase):
    SHARED = False  # nova-api remembers the drivers for a minute.
    #: Host -> the hypervisor type that it reports.
    TYPES: dict[str, str] = {}

    def setUp(self):
        super().setUp()
        for host, said in self.TYPES.items():
            node = objects.ComputeNode.get_first_node_by_host_for_old_compat(
                nova_context.get_admin_context(), host)
            node.hypervisor_type = said
            node.supported_hv_specs = [objects.HVSpec.from_list([
                fields.Architecture.X86_64, fields.HVType.VMWARE,
                fields.VMMode.HVM])]
            node.save()

    def check(self, overrides, **kwargs):
        return self.http(
            'POST', '/image-props-override/check',
            self.server_body(overrides, **kwargs))


class OneDriver(Case):
    TYPES = {'compute1': VMWARE}
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

    def test_what_an_aggregate_names_is_the_scheduler_s(self):
        aggregate = self.admin_api.post_aggregate(
            {'aggregate': {'name': 'licensed'}})['id']
        self.admin_api.post_aggregate_action(aggregate, {
            'set_metadata': {'metadata': {'os_type': 'windows'}}})
        self.assertEqual(200, self.check({'os_type': 'windows'}).status)
        self.assertEqual(400, self.check({'hw_boot_menu': 'true'}).status)


class UnknownDriver(Case):
    TYPES = {'compute1': 'fake'}
    BUILD = False

    def test_nothing_is_refused(self):
        self.assertEqual(202, self.create({'hw_disk_type': 'thin'}).status)


class Mixed(Case):
    HOSTS = ('compute1', 'compute2')
    TYPES = {'compute2': VMWARE}

    def test_a_check_tells_which_drivers_ignore_a_property(self):
        answer = self.check({'hw_boot_menu': 'true', 'hw_disk_bus': 'ide'})
        self.assertEqual(200, answer.status, answer.text)
        told = answer.body[base.PARAMETER]['overridden']
        self.assertEqual({'libvirt': 'acts', 'vmwareapi': 'ignored'},
                         told['hw_boot_menu']['drivers'])
        self.assertNotIn('drivers', told['hw_disk_bus'])

    def test_the_image_s_hypervisor_type_requires_hosts_that_act(self):
        """The recipe in docs/source/admin/drivers.rst."""
        hosts = {}
        for said in ('qemu', 'vmware'):
            image = self.image(img_hv_type=said)
            hosts[said] = [
                self.instance(self.boot(
                    {'hw_boot_menu': 'true'}, image=image)).host
                for _ in range(2)]
        self.assertEqual({'qemu': ['compute1'] * 2,
                          'vmware': ['compute2'] * 2}, hosts)

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

    def test_the_cells_are_asked_once_for_many_requests(self):
        asked = []
        original = cloud_drivers._hypervisor_types

        def count(targeted):
            asked.append(targeted)
            return original(targeted)

        self.useFixture(base.fixtures.MonkeyPatch(
            f'{cloud_drivers.__name__}._hypervisor_types', count))
        for _ in range(5):
            self.assertEqual(200, self.check({'hw_boot_menu': 'true'}).status)
        # Two cells, cell0 among them.
        self.assertEqual(2, len(asked))
