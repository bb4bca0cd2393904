"""Glance's property protections hold in nova-api."""

import re

import pytest

from nova_image_override import errors
from nova_image_override.api import startup
from testing.harness import base
from tests.functional import protections


class Cloud(protections.Cloud):
    def offered(self, **kwargs):
        return self.http('GET', '/image-props-override', **kwargs).body[
            base.PARAMETER]['schema']


class TestProtections:
    """Create, and discovery."""

    def test_member_may_set_what_glance_lets_members_create(self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'}, image=cloud.image())
        assert cloud.system_metadata(server)['hw_disk_bus'] == 'scsi'

    def test_member_may_not_change_what_only_admin_updates(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'scsi'},
                         image=cloud.image(hw_disk_bus='virtio')),
            403, {'hw_disk_bus': errors.PROTECTED})

    def test_member_may_change_what_only_admin_creates(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'},
                            image=cloud.image(hw_video_model='qxl'))
        assert cloud.system_metadata(server)['hw_video_model'] == 'vga'

    def test_member_may_not_set_what_only_admin_creates(self, cloud):
        answer = cloud.create({'hw_video_model': 'vga'}, image=cloud.image())
        cloud.assert_refused(
            answer, 403, {'hw_video_model': errors.PROTECTED})
        assert 'do not let you create hw_video_model' in answer.message

    def test_admin_may_by_role_and_by_no_other_right(self, cloud):
        cloud.boot({'hw_video_model': 'vga', 'hw_disk_bus': 'scsi'},
                   image=cloud.image(hw_disk_bus='virtio'), admin=True)

    def test_admin_may_not_what_no_section_names(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_pmu': 'true'}, image=cloud.image(), admin=True),
            403, {'hw_pmu': errors.PROTECTED})

    def test_removal_needs_delete(self, cloud):
        image = cloud.image(hw_disk_bus='virtio', hw_video_model='qxl')
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': None, 'hw_video_model': None},
                         image=image),
            403, {'hw_disk_bus': errors.PROTECTED})
        server = cloud.boot({'hw_video_model': None}, image=image)
        # The libvirt driver has put its own default in its place.
        assert cloud.system_metadata(server)['hw_video_model'] != 'qxl'
        assert cloud.record(server) == {'hw_video_model': 'qxl'}

    def test_removal_of_what_nobody_deletes_is_refused_to_admin_too(
            self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': None}, admin=True,
                         image=cloud.image(hw_disk_bus='virtio')),
            403, {'hw_disk_bus': errors.PROTECTED})

    def test_a_legacy_name_in_the_image_is_what_is_updated(self, cloud):
        cloud.boot({'hw_vm_mode': 'hvm'}, image=cloud.image())
        # There is a server now, hence no assert_refused.
        answer = cloud.create(
            {'hw_vm_mode': 'hvm'}, image=cloud.image(vm_mode='xen'))
        assert answer.status == 403
        assert answer.problems == {'hw_vm_mode': errors.PROTECTED}
        assert 'update vm_mode, which is hw_vm_mode too' in answer.message

    def test_a_name_that_glance_closes_closes_the_others(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_architecture': 'x86_64'}, image=cloud.image()),
            403, {'hw_architecture': errors.PROTECTED})

    def test_a_legacy_name_that_no_section_names_closes_nothing(self, cloud):
        cloud.boot({'hw_disk_bus': 'scsi'}, image=cloud.image())

    def test_unless_the_image_has_it(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'scsi'},
                         image=cloud.image(vmware_adaptertype='ide')),
            403, {'hw_disk_bus': errors.PROTECTED})

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

    def test_its_removal_writes_nothing(self, cloud):
        cloud.boot({'hw_auto_disk_config': None}, image=cloud.image())

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

    def test_the_properties_of_a_volume_are_its_images(self, cloud):
        volume = cloud.volume(hw_disk_bus='virtio', hw_video_model='qxl')
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'scsi', 'hw_video_model': 'vga'},
                         image=None, server=cloud.from_volume(volume)),
            403, {'hw_disk_bus': errors.PROTECTED})

    def test_the_roles_of_a_service_token_do_not_count(self, cloud):
        cloud.assert_refused(
            cloud.create({'os_distro': 'debian'}, image=cloud.image(),
                         headers={'X-Service-Roles': 'service'}),
            403, {'os_distro': errors.PROTECTED})

    def test_roles_are_compared_without_case(self, cloud):
        cloud.boot({'os_distro': 'debian'}, image=cloud.image(),
                   roles='member,reader,SERVICE')

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


class PoliciesCloud(base.Cloud):
    def _setup_services(self) -> None:
        text = ''.join(
            f'[^{name}$]\ncreate = {policy}\nread = @\n'
            f'update = {policy}\ndelete = {policy}\n'
            for name, policy in (
                ('hw_disk_bus', 'makers'), ('hw_pmu', 'admins'),
                ('hw_video_model', 'mispelled')))
        self.OPTIONS = {
            'allowed_properties': ['*'],
            'property_protection_file': protections.file_with(self, text),
            'property_protection_rule_format': 'policies',
            'property_protection_policy_file': protections.file_with(
                self, '"makers": "role:member"\n"admins": "role:admin"\n')}
        super()._setup_services()


class TestPolicies:
    """Protections by policies in Glance's policy.yaml."""

    CLOUD = PoliciesCloud

    def test_the_policy_decides(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_disk_bus': 'scsi', 'hw_pmu': 'true'},
                         image=cloud.image()),
            403, {'hw_pmu': errors.PROTECTED})
        cloud.boot({'hw_disk_bus': 'scsi', 'hw_pmu': 'true'},
                   image=cloud.image(), admin=True)

    def test_a_policy_that_is_not_defined_refuses_admin_too(self, cloud):
        cloud.assert_refused(
            cloud.create({'hw_video_model': 'vga'}, image=cloud.image(),
                         admin=True),
            403, {'hw_video_model': errors.PROTECTED})


class TestStart:
    """A bad file stops nova-api; requests never see it."""

    CLOUD = base.Cloud

    HOSTS = ()

    def test_a_bad_file_stops_the_start(self, cloud):
        cloud.flags(
            group='image_override',
            property_protection_file=protections.file_with(
                cloud, '[x_(]\ncreate = @\n'))
        with pytest.raises(errors.StartupError) as exc:
            startup.read(base.CONF)
        assert 'malformed regular expression' in str(exc.value)

    def test_a_bad_import_file_stops_the_start(self, cloud):
        cloud.flags(group='image_override', glance_image_import_files=[
            protections.file_with(
                cloud, '[image_import_opts]\nimage_import_plugins = a\n')])
        with pytest.raises(errors.StartupError) as exc:
            startup.read(base.CONF)
        assert 'glance_image_import_files' in str(exc.value)
