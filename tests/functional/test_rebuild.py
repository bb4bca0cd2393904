"""Rebuild keeps, replaces or drops the overrides."""

from unittest import mock

import fixtures
from nova.compute import api
import pytest

from testing.harness import base


class Case(base.TestCase):
    EXTENDED_HOSTS = ('compute1',)

    def assert_video(self, server, model):
        """Assert the video model in all places, and after a hard reboot."""
        for _ in range(2):
            self.assertEqual(
                model, self.system_metadata(server).get('hw_video_model'))
            self.assertEqual(
                model, self.request_spec(server).get('hw_video_model'))
            self.assertEqual(model, self.guest(server).find(
                'devices/video/model').get('type'))
            self.hard_reboot(server)

    def shown(self, server):
        return self.http('GET', f'/servers/{server}').body['server'][
            base.PARAMETER]


class Rebuild(Case):
    def test_without_the_parameter_the_overrides_stay(self):
        server = self.boot({'hw_video_model': 'vga'})
        for kwargs in ({}, {'extension': None},
                       {'extension': None, 'compute': '2.1'}):
            with self.subTest(str(kwargs)):
                answer = self.rebuild(server, **kwargs)
                self.assertEqual(202, answer.status, answer.text)
                self.assert_video(server, 'vga')
                self.assertEqual({'hw_video_model': 'vga'}, self.shown(server))

    @pytest.mark.smoke
    def test_they_stay_over_another_image_and_its_properties(self):
        server = self.boot({'hw_video_model': 'vga'},
                           image=self.image(hw_vif_model='e1000'))
        answer = self.rebuild(server, image=self.image(
            hw_video_model='cirrus', hw_rng_model='virtio'))
        self.assertEqual(202, answer.status, answer.text)
        self.assertEqual({'hw_video_model': 'vga'},
                         answer.body['server'][base.PARAMETER])
        self.assert_video(server, 'vga')
        self.assertEqual('virtio', self.request_spec(server)['hw_rng_model'])
        self.assertNotIn('hw_vif_model', self.request_spec(server))
        self.assertEqual({'hw_video_model': 'cirrus'}, self.record(server))

    def test_the_parameter_replaces_them(self):
        server = self.boot({'hw_video_model': 'vga', 'hw_boot_menu': 'true'})
        answer = self.rebuild(server, {'hw_video_model': 'cirrus'})
        self.assertEqual(202, answer.status, answer.text)
        self.assert_video(server, 'cirrus')
        self.assertNotIn('hw_boot_menu', self.system_metadata(server))
        self.assertNotIn('hw_boot_menu', self.request_spec(server))
        self.assertIsNone(self.guest(server).find('os/bootmenu'))
        self.assertEqual({'hw_video_model': 'cirrus'}, self.shown(server))

    def test_it_gives_overrides_to_a_server_that_had_none(self):
        server = self.boot()
        self.assertEqual(
            202, self.rebuild(server, {'hw_video_model': 'vga'}).status)
        self.assert_video(server, 'vga')

    def test_an_empty_object_drops_them(self):
        image = self.image(hw_video_model='cirrus')
        server = self.boot({'hw_video_model': 'vga'}, image=image)
        answer = self.rebuild(server, {}, image=image)
        self.assertEqual(202, answer.status, answer.text)
        self.assert_video(server, 'cirrus')
        self.assertEqual({}, self.record(server))
        self.assertEqual({}, self.shown(server))

    def test_null_removes_and_stays_removed(self):
        image = self.image(hw_video_model='vga')
        server = self.boot(image=image)
        self.assertEqual(202, self.rebuild(
            server, {'hw_video_model': None}, image=image).status)
        self.assertEqual({'hw_video_model': None}, self.shown(server))
        self.assertEqual('virtio', self.guest(server).find(
            'devices/video/model').get('type'))
        # nova-compute has filled in its default by now.
        self.rebuild(server, image=image)
        self.hard_reboot(server)
        self.assertEqual({'hw_video_model': None}, self.shown(server))
        self.assertEqual('virtio', self.guest(server).find(
            'devices/video/model').get('type'))

    def test_what_null_removed_is_not_in_the_request_spec_either(self):
        # nova-compute has stored its default in system metadata.
        server = self.boot({'hw_vif_model': None},
                           image=self.image(hw_vif_model='e1000'))
        self.assertIn('hw_vif_model', self.system_metadata(server))
        for image in (self.image(hw_vif_model='ne2k_pci'), None):
            kwargs = {'image': image} if image else {}
            self.assertEqual(202, self.rebuild(server, **kwargs).status)
            self.assertNotIn('hw_vif_model', self.request_spec(server))
            self.assertEqual({'hw_vif_model': None}, self.shown(server))

    def test_what_an_operator_set_survives(self):
        server = self.boot({'hw_video_model': 'vga'})
        self.set_property(server, 'hw_video_model', 'cirrus')
        self.assertEqual(202, self.rebuild(server).status)
        self.assert_video(server, 'cirrus')

    def test_what_an_operator_set_survives_where_null_removed(self):
        image = self.image(hw_video_model='vga', hw_boot_menu='true')
        removed = {'hw_video_model': None, 'hw_boot_menu': None}
        server = self.boot(removed, image=image)
        self.set_property(server, 'hw_video_model', 'cirrus')
        self.assertEqual(202, self.rebuild(server, image=image).status)
        self.assert_video(server, 'cirrus')
        self.assertIsNone(self.guest(server).find('os/bootmenu'))
        self.assertEqual(removed, self.shown(server))
        # Asking for it again removes it again.
        self.assertEqual(
            202, self.rebuild(server, removed, image=image).status)
        self.hard_reboot(server)
        self.assertEqual('virtio', self.guest(server).find(
            'devices/video/model').get('type'))

    def test_the_machine_type_is_kept(self):
        server = self.boot({'hw_machine_type': 'pc-q35-2.10'})
        self.rebuild(server)
        self.hard_reboot(server)
        self.assertEqual('pc-q35-2.10', self.system_metadata(server)[
            'hw_machine_type'])
        self.assertEqual('pc-q35-2.10', self.guest(server).find(
            'os/type').get('machine'))

    def test_a_server_without_overrides_is_rebuilt_as_ever(self):
        server = self.boot(image=self.image(hw_video_model='vga'))
        self.assertEqual(202, self.rebuild(
            server, image=self.image(hw_video_model='cirrus')).status)
        self.assert_video(server, 'cirrus')
        self.assertEqual({}, self.record(server))

    def test_a_volume_backed_server(self):
        volume = self.volume(hw_video_model='cirrus')
        server = self.boot({'hw_video_model': 'vga'}, image=None,
                           server=self.from_volume(volume))
        # Cinder tells Nova when it has written the image over the volume.
        self.useFixture(base.fixtures.MockPatch(
            'nova.volume.cinder.API.reimage_volume', autospec=False,
            side_effect=lambda *args, **kwargs: self.http(
                'POST', '/os-server-external-events', {'events': [{
                    'name': 'volume-reimaged', 'server_uuid': server,
                    'tag': volume}]}, admin=True)))
        for compute in ('2.92', '2.93'):
            with self.subTest(compute):
                answer = self.rebuild(server, compute=compute)
                self.assertEqual(202, answer.status, answer.text)
                self.assert_video(server, 'vga')
                self.assertEqual({'hw_video_model': 'vga'},
                                 self.shown(server))


class Refusals(Case):
    OPTIONS = {'allowed_properties': ['hw_*=*', 'hw_numa_*', 'hw_boot_menu'],
               'denied_properties': ['hw_boot_menu=true']}

    def assert_unchanged(self, server, answer, status, problems):
        self.assertEqual(status, answer.status, answer.text)
        self.assertEqual(problems, answer.problems)
        self.assert_video(server, 'vga')
        self.assertEqual({'hw_video_model': 'vga'}, self.shown(server))
        self.assertEqual('ACTIVE', self.http(
            'GET', f'/servers/{server}').body['server']['status'])

    def test_a_refused_rebuild_changes_nothing(self):
        server = self.boot({'hw_video_model': 'vga'})
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
            with self.subTest(str(overrides)):
                self.assert_unchanged(
                    server, self.rebuild(server, overrides), status, problems)

    def test_dropping_numa_nodes_is_a_change_too(self):
        server = self.boot({'hw_numa_nodes': '2'})
        answer = self.rebuild(server, {})
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual({'hw_numa_nodes': 'numa_change'}, answer.problems)
        self.assertEqual({'hw_numa_nodes': '2'}, self.shown(server))

    def test_dropping_nodes_of_different_sizes_names_those_that_matter(self):
        nodes = {'hw_numa_nodes': '2',
                 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1',
                 'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768'}
        server = self.boot({**nodes, 'hw_video_model': 'vga'})
        answer = self.rebuild(server, {})
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual(dict.fromkeys(nodes, 'numa_change'), answer.problems)
        self.assertEqual(
            202, self.rebuild(server, nodes).status)

    def test_a_new_image_that_changes_numa_is_refused_as_ever(self):
        server = self.boot({'hw_video_model': 'vga'})
        answer = self.rebuild(server, image=self.image(hw_numa_nodes='2'))
        self.assert_unchanged(
            server, answer, 400, {base.PARAMETER: 'numa_change'})

    def test_a_new_image_that_conflicts_with_an_override_is_refused(self):
        server = self.boot({'hw_cpu_sockets': '2', 'hw_video_model': 'vga'})
        answer = self.rebuild(
            server, image=self.image(hw_cpu_max_sockets='1'))
        self.assertEqual(400, answer.status, answer.text)
        self.assertEqual(
            {'hw_cpu_sockets': 'flavor_conflict'}, answer.problems)

    def test_what_stays_needs_no_permission_again(self):
        server = self.boot({'hw_video_model': 'vga', 'hw_boot_menu': 'false'})
        self.assertEqual(202, self.rebuild(
            server, {'hw_video_model': 'vga', 'hw_boot_menu': 'false'}).status)

    def test_without_the_version_entry_it_is_refused(self):
        server = self.boot({'hw_video_model': 'vga'})
        answer = self.rebuild(server, {}, extension=None)
        self.assert_unchanged(
            server, answer, 400, {base.PARAMETER: 'version_missing'})

    def test_an_image_that_is_gone_is_refused_and_nothing_lost(self):
        image = self.image()
        server = self.boot({'hw_video_model': 'vga'}, image=image)
        self.glance.delete(None, image)
        answer = self.rebuild(server, image=image)
        self.assertEqual(400, answer.status, answer.text)
        self.assert_video(server, 'vga')


class PastTheMerge(Case):
    """A Nova that would rebuild servers without their overrides."""

    def replace(self, *methods):
        for method in methods:
            self.useFixture(fixtures.MonkeyPatch(
                f'nova_image_override.api.compute_api.API.{method}',
                getattr(api.API, method)))

    def assert_refused(self, server, **kwargs):
        with mock.patch(
                'nova.conductor.ComputeTaskAPI.rebuild_instance') as rebuilds:
            answer = self.rebuild(server, **kwargs)
        self.assertEqual(500, answer.status, answer.text)
        self.assertFalse(rebuilds.called)
        self.assertEqual('vga', self.request_spec(server)['hw_video_model'])

    def test_one_that_merges_nothing_fails_and_changes_nothing(self):
        server = self.boot({'hw_video_model': 'vga'})
        self.replace('_get_image')
        for kwargs in (
                {}, {'image': self.image(hw_rng_model='virtio')},
                {'overrides': {'hw_video_model': 'cirrus'}},
                {'overrides': {}}):
            with self.subTest(str(kwargs)):
                self.assert_refused(server, **kwargs)
                self.assert_video(server, 'vga')
                self.assertEqual({'hw_video_model': 'vga'}, self.shown(server))

    def test_one_that_judges_nothing_is_not_sent(self):
        server = self.boot({'hw_video_model': 'vga'})
        self.replace('_handle_kernel_and_ramdisk')
        self.assert_refused(server, overrides={'hw_video_model': 'cirrus'})

    def test_nor_where_that_is_not_recorded_either(self):
        server = self.boot({'hw_video_model': 'vga'})
        self.replace('_handle_kernel_and_ramdisk', '_record_action_start')
        self.assert_refused(server, overrides={'hw_video_model': 'cirrus'})

    def test_a_server_without_overrides_is_rebuilt_as_ever(self):
        server = self.boot()
        self.replace('_get_image', '_handle_kernel_and_ramdisk')
        self.assertEqual(202, self.rebuild(server).status)


class OnAHostWithoutTheComputePart(Case):
    EXTENDED_HOSTS = ()

    @pytest.mark.smoke
    def test_a_rebuild_that_would_lose_overrides_is_409(self):
        server = self.boot({'hw_video_model': 'vga'})
        for overrides in (None, {'hw_video_model': 'cirrus'}):
            answer = self.rebuild(server, overrides)
            self.assertEqual(409, answer.status, answer.text)
            self.assertEqual({base.PARAMETER: 'host_not_ready'},
                             answer.problems)
            self.assertIn('empty image_props_override', answer.message)
        self.assert_video(server, 'vga')

    def test_dropping_them_always_works(self):
        server = self.boot({'hw_video_model': 'vga'})
        self.assertEqual(202, self.rebuild(server, {}).status)
        self.assertEqual({}, self.shown(server))
        self.assertNotIn('hw_video_model', self.request_spec(server))

    def test_a_server_without_overrides_is_rebuilt_as_ever(self):
        server = self.boot()
        self.assertEqual(202, self.rebuild(server).status)
        self.assertEqual(202, self.rebuild(server, {}).status)
        answer = self.rebuild(server, {'hw_video_model': 'cirrus'})
        self.assertEqual(409, answer.status, answer.text)
        self.assertIn('leave image_props_override out', answer.message)
