"""Glance's property protections hold in nova-api."""

import re

from nova_image_override import errors
from testing.harness import base
from tests.functional import protections


class Cloud(protections.Cloud):
    def offered(self, **kwargs):
        return self.discover(**kwargs)['schema']


class TestProtections:
    """Create, and discovery."""

    def test_removal_needs_glances_delete(self, cloud):
        image = cloud.image(hw_disk_bus='virtio', hw_video_model='qxl')
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': None, 'hw_video_model': None},
                         image=image),
            403, {'hw_disk_bus': errors.PROTECTED})
        server = cloud.boot({'hw_video_model': None}, image=image)
        # The libvirt driver has put its own default in its place.
        assert cloud.system_metadata(server)['hw_video_model'] != 'qxl'
        assert cloud.record(server) == {'hw_video_model': 'qxl'}

    def test_a_legacy_name_in_the_image_is_what_is_updated(self, cloud):
        cloud.boot({'hw_vm_mode': 'hvm'}, image=cloud.image())
        # There is a server now, hence no assert_refused.
        answer = cloud.create(
            {'hw_vm_mode': 'hvm'}, image=cloud.image(vm_mode='xen'))
        answer.expect(403, {'hw_vm_mode': errors.PROTECTED})
        assert 'update vm_mode, which is hw_vm_mode too' in answer.message

    def test_a_name_that_the_override_writes_too_must_be_permitted(self, cloud):
        # Nova reads auto_disk_config past ImageMetaProps. With it, Glance
        # would refuse the server's snapshots, to admin too.
        answer = cloud.create(
            {'hw_auto_disk_config': 'true'}, image=cloud.image(), admin=True)
        cloud.assert_refused(
            answer, 403, {'hw_auto_disk_config': errors.PROTECTED})
        assert ('create auto_disk_config, which is hw_auto_disk_config '
                'too: no section') in answer.message
        assert '[^auto_disk_config$]' in answer.message

    def test_members_of_a_family_are_judged_each(self, cloud):
        cloud.assert_refused(
            cloud.create({
                'hw_numa_nodes': '2', 'hw_numa_mem.0': '512',
                'hw_numa_mem.1': '512', 'hw_numa_cpus.0': '0',
                'hw_numa_cpus.1': '1', 'trait:HW_CPU_X86_AVX': 'required'},
                image=cloud.image()),
            403, {'hw_numa_mem.1': errors.PROTECTED,
                  'trait:HW_CPU_X86_AVX': errors.PROTECTED})

    def test_all_refusals_come_in_one_answer(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'scsi', 'hw_video_model': 'vga',
                          'hw_pmu': 'true', 'img_owner_id': 'x'},
                         image=cloud.image(hw_disk_bus='virtio')),
            403, {'hw_disk_bus': errors.PROTECTED,
                  'hw_video_model': errors.PROTECTED,
                  'hw_pmu': errors.PROTECTED,
                  'img_owner_id': errors.NEVER})

    def test_the_roles_of_a_service_token_do_not_count(self, cloud):
        cloud.assert_refused(
            cloud.create({'os_distro': 'debian'}, image=cloud.image(),
                         headers={'X-Service-Roles': 'service'}),
            403, {'os_distro': errors.PROTECTED})

    def test_no_override_needs_no_permission(self, cloud):
        cloud.boot({}, image=cloud.image(hw_disk_bus='virtio', hw_pmu='true'))

    def test_what_could_be_permitted_on_some_image_is_on_offer(self, cloud):
        offered = cloud.offered()['properties']
        assert sorted(name for name, value in offered.items()
                      if 'string' in value['type']) == [
                          'hw_boot_menu', 'hw_disk_bus', 'hw_numa_nodes',
                          'hw_rng_model', 'hw_video_model', 'hw_vm_mode']

    def test_what_can_only_be_removed_is_on_offer_as_null(self, cloud):
        assert cloud.offered(
        )['properties']['hw_auto_disk_config']['type'] == 'null'

    def test_null_is_on_offer_where_the_caller_may_delete(self, cloud):
        offered = cloud.offered()['properties']
        assert None not in offered['hw_disk_bus']['enum']
        assert None in offered['hw_video_model']['enum']

    def test_indexes_that_glance_closes_are_not_on_offer(self, cloud):
        (pattern,) = (p for p in cloud.offered()['patternProperties']
                      if 'hw_numa_mem' in p)
        assert re.search(pattern, 'hw_numa_mem.0')
        assert not re.search(pattern, 'hw_numa_mem.1')

    def test_admin_is_offered_more(self, cloud):
        offered = cloud.offered(admin=True)['properties']
        assert 'hw_architecture' in offered
        assert 'os_distro' not in offered


IMPORT = '''
[image_import_opts]
image_import_plugins = [inject_image_metadata]
[inject_metadata_properties]
ignore_user_roles = admin, builder
inject = hw_vif_model:virtio,vmware_adaptertype:lsiLogic,hw_numa_mem.1:512
'''


class OrderCloud(base.Cloud):
    def _setup_services(self) -> None:
        self.OPTIONS = {
            'allowed_properties': ['hw_*'],
            'denied_properties': ['hw_disk_bus'],
            'glance_image_import_files': [
                protections.file_with(self, IMPORT)],
            'property_protection_file': protections.file_with(
                self,
                '[x]\ncreate=@\nread=@\nupdate=@\ndelete=@\n')}
        super()._setup_services()


class TestOrder:
    """Injection is checked after our lists and before protections."""

    CLOUD = OrderCloud

    def test_each_property_is_told_its_first_refusal(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'ide', 'os_distro': 'debian',
                          'hw_vif_model': 'e1000', 'hw_pmu': 'true'},
                         image=cloud.image()),
            403, {'hw_disk_bus': errors.DENIED,
                  'os_distro': errors.NOT_ALLOWED,
                  'hw_vif_model': errors.INJECTED,
                  'hw_pmu': errors.PROTECTED})
