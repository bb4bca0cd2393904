"""Glance's property protections hold in nova-api."""

import re

from nova_image_override import errors
from nova_image_override.api import startup
from testing.harness import base
from tests.functional import protections


class ProtectionsTest(protections.ProtectionsCase):
    """Create, and discovery."""

    def test_member_may_set_what_glance_lets_members_create(self):
        server = self.boot({'hw_disk_bus': 'scsi'}, image=self.image())
        self.assertEqual('scsi', self.system_metadata(server)['hw_disk_bus'])

    def test_member_may_not_change_what_only_admin_updates(self):
        self.assert_refused(
            self.create({'hw_disk_bus': 'scsi'},
                        image=self.image(hw_disk_bus='virtio')),
            403, {'hw_disk_bus': errors.PROTECTED})

    def test_member_may_change_what_only_admin_creates(self):
        server = self.boot({'hw_video_model': 'vga'},
                           image=self.image(hw_video_model='qxl'))
        self.assertEqual(
            'vga', self.system_metadata(server)['hw_video_model'])

    def test_member_may_not_set_what_only_admin_creates(self):
        answer = self.create({'hw_video_model': 'vga'}, image=self.image())
        self.assert_refused(
            answer, 403, {'hw_video_model': errors.PROTECTED})
        self.assertIn('do not let you create hw_video_model', answer.message)

    def test_admin_may_by_role_and_by_no_other_right(self):
        self.boot({'hw_video_model': 'vga', 'hw_disk_bus': 'scsi'},
                  image=self.image(hw_disk_bus='virtio'), admin=True)

    def test_admin_may_not_what_no_section_names(self):
        self.assert_refused(
            self.create({'hw_pmu': 'true'}, image=self.image(), admin=True),
            403, {'hw_pmu': errors.PROTECTED})

    def test_removal_needs_delete(self):
        image = self.image(hw_disk_bus='virtio', hw_video_model='qxl')
        self.assert_refused(
            self.create({'hw_disk_bus': None, 'hw_video_model': None},
                        image=image),
            403, {'hw_disk_bus': errors.PROTECTED})
        server = self.boot({'hw_video_model': None}, image=image)
        # The libvirt driver has put its own default in its place.
        self.assertNotEqual(
            'qxl', self.system_metadata(server)['hw_video_model'])
        self.assertEqual({'hw_video_model': 'qxl'}, self.record(server))

    def test_removal_of_what_nobody_deletes_is_refused_to_admin_too(self):
        self.assert_refused(
            self.create({'hw_disk_bus': None}, admin=True,
                        image=self.image(hw_disk_bus='virtio')),
            403, {'hw_disk_bus': errors.PROTECTED})

    def test_a_legacy_name_in_the_image_is_what_is_updated(self):
        self.boot({'hw_vm_mode': 'hvm'}, image=self.image())
        # There is a server now, hence no assert_refused.
        answer = self.create(
            {'hw_vm_mode': 'hvm'}, image=self.image(vm_mode='xen'))
        self.assertEqual(403, answer.status)
        self.assertEqual({'hw_vm_mode': errors.PROTECTED}, answer.problems)
        self.assertIn('update vm_mode, which is hw_vm_mode too',
                      answer.message)

    def test_a_name_that_glance_closes_closes_the_others(self):
        self.assert_refused(
            self.create({'hw_architecture': 'x86_64'}, image=self.image()),
            403, {'hw_architecture': errors.PROTECTED})

    def test_a_legacy_name_that_no_section_names_closes_nothing(self):
        self.boot({'hw_disk_bus': 'scsi'}, image=self.image())

    def test_unless_the_image_has_it(self):
        self.assert_refused(
            self.create({'hw_disk_bus': 'scsi'},
                        image=self.image(vmware_adaptertype='ide')),
            403, {'hw_disk_bus': errors.PROTECTED})

    def test_a_name_that_the_override_writes_too_must_be_permitted(self):
        # Nova reads auto_disk_config past ImageMetaProps. With it, Glance
        # would refuse the server's snapshots, to admin too.
        answer = self.create(
            {'hw_auto_disk_config': 'true'}, image=self.image(), admin=True)
        self.assert_refused(
            answer, 403, {'hw_auto_disk_config': errors.PROTECTED})
        self.assertIn('create auto_disk_config, which is hw_auto_disk_config '
                      'too: no section', answer.message)
        self.assertIn('[^auto_disk_config$]', answer.message)

    def test_its_removal_writes_nothing(self):
        self.boot({'hw_auto_disk_config': None}, image=self.image())

    def test_members_of_a_family_are_judged_each(self):
        self.assert_refused(
            self.create({
                'hw_numa_nodes': '2', 'hw_numa_mem.0': '512',
                'hw_numa_mem.1': '512', 'hw_numa_cpus.0': '0',
                'hw_numa_cpus.1': '1', 'trait:HW_CPU_X86_AVX': 'required'},
                image=self.image()),
            403, {'hw_numa_mem.1': errors.PROTECTED,
                  'trait:HW_CPU_X86_AVX': errors.PROTECTED})

    def test_all_refusals_come_in_one_answer(self):
        self.assert_refused(
            self.create({'hw_disk_bus': 'scsi', 'hw_video_model': 'vga',
                         'hw_pmu': 'true', 'img_owner_id': 'x'},
                        image=self.image(hw_disk_bus='virtio')),
            403, {'hw_disk_bus': errors.PROTECTED,
                  'hw_video_model': errors.PROTECTED,
                  'hw_pmu': errors.PROTECTED,
                  'img_owner_id': errors.NEVER})

    def test_the_properties_of_a_volume_are_its_images(self):
        volume = self.volume(hw_disk_bus='virtio', hw_video_model='qxl')
        self.assert_refused(
            self.create({'hw_disk_bus': 'scsi', 'hw_video_model': 'vga'},
                        image=None, server=self.from_volume(volume)),
            403, {'hw_disk_bus': errors.PROTECTED})

    def test_the_roles_of_a_service_token_do_not_count(self):
        self.assert_refused(
            self.create({'os_distro': 'debian'}, image=self.image(),
                        headers={'X-Service-Roles': 'service'}),
            403, {'os_distro': errors.PROTECTED})

    def test_roles_are_compared_without_case(self):
        self.boot({'os_distro': 'debian'}, image=self.image(),
                  roles='member,reader,SERVICE')

    def test_no_override_needs_no_permission(self):
        self.boot({}, image=self.image(hw_disk_bus='virtio', hw_pmu='true'))

    def offered(self, **kwargs):
        return self.http('GET', '/image-props-override', **kwargs).body[
            base.PARAMETER]['schema']

    def test_what_could_be_permitted_on_some_image_is_on_offer(self):
        offered = self.offered()['properties']
        self.assertEqual(
            ['hw_boot_menu', 'hw_disk_bus', 'hw_numa_nodes', 'hw_rng_model',
             'hw_video_model', 'hw_vm_mode'],
            sorted(name for name, value in offered.items()
                   if 'string' in value['type']))

    def test_what_can_only_be_removed_is_on_offer_as_null(self):
        self.assertEqual(
            'null', self.offered()['properties']['hw_auto_disk_config'][
                'type'])

    def test_null_is_on_offer_where_the_caller_may_delete(self):
        offered = self.offered()['properties']
        self.assertNotIn(None, offered['hw_disk_bus']['enum'])
        self.assertIn(None, offered['hw_video_model']['enum'])

    def test_indexes_that_glance_closes_are_not_on_offer(self):
        (pattern,) = (p for p in self.offered()['patternProperties']
                      if 'hw_numa_mem' in p)
        self.assertTrue(re.search(pattern, 'hw_numa_mem.0'))
        self.assertFalse(re.search(pattern, 'hw_numa_mem.1'))

    def test_admin_is_offered_more(self):
        offered = self.offered(admin=True)['properties']
        self.assertIn('hw_architecture', offered)
        self.assertNotIn('os_distro', offered)


class PoliciesTest(base.TestCase):
    """Protections by policies in Glance's policy.yaml."""

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

    def test_the_policy_decides(self):
        self.assert_refused(
            self.create({'hw_disk_bus': 'scsi', 'hw_pmu': 'true'},
                        image=self.image()),
            403, {'hw_pmu': errors.PROTECTED})
        self.boot({'hw_disk_bus': 'scsi', 'hw_pmu': 'true'},
                  image=self.image(), admin=True)

    def test_a_policy_that_is_not_defined_refuses_admin_too(self):
        self.assert_refused(
            self.create({'hw_video_model': 'vga'}, image=self.image(),
                        admin=True),
            403, {'hw_video_model': errors.PROTECTED})


class StartTest(base.TestCase):
    """A bad file stops nova-api; requests never see it."""

    HOSTS = ()

    def test_a_bad_file_stops_the_start(self):
        self.flags(
            group='image_override',
            property_protection_file=protections.file_with(
                self, '[x_(]\ncreate = @\n'))
        exc = self.assertRaises(
            errors.StartupError, startup.read, base.CONF)
        self.assertIn('malformed regular expression', str(exc))

    def test_a_bad_import_file_stops_the_start(self):
        self.flags(group='image_override', glance_image_import_files=[
            protections.file_with(
                self, '[image_import_opts]\nimage_import_plugins = a\n')])
        exc = self.assertRaises(
            errors.StartupError, startup.read, base.CONF)
        self.assertIn('glance_image_import_files', str(exc))
