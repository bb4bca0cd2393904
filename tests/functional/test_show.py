"""Where the overrides in force are shown."""

from unittest import mock

import pytest

from nova_image_override import metadata_keys
from testing import release
from testing.harness import base


class Cloud(base.Cloud):
    def shown(self, answer):
        assert answer.status in (200, 202), answer.text
        return answer.body['server'][base.PARAMETER]


class TestShow:
    @pytest.mark.smoke
    def test_show_detail_and_update_in_every_kind_of_answer(self, cloud):
        # 2.1 has the oldest answer schema, 2.73 loads system metadata, 2.98
        # shows image properties; response_validation is "error" throughout.
        with_overrides = cloud.boot({'hw_disk_bus': 'scsi'})
        without = cloud.boot()
        expected = {with_overrides: {'hw_disk_bus': 'scsi'}, without: {}}
        for compute in (*release.microversions(
                '2.1', '2.37', '2.72', '2.73', '2.98'), 'latest'):
            for server, shown in expected.items():
                assert shown == cloud.shown(
                    cloud.http('GET', f'/servers/{server}', compute=compute))
                assert shown == cloud.shown(
                    cloud.http('PUT', f'/servers/{server}',
                               {'server': {'name': 'new'}}, compute=compute))
            detail = cloud.http(
                'GET', '/servers/detail', compute=compute).body['servers']
            assert {server['id']: server[base.PARAMETER]
                    for server in detail} == expected

    def test_a_server_that_is_still_being_built_shows_them(self, cloud):
        with mock.patch(base.BUILDS):
            server = cloud.create(
                {'hw_disk_bus': 'scsi'}).body['server']['id']
        assert cloud.shown(cloud.http('GET', f'/servers/{server}')) == {
            'hw_disk_bus': 'scsi'}
        (detail,) = cloud.http('GET', '/servers/detail').body['servers']
        assert detail[base.PARAMETER] == {'hw_disk_bus': 'scsi'}

    def test_a_server_that_failed_to_build_shows_them(self, cloud):
        server = cloud.create({'img_hv_type': 'vmware'}).body['server']['id']
        cloud.wait(server, 'ERROR')
        assert cloud.shown(cloud.http('GET', f'/servers/{server}')) == {
            'img_hv_type': 'vmware'}

    def test_the_plain_list_and_create_do_not_show_them(self, cloud):
        answer = cloud.create({'hw_disk_bus': 'scsi'})
        assert base.PARAMETER not in answer.text
        cloud.wait(answer.body['server']['id'])
        assert base.PARAMETER not in cloud.http('GET', '/servers').text

    def test_other_projects_do_not_see_them(self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'})
        answer = cloud.http('GET', f'/servers/{server}',
                            headers={'X-Auth-Project-Id': 'f' * 32})
        assert answer.status == 404

    def test_what_an_operator_sets_later_is_what_is_in_force(self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'})
        instance = cloud.instance(server)
        # As nova-manage image_property set writes it.
        instance.system_metadata['image_hw_disk_bus'] = 'virtio'
        with base.nova_context.target_cell(
                base.nova_context.get_admin_context(),
                cloud.cell_mappings['cell1']) as context:
            instance._context = context
            instance.save()
        assert cloud.shown(cloud.http('GET', f'/servers/{server}')) == {
            'hw_disk_bus': 'virtio'}

    def test_below_2_73_a_list_costs_no_query_for_each_server(self, cloud):
        for _ in range(3):
            cloud.boot({'hw_disk_bus': 'scsi'})
        loads = []
        original = base.objects.Instance.obj_load_attr

        def counted(instance, name):
            loads.append(name)
            return original(instance, name)

        cloud.useFixture(base.fixtures.MonkeyPatch(
            'nova.objects.Instance.obj_load_attr', counted))
        answer = cloud.http('GET', '/servers/detail', compute='2.1')
        assert answer.text.count(f'"{base.PARAMETER}"') == 3, answer.text
        assert 'system_metadata' not in loads

    def test_the_record_is_kept_out_of_snapshots(self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'})
        answer = cloud.http('POST', f'/servers/{server}/action',
                            {'createImage': {'name': 'snap'}})
        assert answer.status == 202, answer.text
        image = cloud.glance.show(None, answer.body['image_id'])
        assert image['properties']['hw_disk_bus'] == 'scsi'
        assert [
            name for name in image['properties']
            if name.startswith(metadata_keys.SET_PREFIX)] == []
        cloud.wait(server)
