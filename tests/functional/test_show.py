"""Where the overrides in force are shown."""

import pytest

from testing import release
from testing.harness import base


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
                assert shown == cloud.shown(server, compute=compute)
                answer = cloud.http(
                    'PUT', f'/servers/{server}', {'server': {'name': 'new'}},
                    compute=compute).expect(200)
                assert answer.body['server'][base.PARAMETER] == shown
            detail = cloud.http(
                'GET', '/servers/detail', compute=compute).body['servers']
            assert {server['id']: server[base.PARAMETER]
                    for server in detail} == expected

    def test_a_server_that_is_still_being_built_shows_them(self, cloud):
        server = cloud.unbuilt({'hw_disk_bus': 'scsi'})
        assert cloud.shown(server) == {'hw_disk_bus': 'scsi'}
        (detail,) = cloud.http('GET', '/servers/detail').body['servers']
        assert detail[base.PARAMETER] == {'hw_disk_bus': 'scsi'}

    def test_a_server_that_failed_to_build_shows_them(self, cloud):
        server = cloud.created(cloud.create({'img_hv_type': 'vmware'}), 'ERROR')
        assert cloud.shown(server) == {'img_hv_type': 'vmware'}

    def test_the_plain_list_and_create_do_not_show_them(self, cloud):
        answer = cloud.create({'hw_disk_bus': 'scsi'})
        assert base.PARAMETER not in answer.text
        cloud.created(answer)
        assert base.PARAMETER not in cloud.http('GET', '/servers').text

    def test_other_projects_do_not_see_them(self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'})
        cloud.http('GET', f'/servers/{server}',
                   headers={'X-Auth-Project-Id': 'f' * 32}).expect(404)

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
