"""Rebuild keeps, replaces or drops the overrides."""

from unittest import mock

import fixtures
from nova.compute import api
import pytest

from testing import release
from testing.harness import base


class Cloud(base.Cloud):
    EXTENDED_HOSTS = ('compute1',)

    def assert_video(self, server, model):
        """Assert the video model in all places, and after a hard reboot."""
        for _ in range(2):
            assert self.system_metadata(server).get('hw_video_model') == model
            assert self.request_spec(server).get('hw_video_model') == model
            assert self.video(server) == model
            self.hard_reboot(server)

    def assert_unchanged(self, server, answer, status, problems):
        answer.expect(status, problems)
        self.assert_video(server, 'vga')
        assert self.shown(server) == {'hw_video_model': 'vga'}
        assert self.show(server)['status'] == 'ACTIVE'


class TestRebuild:
    def test_without_the_parameter_the_overrides_stay(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        for kwargs in ({}, {'extension': None},
                       {'extension': None, 'compute': '2.1'}):
            cloud.rebuild(server, **kwargs).expect(202)
            cloud.assert_video(server, 'vga')
            assert cloud.shown(server) == {'hw_video_model': 'vga'}

    @pytest.mark.smoke
    def test_overrides_stay_over_another_image_and_its_properties(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'},
                            image=cloud.image(hw_vif_model='e1000'))
        answer = cloud.rebuild(server, image=cloud.image(
            hw_video_model='cirrus', hw_rng_model='virtio')).expect(202)
        assert answer.body['server'][base.PARAMETER] == {
            'hw_video_model': 'vga'}
        cloud.assert_video(server, 'vga')
        assert cloud.request_spec(server)['hw_rng_model'] == 'virtio'
        assert 'hw_vif_model' not in cloud.request_spec(server)
        assert cloud.record(server) == {'hw_video_model': 'cirrus'}

    def test_the_parameter_replaces_them(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga', 'hw_boot_menu': 'true'})
        cloud.rebuild(server, {'hw_video_model': 'cirrus'}).expect(202)
        cloud.assert_video(server, 'cirrus')
        assert 'hw_boot_menu' not in cloud.system_metadata(server)
        assert 'hw_boot_menu' not in cloud.request_spec(server)
        assert cloud.guest(server).find('os/bootmenu') is None
        assert cloud.shown(server) == {'hw_video_model': 'cirrus'}

    def test_a_rebuild_gives_overrides_to_a_server_that_had_none(self, cloud):
        server = cloud.boot()
        assert cloud.rebuild(server, {'hw_video_model': 'vga'}).status == 202
        cloud.assert_video(server, 'vga')

    def test_an_empty_object_drops_them(self, cloud):
        image = cloud.image(hw_video_model='cirrus')
        server = cloud.boot({'hw_video_model': 'vga'}, image=image)
        cloud.rebuild(server, {}, image=image).expect(202)
        cloud.assert_video(server, 'cirrus')
        assert cloud.record(server) == {}
        assert cloud.shown(server) == {}

    def test_null_removes_and_stays_removed(self, cloud):
        image = cloud.image(hw_video_model='vga')
        server = cloud.boot(image=image)
        # nova-compute has filled in its default by the second time.
        for overrides in ({'hw_video_model': None}, None):
            assert cloud.rebuild(server, overrides, image=image).status == 202
            cloud.hard_reboot(server)
            assert cloud.shown(server) == {'hw_video_model': None}
            assert cloud.video(server) == 'virtio'

    def test_what_null_removed_is_not_in_the_request_spec_either(self, cloud):
        # nova-compute has stored its default in system metadata.
        server = cloud.boot({'hw_vif_model': None},
                            image=cloud.image(hw_vif_model='e1000'))
        assert 'hw_vif_model' in cloud.system_metadata(server)
        for image in (cloud.image(hw_vif_model='ne2k_pci'), base.IMAGE):
            assert cloud.rebuild(server, image=image).status == 202
            assert 'hw_vif_model' not in cloud.request_spec(server)
            assert cloud.shown(server) == {'hw_vif_model': None}

    def test_what_an_operator_set_survives(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        cloud.set_property(server, 'hw_video_model', 'cirrus')
        assert cloud.shown(server) == {'hw_video_model': 'cirrus'}
        assert cloud.rebuild(server).status == 202
        cloud.assert_video(server, 'cirrus')

    @pytest.mark.skipif(
        release.NUMBER < 28, reason='nova-manage leaves the request spec alone')
    def test_what_an_operator_set_survives_where_null_removed(self, cloud):
        image = cloud.image(hw_video_model='vga', hw_boot_menu='true')
        removed = {'hw_video_model': None, 'hw_boot_menu': None}
        server = cloud.boot(removed, image=image)
        cloud.set_property(server, 'hw_video_model', 'cirrus')
        assert cloud.rebuild(server, image=image).status == 202
        cloud.assert_video(server, 'cirrus')
        assert cloud.guest(server).find('os/bootmenu') is None
        assert cloud.shown(server) == removed
        # Asking for it again removes it again.
        assert cloud.rebuild(server, removed, image=image).status == 202
        cloud.hard_reboot(server)
        assert cloud.video(server) == 'virtio'

    def test_a_locked_server_keeps_its_overrides(self, cloud):
        server = cloud.boot({'hw_boot_menu': 'true'})
        assert cloud.act(server, {'lock': None}).status == 202
        for overrides in (None, {}, {'hw_boot_menu': 'false'}):
            cloud.rebuild(server, overrides).expect(409)
            assert cloud.shown(server) == {'hw_boot_menu': 'true'}
        assert cloud.rebuild(server, {}, admin=True).status == 202
        assert cloud.shown(server) == {}

    def test_a_server_without_overrides_is_rebuilt_as_ever(self, cloud):
        server = cloud.boot(image=cloud.image(hw_video_model='vga'))
        assert cloud.rebuild(
            server, image=cloud.image(hw_video_model='cirrus')).status == 202
        cloud.assert_video(server, 'cirrus')
        assert cloud.record(server) == {}

    def test_a_volume_backed_server(self, cloud):
        volume = cloud.volume(hw_video_model='cirrus')
        server = cloud.boot({'hw_video_model': 'vga'}, image=None,
                            server=cloud.from_volume(volume))
        # Cinder tells Nova when it has written the image over the volume.
        cloud.useFixture(base.fixtures.MockPatch(
            'nova.volume.cinder.API.reimage_volume', autospec=False,
            side_effect=lambda *args, **kwargs: cloud.http(
                'POST', '/os-server-external-events', {'events': [{
                    'name': 'volume-reimaged', 'server_uuid': server,
                    'tag': volume}]}, admin=True)))
        for compute in ('2.92', '2.93'):
            cloud.rebuild(server, compute=compute).expect(202)
            cloud.assert_video(server, 'vga')
            assert cloud.shown(server) == {'hw_video_model': 'vga'}


class TestRefusals:
    OPTIONS = {'allowed_properties': ['hw_*=*', 'hw_numa_*', 'hw_boot_menu'],
               'denied_properties': ['hw_boot_menu=true']}

    def test_a_refused_rebuild_changes_nothing(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        for overrides, status, problems in (
                ({'hw_video_model': 'bad', 'x': 'y'}, 400,
                 {'hw_video_model': 'invalid_value', 'x': 'unknown'}),
                ({'hw_boot_menu': 'true', 'os_type': 'linux'}, 403,
                 {'hw_boot_menu': 'denied', 'os_type': 'not_allowed'}),
                ({'hw_video_model': None}, 403,
                 {'hw_video_model': 'value_not_allowed'}),
                ({'hw_video_ram': '1'}, 400,
                 {'hw_video_ram': 'flavor_conflict'}),
                ({'hw_video_model': 'cirrus', 'hw_numa_nodes': '2'}, 400,
                 {'hw_numa_nodes': 'numa_change'}),
                ({'hw_numa_cpus.1': '1'}, 400,
                 {'hw_numa_cpus.1': 'numa_gap'}),
                ('hw_video_model=ide', 400, {base.PARAMETER: 'invalid_type'})):
            cloud.assert_unchanged(
                server, cloud.rebuild(server, overrides), status, problems)

    def test_dropping_numa_nodes_is_a_change_too(self, cloud):
        server = cloud.boot({'hw_numa_nodes': '2'})
        cloud.rebuild(server, {}).expect(400, {'hw_numa_nodes': 'numa_change'})
        assert cloud.shown(server) == {'hw_numa_nodes': '2'}

    def test_dropping_nodes_of_different_sizes_names_those_that_matter(
            self, cloud):
        nodes = {'hw_numa_nodes': '2',
                 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1',
                 'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768'}
        server = cloud.boot({**nodes, 'hw_video_model': 'vga'})
        cloud.rebuild(server, {}).expect(
            400, dict.fromkeys(nodes, 'numa_change'))
        assert cloud.rebuild(server, nodes).status == 202

    def test_a_new_image_that_changes_numa_is_refused_as_ever(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        answer = cloud.rebuild(server, image=cloud.image(hw_numa_nodes='2'))
        cloud.assert_unchanged(
            server, answer, 400, {base.PARAMETER: 'numa_change'})

    def test_a_new_image_that_conflicts_with_an_override_is_refused(
            self, cloud):
        server = cloud.boot({'hw_cpu_sockets': '2', 'hw_video_model': 'vga'})
        answer = cloud.rebuild(
            server, image=cloud.image(hw_cpu_max_sockets='1'))
        answer.expect(400, {'hw_cpu_sockets': 'flavor_conflict'})

    def test_without_the_version_entry_it_is_refused(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        answer = cloud.rebuild(server, {}, extension=None)
        cloud.assert_unchanged(
            server, answer, 400, {base.PARAMETER: 'version_missing'})

    def test_an_image_that_is_gone_is_refused_and_nothing_lost(self, cloud):
        image = cloud.image()
        server = cloud.boot({'hw_video_model': 'vga'}, image=image)
        cloud.glance.delete(None, image)
        cloud.rebuild(server, image=image).expect(400)
        cloud.assert_video(server, 'vga')


class PastTheMergeCloud(Cloud):
    def merge_nothing(self):
        self.useFixture(fixtures.MonkeyPatch(
            'nova_image_override.api.compute_api.API._get_image',
            api.API._get_image))

    def assert_refused(self, server, **kwargs):
        with mock.patch(
                'nova.conductor.ComputeTaskAPI.rebuild_instance') as rebuilds:
            self.rebuild(server, **kwargs).expect(500)
        assert not rebuilds.called
        assert self.request_spec(server)['hw_video_model'] == 'vga'


class TestPastTheMerge:
    """A Nova that would rebuild servers without their overrides."""

    CLOUD = PastTheMergeCloud

    def test_a_nova_that_merges_nothing_fails_and_changes_nothing(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        cloud.merge_nothing()
        for kwargs in (
                {}, {'image': cloud.image(hw_rng_model='virtio')},
                {'overrides': {'hw_video_model': 'cirrus'}},
                {'overrides': {}}):
            cloud.assert_refused(server, **kwargs)
            cloud.assert_video(server, 'vga')
            assert cloud.shown(server) == {'hw_video_model': 'vga'}

    def test_a_server_without_overrides_is_rebuilt_as_ever(self, cloud):
        server = cloud.boot()
        cloud.merge_nothing()
        assert cloud.rebuild(server).status == 202


class TestOnAHostWithoutTheComputePart:
    EXTENDED_HOSTS = ()

    @pytest.mark.smoke
    def test_a_rebuild_that_would_lose_overrides_is_409(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        for overrides in (None, {'hw_video_model': 'cirrus'}):
            answer = cloud.rebuild(server, overrides).expect(
                409, {base.PARAMETER: 'host_not_ready'})
            assert 'empty image_props_override' in answer.message
        cloud.assert_video(server, 'vga')

    def test_dropping_them_always_works(self, cloud):
        server = cloud.boot({'hw_video_model': 'vga'})
        assert cloud.rebuild(server, {}).status == 202
        assert cloud.shown(server) == {}
        assert 'hw_video_model' not in cloud.request_spec(server)

    def test_a_server_without_overrides_is_rebuilt_as_ever(self, cloud):
        server = cloud.boot()
        assert cloud.rebuild(server).status == 202
        assert cloud.rebuild(server, {}).status == 202
        answer = cloud.rebuild(server, {'hw_video_model': 'cirrus'}).expect(
            409)
        assert 'leave image_props_override out' in answer.message
