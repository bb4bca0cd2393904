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


class Cloud(base.Cloud):
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


class TestOneDriver:
    TYPES = {'compute1': VMWARE}
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

    def test_what_an_aggregate_names_is_the_scheduler_s(self, cloud):
        aggregate = cloud.admin_api.post_aggregate(
            {'aggregate': {'name': 'licensed'}})['id']
        cloud.admin_api.post_aggregate_action(aggregate, {
            'set_metadata': {'metadata': {'os_type': 'windows'}}})
        assert cloud.check({'os_type': 'windows'}).status == 200
        assert cloud.check({'hw_boot_menu': 'true'}).status == 400


class TestUnknownDriver:
    TYPES = {'compute1': 'fake'}
    BUILD = False

    def test_nothing_is_refused(self, cloud):
        assert cloud.create({'hw_disk_type': 'thin'}).status == 202


class TestMixed:
    HOSTS = ('compute1', 'compute2')
    TYPES = {'compute2': VMWARE}

    def test_a_check_tells_which_drivers_ignore_a_property(self, cloud):
        answer = cloud.check({'hw_boot_menu': 'true', 'hw_disk_bus': 'ide'})
        assert answer.status == 200, answer.text
        told = answer.body[base.PARAMETER]['overridden']
        assert told['hw_boot_menu']['drivers'] == {
            'libvirt': 'acts', 'vmwareapi': 'ignored'}
        assert 'drivers' not in told['hw_disk_bus']

    def test_the_image_s_hypervisor_type_requires_hosts_that_act(self, cloud):
        """The recipe in docs/source/admin/drivers.rst."""
        hosts = {}
        for said in ('qemu', 'vmware'):
            image = cloud.image(img_hv_type=said)
            hosts[said] = [
                cloud.instance(cloud.boot(
                    {'hw_boot_menu': 'true'}, image=image)).host
                for _ in range(2)]
        assert hosts == {'qemu': ['compute1'] * 2, 'vmware': ['compute2'] * 2}

    def test_a_trait_requires_hosts_that_act(self, cloud):
        """The other recipe."""
        provider = cloud.compute_rp_uuids['compute1']
        cloud._create_trait('CUSTOM_LIBVIRT')
        cloud._set_provider_traits(provider, [
            *cloud._get_provider_traits(provider), 'CUSTOM_LIBVIRT'])
        image = cloud.image(**{'trait:CUSTOM_LIBVIRT': 'required'})
        assert [
            cloud.instance(cloud.boot({'hw_boot_menu': 'true'},
                                      image=image)).host
            for _ in range(2)] == ['compute1'] * 2

    def test_the_cells_are_asked_once_for_many_requests(self, cloud):
        asked = []
        original = cloud_drivers._hypervisor_types

        def count(targeted):
            asked.append(targeted)
            return original(targeted)

        cloud.useFixture(base.fixtures.MonkeyPatch(
            f'{cloud_drivers.__name__}._hypervisor_types', count))
        for _ in range(5):
            assert cloud.check({'hw_boot_menu': 'true'}).status == 200
        # Two cells, cell0 among them.
        assert len(asked) == 2
