"""Migrations, resizes and evacuations keep overrides."""

import pytest

from tests.functional import life

Cloud = life.Cloud


class TestMoves:
    @pytest.mark.smoke
    def test_cold_migration(self, cloud):
        for server in cloud.each_kind():
            cloud.migrate(server)
            cloud.assert_guest(server)
            cloud.confirm(server)
            cloud.assert_kept(server)

    def test_cold_migration_and_back(self, cloud):
        server = cloud.a_server()
        cloud.migrate(server)
        cloud.do(server, 'revertResize')
        cloud.assert_kept(server)

    def test_resize(self, cloud):
        server = cloud.a_server()
        cloud.do(server, {'resize': {'flavorRef': cloud.flavor(
            vcpus=4, hw_rng__allowed='true')}}, 'VERIFY_RESIZE')
        cloud.assert_guest(server)
        cloud.confirm(server)
        cloud.assert_kept(server)

    def test_a_flavor_that_conflicts_is_400_and_names_the_overrides(
            self, cloud):
        overrides = {**life.OVERRIDES, 'hw_pmu': 'true'}
        server = cloud.a_server(overrides)
        for specs, blamed in (
                ({'hw__numa_nodes': '2'}, ('hw_numa_nodes',)),
                ({'hw__pmu': 'false'}, ('hw_pmu',)),
                ({'hw__pmu': 'false', 'hw__numa_nodes': '2'},
                 ('hw_numa_nodes', 'hw_pmu'))):
            flavor = cloud.flavor(vcpus=4, **specs)
            answer = cloud.act(server, {'resize': {'flavorRef': flavor}})
            answer.expect(400, dict.fromkeys(blamed, 'flavor_conflict'))
            assert 'choose a flavor' in answer.message
        cloud.assert_kept(server, overrides)

    def test_what_flavor_and_image_say_is_left_to_nova(self, cloud):
        server = cloud.a_server(
            {'hw_boot_menu': 'true'}, image=cloud.image(hw_numa_nodes='2'))
        flavor = cloud.flavor(vcpus=4, hw__numa_nodes='2')
        answer = cloud.act(server, {'resize': {'flavorRef': flavor}}).expect(
            400, {})
        assert 'hw_numa_nodes' in answer.message

    def test_a_resize_that_nova_refuses_is_refused_as_ever(self, cloud):
        server = cloud.a_server()
        flavor = cloud.instance(server).flavor.flavorid
        for target in (flavor, 'nowhere'):
            cloud.act(server, {'resize': {'flavorRef': target}}).expect(
                400, {})

    def test_evacuation(self, cloud):
        server = cloud.a_server()
        host = cloud.instance(server).host
        cloud.take_down(host)
        cloud.do(server, {'evacuate': {}}, admin=True, expected=200)
        assert cloud.instance(server).host != host
        cloud.assert_kept(server)


class TestLiveMigration:
    CLOUD = life.LiveMigrationCloud

    def test_live_migration(self, cloud):
        server = cloud.a_server()
        (other,) = {*cloud.HOSTS} - {cloud.instance(server).host}
        cloud.live_migrate(server, other)
        assert cloud.instance(server).host == other
        cloud.assert_kept(server)
