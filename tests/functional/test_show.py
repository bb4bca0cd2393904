"""Where the overrides in force are shown."""

from unittest import mock

import pytest

from nova_image_override import record
from testing.harness import base


class Show(base.TestCase):
    def shown(self, answer):
        self.assertIn(answer.status, (200, 202), answer.text)
        return answer.body['server'][base.PARAMETER]

    @pytest.mark.smoke
    def test_show_detail_and_update_in_every_kind_of_answer(self):
        # 2.1 has the oldest answer schema, 2.73 loads system metadata, 2.98
        # shows image properties; response_validation is "error" throughout.
        with_overrides = self.boot({'hw_disk_bus': 'scsi'})
        without = self.boot()
        expected = {with_overrides: {'hw_disk_bus': 'scsi'}, without: {}}
        for compute in ('2.1', '2.37', '2.72', '2.73', '2.98', 'latest'):
            with self.subTest(compute):
                for server, shown in expected.items():
                    self.assertEqual(shown, self.shown(self.http(
                        'GET', f'/servers/{server}', compute=compute)))
                    self.assertEqual(shown, self.shown(self.http(
                        'PUT', f'/servers/{server}',
                        {'server': {'name': 'new'}}, compute=compute)))
                detail = self.http(
                    'GET', '/servers/detail', compute=compute).body['servers']
                self.assertEqual(expected, {
                    server['id']: server[base.PARAMETER]
                    for server in detail})

    def test_a_server_that_is_still_being_built_shows_them(self):
        with mock.patch(base.BUILDS):
            server = self.create(
                {'hw_disk_bus': 'scsi'}).body['server']['id']
        self.assertEqual({'hw_disk_bus': 'scsi'}, self.shown(
            self.http('GET', f'/servers/{server}')))
        (detail,) = self.http('GET', '/servers/detail').body['servers']
        self.assertEqual({'hw_disk_bus': 'scsi'}, detail[base.PARAMETER])

    def test_a_server_that_failed_to_build_shows_them(self):
        server = self.create({'img_hv_type': 'vmware'}).body['server']['id']
        self.wait(server, 'ERROR')
        self.assertEqual({'img_hv_type': 'vmware'}, self.shown(
            self.http('GET', f'/servers/{server}')))

    def test_the_plain_list_and_create_do_not_show_them(self):
        answer = self.create({'hw_disk_bus': 'scsi'})
        self.assertNotIn(base.PARAMETER, answer.text)
        self.wait(answer.body['server']['id'])
        self.assertNotIn(
            base.PARAMETER, self.http('GET', '/servers').text)

    def test_other_projects_do_not_see_them(self):
        server = self.boot({'hw_disk_bus': 'scsi'})
        answer = self.http('GET', f'/servers/{server}',
                           headers={'X-Auth-Project-Id': 'f' * 32})
        self.assertEqual(404, answer.status)

    def test_what_an_operator_sets_later_is_what_is_in_force(self):
        server = self.boot({'hw_disk_bus': 'scsi'})
        instance = self.instance(server)
        # As nova-manage image_property set writes it.
        instance.system_metadata['image_hw_disk_bus'] = 'virtio'
        with base.nova_context.target_cell(
                base.nova_context.get_admin_context(),
                self.cell_mappings['cell1']) as context:
            instance._context = context
            instance.save()
        self.assertEqual({'hw_disk_bus': 'virtio'}, self.shown(
            self.http('GET', f'/servers/{server}')))

    def test_below_2_73_a_list_costs_no_query_for_each_server(self):
        for _ in range(3):
            self.boot({'hw_disk_bus': 'scsi'})
        loads = []
        original = base.objects.Instance.obj_load_attr

        def counted(instance, name):
            loads.append(name)
            return original(instance, name)

        self.useFixture(base.fixtures.MonkeyPatch(
            'nova.objects.Instance.obj_load_attr', counted))
        answer = self.http('GET', '/servers/detail', compute='2.1')
        self.assertEqual(
            3, answer.text.count(f'"{base.PARAMETER}"'), answer.text)
        self.assertNotIn('system_metadata', loads)

    def test_the_record_is_kept_out_of_snapshots(self):
        server = self.boot({'hw_disk_bus': 'scsi'})
        answer = self.http('POST', f'/servers/{server}/action',
                           {'createImage': {'name': 'snap'}})
        self.assertEqual(202, answer.status, answer.text)
        image = self.glance.show(None, answer.body['image_id'])
        self.assertEqual('scsi', image['properties']['hw_disk_bus'])
        self.assertEqual([], [
            name for name in image['properties']
            if name.startswith(record.SET_PREFIX)])
        self.wait(server)
