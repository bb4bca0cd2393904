"""Migrations, resizes and evacuations keep overrides."""


import fixtures
from nova.objects import image_meta
from nova.tests.functional.libvirt import base as libvirt_base
import pytest

from tests.functional import life


class Cloud(life.Cloud):
    def migrate(self, server):
        self.do(server, {'migrate': None}, 'VERIFY_RESIZE', admin=True)


class TestMoves:
    @pytest.mark.smoke
    def test_cold_migration(self, cloud):
        for server in cloud.each_kind():
            cloud.migrate(server)
            cloud.assert_guest(server)
            cloud.do(server, {'confirmResize': None}, expected=204)
            cloud.assert_kept(server)

    def test_cold_migration_and_back(self, cloud):
        server = cloud.a_server()
        cloud.migrate(server)
        cloud.do(server, {'revertResize': None})
        cloud.assert_kept(server)

    def test_resize(self, cloud):
        server = cloud.a_server()
        cloud.do(server, {'resize': {'flavorRef': cloud.flavor(
            vcpus=4, hw_rng__allowed='true')}}, 'VERIFY_RESIZE')
        cloud.assert_guest(server)
        cloud.do(server, {'confirmResize': None}, expected=204)
        cloud.assert_kept(server)

    def test_a_flavor_that_conflicts_is_400_and_names_the_overrides(
            self, cloud):
        others = {'hw_pmu': 'true', 'hw_vif_multiqueue_enabled': 'true',
                  'hw_virtio_packed_ring': 'true', 'hw_sound_model': 'ich9'}
        overrides = {
            **life.OVERRIDES,
            **{name: value for name, value in others.items()
               if name in image_meta.ImageMetaProps.fields}}
        server = cloud.a_server(overrides)
        for specs, blamed in (
                ({'hw__numa_nodes': '2'}, ('hw_numa_nodes',)),
                ({'hw__pmu': 'false'}, ('hw_pmu',)),
                ({'hw__vif_multiqueue_enabled': 'false'},
                 ('hw_vif_multiqueue_enabled',)),
                ({'hw__virtio_packed_ring': 'false'},
                 ('hw_virtio_packed_ring',)),
                ({'hw__sound_model': 'ac97'}, ('hw_sound_model',)),
                ({'hw__pmu': 'false', 'hw__numa_nodes': '2'},
                 ('hw_numa_nodes', 'hw_pmu'))):
            if not set(blamed) <= set(overrides):
                continue
            answer = cloud.act(server, {'resize': {
                'flavorRef': cloud.flavor(vcpus=4, **specs)}})
            assert answer.status == 400, answer.text
            assert answer.problems == dict.fromkeys(blamed, 'flavor_conflict')
            assert 'choose a flavor' in answer.message
        cloud.assert_kept(server, overrides)

    def test_what_flavor_and_image_say_is_left_to_nova(self, cloud):
        server = cloud.a_server(
            {'hw_boot_menu': 'true'}, image=cloud.image(hw_numa_nodes='2'))
        answer = cloud.act(server, {'resize': {
            'flavorRef': cloud.flavor(vcpus=4, hw__numa_nodes='2')}})
        assert answer.status == 400, answer.text
        assert answer.problems == {}
        assert 'hw_numa_nodes' in answer.message

    def test_a_resize_that_nova_refuses_is_refused_as_ever(self, cloud):
        server = cloud.a_server()
        flavor = cloud.instance(server).flavor.flavorid
        for target in (flavor, 'nowhere'):
            answer = cloud.act(server, {'resize': {'flavorRef': target}})
            assert answer.status == 400, answer.text
            assert answer.problems == {}

    def test_evacuation(self, cloud):
        server = cloud.a_server()
        host = cloud.instance(server).host
        cloud.discard()
        cloud.computes[host].stop()
        cloud.admin_api.microversion = '2.11'
        services = cloud.admin_api.get_services(
            host=host, binary='nova-compute')
        assert len(services) == 1
        cloud.admin_api.force_down_service(host, 'nova-compute', True)
        answer = cloud.act(server, {'evacuate': {}}, admin=True)
        assert answer.status == 200, answer.text
        cloud.wait(server)
        assert cloud.instance(server).host != host
        cloud.assert_kept(server)


class LiveMigrationCloud(life.Cloud, libvirt_base.LibvirtMigrationMixin):
    SHARED = False  # The mixin's stub keeps its state on the test.

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(
            'nova.tests.fixtures.libvirt.Domain.migrateToURI3',
            self._migrate_stub))
        self.migrate_stub_ran = False


class TestLiveMigration:
    CLOUD = LiveMigrationCloud

    def test_live_migration(self, cloud):
        cloud.server = {'id': cloud.a_server()}
        host = cloud.instance(cloud.server['id']).host
        other = next(h for h in cloud.HOSTS if h != host)
        cloud.src, cloud.dest = cloud.computes[host], cloud.computes[other]
        cloud.do(cloud.server['id'], {'os-migrateLive': {
            'host': None, 'block_migration': 'auto'}}, admin=True)
        assert cloud.instance(cloud.server['id']).host == other
        cloud.assert_kept(cloud.server['id'])
