"""Migrations, resizes and evacuations keep overrides."""


import fixtures
from nova.objects import image_meta
from nova.tests.functional.libvirt import base as libvirt_base
import pytest

from tests.functional import life


class Moves(life.Case):
    def migrate(self, server):
        self.do(server, {'migrate': None}, 'VERIFY_RESIZE', admin=True)

    @pytest.mark.smoke
    def test_cold_migration(self):
        for server in self.both():
            self.migrate(server)
            self.assert_guest(server)
            self.do(server, {'confirmResize': None}, expected=204)
            self.assert_kept(server)

    def test_cold_migration_and_back(self):
        server = self.a_server()
        self.migrate(server)
        self.do(server, {'revertResize': None})
        self.assert_kept(server)

    def test_resize(self):
        server = self.a_server()
        self.do(server, {'resize': {'flavorRef': self.flavor(
            vcpus=4, hw_rng__allowed='true')}}, 'VERIFY_RESIZE')
        self.assert_guest(server)
        self.do(server, {'confirmResize': None}, expected=204)
        self.assert_kept(server)

    def test_a_flavor_that_conflicts_is_400_and_names_the_overrides(self):
        # The other four are a 500 in Nova, whose messages need the image's
        # name there.
        others = {'hw_pmu': 'true', 'hw_vif_multiqueue_enabled': 'true',
                  'hw_virtio_packed_ring': 'true', 'hw_sound_model': 'ich9'}
        overrides = {
            **life.OVERRIDES,
            **{name: value for name, value in others.items()
               if name in image_meta.ImageMetaProps.fields}}
        server = self.a_server(overrides)
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
            with self.subTest(str(specs)):
                answer = self.act(server, {'resize': {
                    'flavorRef': self.flavor(vcpus=4, **specs)}})
                self.assertEqual(400, answer.status, answer.text)
                self.assertEqual(dict.fromkeys(blamed, 'flavor_conflict'),
                                 answer.problems)
                self.assertIn('choose another flavor', answer.message)
        self.assert_kept(server, overrides)

    def test_what_flavor_and_image_say_is_left_to_nova(self):
        server = self.a_server(
            {'hw_boot_menu': 'true'}, image=self.image(hw_numa_nodes='2'))
        answer = self.act(server, {'resize': {
            'flavorRef': self.flavor(vcpus=4, hw__numa_nodes='2')}})
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual({}, answer.problems)
        self.assertIn('hw_numa_nodes', answer.message)

    def test_a_resize_that_nova_refuses_is_refused_as_ever(self):
        server = self.a_server()
        flavor = self.instance(server).flavor.flavorid
        for target in (flavor, 'nowhere'):
            answer = self.act(server, {'resize': {'flavorRef': target}})
            self.assertEqual(400, answer.status, answer.text)
            self.assertEqual({}, answer.problems)

    def test_evacuation(self):
        server = self.a_server()
        host = self.instance(server).host
        self.discard_cloud()
        self.computes[host].stop()
        self.admin_api.microversion = '2.11'
        services = self.admin_api.get_services(
            host=host, binary='nova-compute')
        self.assertEqual(1, len(services))
        self.admin_api.force_down_service(host, 'nova-compute', True)
        answer = self.act(server, {'evacuate': {}}, admin=True)
        self.assertEqual(200, answer.status, answer.text)
        self.wait(server)
        self.assertNotEqual(host, self.instance(server).host)
        self.assert_kept(server)


class LiveMigration(life.Case, libvirt_base.LibvirtMigrationMixin):
    SHARED = False  # The mixin's stub keeps its state on the test.

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(
            'nova.tests.fixtures.libvirt.Domain.migrateToURI3',
            self._migrate_stub))
        self.migrate_stub_ran = False

    def test_live_migration(self):
        self.server = {'id': self.a_server()}
        host = self.instance(self.server['id']).host
        other = next(h for h in self.HOSTS if h != host)
        self.src, self.dest = self.computes[host], self.computes[other]
        self.do(self.server['id'], {'os-migrateLive': {
            'host': None, 'block_migration': 'auto'}}, admin=True)
        self.assertEqual(other, self.instance(self.server['id']).host)
        self.assert_kept(self.server['id'])
