"""PUT /servers/{id} replaces the overrides of a server that does not run.

They act when the guest is built next: at the start of a stopped server, at
the unshelving of an offloaded one.
"""

import os
from unittest import mock

from nova import exception
from nova import objects
from nova.compute import task_states
import pytest

from testing.harness import base

NUMA = {
    'hw_numa_nodes': '2',
    'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1',
    'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768',
}

#: What LibvirtDriver._register_undefined_instance_details stores with the
#: server, and not in its request spec.
DEFAULTS = {
    'hw_cdrom_bus', 'hw_disk_bus', 'hw_input_bus', 'hw_machine_type',
    'hw_pointer_model', 'hw_video_model', 'hw_vif_model'}


class Case(base.TestCase):
    EXTENDED_HOSTS = ('compute1',)

    def update(self, server, overrides, *, body=None, **kwargs):
        """PUT /servers/{id}."""
        return self.http('PUT', f'/servers/{server}', {
            'server': {base.PARAMETER: overrides, **(body or {})}}, **kwargs)

    def do(self, server, action, status='ACTIVE'):
        answer = self.act(server, {action: None})
        self.assertEqual(202, answer.status, answer.text)
        self.wait(server, status)

    def stopped(self, overrides=None, **kwargs):
        server = self.boot(overrides, **kwargs)
        self.do(server, 'os-stop', 'SHUTOFF')
        return server

    def offloaded(self, overrides=None, **kwargs):
        """Return a server without a host; from an image by default."""
        self.flags(shelved_offload_time=0)
        server = self.boot(overrides, **kwargs)
        self.do(server, 'shelve', 'SHELVED_OFFLOADED')
        for image in self.glance.images.values():
            if image['properties'].get('instance_uuid') == server:
                image['status'] = 'active'
        return server

    def state(self, server):
        """Return all that a refusal must leave as it was."""
        instance = self.instance(server)
        spec = objects.RequestSpec.get_by_instance_uuid(
            base.nova_context.get_admin_context(), server)
        return {
            'name': instance.display_name,
            'updated': instance.updated_at,
            'system metadata': dict(instance.system_metadata),
            'NUMA': instance.numa_topology
            and instance.numa_topology.obj_to_primitive(),
            'request spec': spec.obj_to_primitive(),
            'state': (instance.vm_state, instance.task_state)}

    def assert_changed(self, server, overrides):
        """Assert that answer, metadata and request spec say the same."""
        shown = self.http('GET', f'/servers/{server}').body['server']
        self.assertEqual(overrides, shown[base.PARAMETER])
        self.assertIsNone(shown['OS-EXT-STS:task_state'])
        stored = self.system_metadata(server)
        self.assertEqual(
            overrides, {name: stored.get(name) for name in overrides})
        self.assertEqual(overrides.keys(), self.record(server).keys())
        spec = self.request_spec(server)
        expected = objects.ImageMetaProps.from_dict(dict(stored))
        differing = {
            field for field in {*expected.fields}
            if spec.get(field) != (
                getattr(expected, field)
                if expected.obj_attr_is_set(field) else None)}
        self.assertLessEqual(differing, DEFAULTS - overrides.keys())

    def assert_refused_unchanged(self, server, status, problems, overrides,
                                 **kwargs):
        before = self.state(server)
        answer = self.update(server, overrides, **kwargs)
        self.assertEqual(status, answer.status, answer.text)
        self.assertEqual(problems, answer.problems)
        self.assertEqual(before, self.state(server))
        return answer


class Stopped(Case):
    @pytest.mark.smoke
    def test_an_override_acts_at_the_next_start(self):
        server = self.stopped({'hw_machine_type': 'pc-q35-2.10'})
        before = self.built[server]
        answer = self.update(server, {'hw_video_model': 'vga'})
        self.assertEqual(200, answer.status, answer.text)
        self.assertEqual({'hw_video_model': 'vga'},
                         answer.body['server'][base.PARAMETER])
        self.assertEqual(before, self.built[server])
        self.do(server, 'os-start')
        self.assertEqual('vga', self.guest(server).find(
            'devices/video/model').get('type'))
        self.assert_changed(server, {'hw_video_model': 'vga'})
        self.hard_reboot(server)
        self.assert_changed(server, {'hw_video_model': 'vga'})

    def test_the_set_is_replaced_and_what_is_dropped_is_the_images_again(self):
        image = self.image(hw_video_model='cirrus')
        server = self.stopped({'hw_video_model': 'vga'}, image=image)
        self.assertEqual(
            200, self.update(server, {'hw_vif_model': 'e1000'}).status)
        self.assert_changed(server, {'hw_vif_model': 'e1000'})
        self.assertEqual(
            'cirrus', self.system_metadata(server)['hw_video_model'])
        self.assertEqual(200, self.update(server, {}).status)
        self.assert_changed(server, {})
        self.assertEqual({}, self.record(server))

    def test_null_removes_the_images_property(self):
        server = self.stopped(image=self.image(hw_video_model='cirrus'))
        answer = self.update(server, {'hw_video_model': None})
        self.assertEqual(200, answer.status, answer.text)
        self.assertEqual({'hw_video_model': None},
                         answer.body['server'][base.PARAMETER])
        self.assertNotIn('hw_video_model', self.system_metadata(server))
        self.assertEqual({'hw_video_model': 'cirrus'}, self.record(server))

    def test_absent_leaves_alone(self):
        server = self.stopped({'hw_video_model': 'vga'})
        answer = self.http(
            'PUT', f'/servers/{server}', {'server': {'name': 'other'}})
        self.assertEqual(200, answer.status, answer.text)
        self.assert_changed(server, {'hw_video_model': 'vga'})

    def test_the_rest_of_the_update_is_stored_too(self):
        server = self.stopped()
        answer = self.update(
            server, {'hw_video_model': 'vga'}, body={'name': 'other'})
        self.assertEqual('other', answer.body['server']['name'])
        self.assert_changed(server, {'hw_video_model': 'vga'})

    def test_it_is_among_the_servers_actions(self):
        server = self.stopped()
        self.update(server, {'hw_video_model': 'vga'})
        actions = self.http(
            'GET', f'/servers/{server}/os-instance-actions',
            admin=True).body['instanceActions']
        self.assertEqual('update_image_props', actions[0]['action'])
        detail = self.http(
            'GET', f'/servers/{server}/os-instance-actions/'
            + actions[0]['request_id'], admin=True).body['instanceAction']
        self.assertEqual(
            [('api_update_image_props', 'Success')],
            [(event['event'], event['result']) for event in detail['events']])

    def test_all_wrong_names_are_told_and_the_name_stays(self):
        server = self.stopped()
        self.assert_refused_unchanged(
            server, 400, {'hw_nothing': 'unknown', 'hw_disk_bus':
                          'invalid_value'},
            {'hw_nothing': 'x', 'hw_disk_bus': 'y'}, body={'name': 'other'})

    def test_a_conflict_with_the_flavor_is_told(self):
        server = self.stopped(flavor=self.flavor(hw__cpu_policy='shared'))
        self.assert_refused_unchanged(
            server, 400, {'hw_cpu_policy': 'flavor_conflict'},
            {'hw_cpu_policy': 'dedicated'}, body={'name': 'other'})

    def test_what_would_do_nothing_is_told(self):
        server = self.stopped()
        self.assert_refused_unchanged(
            server, 400, {'hw_tpm_model': 'no_effect'},
            {'hw_tpm_model': 'tpm-tis'})

    def test_numa_needs_a_server_that_is_shelved_first(self):
        server = self.stopped()
        answer = self.assert_refused_unchanged(
            server, 409, {'hw_numa_nodes': 'needs_claim'}, NUMA)
        self.assertIn('shelve it first', answer.message)

    def test_dropping_numa_needs_it_too(self):
        server = self.stopped(NUMA)
        self.assert_refused_unchanged(
            server, 409, dict.fromkeys(NUMA, 'needs_claim'), {})

    def test_a_trait_that_the_host_lacks(self):
        server = self.stopped()
        answer = self.assert_refused_unchanged(
            server, 409, {'trait:CUSTOM_GOLD': 'unschedulable'},
            {'trait:CUSTOM_GOLD': 'required'})
        self.assertIn('shelve it first', answer.message)

    def test_what_is_fixed_for_life(self):
        server = self.stopped()
        self.assert_refused_unchanged(
            server, 400, {'hw_pci_numa_affinity_policy': 'create_only'},
            {'hw_pci_numa_affinity_policy': 'required'})

    def test_a_second_change_that_wins_meanwhile(self):
        server = self.stopped({'hw_video_model': 'vga'})
        original = objects.Instance.save

        def late(instance, *args, **kwargs):
            # Another nova-api has stored a change since this one was checked.
            if instance.task_state == 'updating_image_props':
                other = self.instance(server)
                other.system_metadata['image_hw_video_model'] = 'qxl'
                original(other)
            return original(instance, *args, **kwargs)

        with mock.patch.object(objects.Instance, 'save', late):
            answer = self.update(server, {'hw_vif_model': 'e1000'})
        self.assertEqual(409, answer.status, answer.text)
        self.assertEqual({base.PARAMETER: 'wrong_state'}, answer.problems)
        self.assertEqual(
            {'hw_video_model': 'qxl'},
            self.http('GET', f'/servers/{server}').body['server'][
                base.PARAMETER])
        self.assertIsNone(self.instance(server).task_state)
        self.assertEqual(200, self.update(server, {}).status)

    def test_an_action_that_begins_meanwhile(self):
        server = self.stopped()
        original = objects.Instance.save

        def late(instance, *args, **kwargs):
            if instance.task_state == 'updating_image_props':
                other = self.instance(server)
                other.task_state = task_states.POWERING_ON
                original(other)
            return original(instance, *args, **kwargs)

        with mock.patch.object(objects.Instance, 'save', late):
            answer = self.update(server, {'hw_vif_model': 'e1000'})
        self.assertEqual(409, answer.status, answer.text)
        self.assertEqual({}, self.record(server))
        self.assertEqual(
            task_states.POWERING_ON, self.instance(server).task_state)

    def test_a_request_spec_that_cannot_be_stored(self):
        server = self.stopped({'hw_video_model': 'vga'})
        before = self.state(server)
        with mock.patch.object(objects.RequestSpec, 'save',
                               side_effect=exception.RequestSpecNotFound(
                                   instance_uuid=server)):
            answer = self.update(server, {}, body={'name': 'other'})
        self.assertEqual(500, answer.status, answer.text)
        after = self.state(server)
        self.assertEqual({**before, 'updated': None},
                         {**after, 'updated': None})

    def test_an_instance_that_cannot_be_stored(self):
        server = self.stopped({'hw_video_model': 'vga'})
        before = self.state(server)
        original = objects.Instance.save

        def fail(instance, *args, **kwargs):
            if instance.display_name == 'other':
                raise exception.NovaException('no database')
            return original(instance, *args, **kwargs)

        with mock.patch.object(objects.Instance, 'save', fail):
            answer = self.update(server, {}, body={'name': 'other'})
        self.assertEqual(500, answer.status, answer.text)
        after = self.state(server)
        self.assertEqual({**before, 'updated': None},
                         {**after, 'updated': None})


class Offloaded(Case):
    @pytest.mark.smoke
    def test_numa_of_a_server_of_an_image(self):
        self.assert_gets_numa(self.offloaded())

    def test_numa_of_a_server_of_a_volume(self):
        self.assert_gets_numa(self.offloaded(
            image=None, server=self.from_volume(self.volume())))

    def assert_gets_numa(self, server):
        answer = self.update(server, NUMA)
        self.assertEqual(200, answer.status, answer.text)
        self.assert_changed(server, NUMA)
        self.do(server, 'unshelve')
        self.assertEqual(
            [('0', str(256 * 1024)), ('1', str(768 * 1024))],
            [(cell.get('cpus'), cell.get('memory')) for cell in
             self.guest(server).findall('cpu/numa/cell')])
        self.assert_changed(server, NUMA)
        self.hard_reboot(server)
        self.assertEqual(
            2, len(self.guest(server).findall('cpu/numa/cell')))

    def test_dropping_numa(self):
        server = self.offloaded(NUMA)
        self.assertEqual(200, self.update(server, {}).status)
        self.assertIsNone(self.instance(server).numa_topology)
        self.do(server, 'unshelve')
        self.assertEqual([], self.guest(server).findall('cpu/numa/cell'))
        self.assertNotIn('hw_numa_nodes', self.system_metadata(server))
        self.assertEqual({}, self.http(
            'GET', f'/servers/{server}').body['server'][base.PARAMETER])

    def test_a_trait_that_no_host_has_is_told_at_the_unshelving(self):
        server = self.offloaded()
        self.assertEqual(200, self.update(
            server, {'trait:CUSTOM_GOLD': 'required'}).status)
        self.act(server, {'unshelve': None})
        self.wait(server, 'SHELVED_OFFLOADED')
        self.assertEqual(200, self.update(server, {}).status)
        self.do(server, 'unshelve')

    def test_what_is_fixed_for_life(self):
        server = self.offloaded()
        self.assert_refused_unchanged(
            server, 400, {'hw_pci_numa_affinity_policy': 'create_only'},
            {'hw_pci_numa_affinity_policy': 'required'})


class WithoutComputePart(Case):
    EXTENDED_HOSTS = ()

    def test_a_shelved_image_would_win_there(self):
        self.assert_refused_unchanged(
            self.offloaded(), 409, {base.PARAMETER: 'host_not_ready'},
            {'hw_video_model': 'vga'})

    def test_a_volume_does_not(self):
        server = self.offloaded(
            image=None, server=self.from_volume(self.volume()))
        self.assertEqual(
            200, self.update(server, {'hw_video_model': 'vga'}).status)
        self.do(server, 'unshelve')
        self.assertEqual('vga', self.guest(server).find(
            'devices/video/model').get('type'))


class OtherStates(Case):
    def test_each_names_the_state_to_reach(self):
        server = self.boot()
        for action, status, words in (
                (None, 'ACTIVE', 'stop it'),
                ('pause', 'PAUSED', 'stop it'),
                ('unpause', 'ACTIVE', 'shelve it'),
                ('suspend', 'SUSPENDED', 'stop it'),
                ('resume', 'ACTIVE', 'stop it'),
                ('rescue', 'RESCUE', 'unrescue it')):
            with self.subTest(status):
                if action:
                    self.do(server, action, status) \
                        if action != 'rescue' else self.rescue(server)
                answer = self.assert_refused_unchanged(
                    server, 409, {base.PARAMETER: 'wrong_state'},
                    {'hw_video_model': 'vga'}, body={'name': 'other'})
                self.assertIn(words, answer.message)

    def rescue(self, server):
        # The server's folder, which _create_image would have made.
        os.makedirs(os.path.join(base.CONF.instances_path, server))
        answer = self.act(server, {'rescue': None})
        self.assertEqual(200, answer.status, answer.text)
        self.wait(server, 'RESCUE')

    def test_a_task(self):
        server = self.stopped()
        instance = self.instance(server)
        instance.task_state = task_states.POWERING_ON
        instance.save()
        answer = self.assert_refused_unchanged(
            server, 409, {base.PARAMETER: 'wrong_state'}, {})
        self.assertIn('powering-on', answer.message)

    def test_a_locked_server(self):
        server = self.stopped()
        self.act(server, {'lock': None})
        answer = self.assert_refused_unchanged(
            server, 409, {base.PARAMETER: 'wrong_state'}, {})
        self.assertIn('unlock it', answer.message)
        self.assertEqual(200, self.update(server, {}, admin=True).status)

    def test_a_server_that_is_being_built(self):
        with mock.patch(base.BUILDS):
            server = self.create().body['server']['id']
        answer = self.update(server, {'hw_video_model': 'vga'})
        self.assertEqual(409, answer.status, answer.text)
        self.assertIn('wait until that ends', answer.message)

    def test_a_server_that_does_not_exist(self):
        answer = self.update('5c8a7c3a-0000-4000-8000-000000000000', {})
        self.assertEqual(404, answer.status, answer.text)


class Versions(Case):
    def test_1_1_does_not_take_it(self):
        answer = self.assert_refused_unchanged(
            self.stopped(), 400, {base.PARAMETER: 'not_here'},
            {'hw_video_model': 'vga'}, extension='1.1')
        self.assertIn('1.2', answer.message)

    def test_a_request_that_does_not_name_the_extension(self):
        self.assert_refused_unchanged(
            self.stopped(), 400, {base.PARAMETER: 'version_missing'},
            {'hw_video_model': 'vga'}, extension=None)

    def test_the_legacy_api(self):
        self.assert_refused_unchanged(
            self.stopped(), 400, {base.PARAMETER: 'not_here'},
            {'hw_video_model': 'vga'}, api='v2')

    def test_not_together_with_the_availability_zone(self):
        self.assert_refused_unchanged(
            self.stopped(), 400, {base.PARAMETER: 'not_here'},
            {'hw_video_model': 'vga'},
            body={'pinned_availability_zone': None})


class Rules(Case):
    OPTIONS = {'allowed_properties': ['hw_video_model=vga|qxl'],
               'denied_properties': ['hw_video_model=qxl']}

    def test_a_change_is_judged_and_what_is_kept_is_not(self):
        self.flags(group='image_override', allowed_properties=['*'])
        server = self.stopped()
        self.assertEqual(
            200, self.update(server, {'hw_video_model': 'vga'}).status)
        self.assert_refused_unchanged(
            server, 403, {'hw_video_model': 'denied',
                          'hw_vif_model': 'not_allowed'},
            {'hw_video_model': 'qxl', 'hw_vif_model': 'e1000'})

    def test_another_project_does_not_find_the_server(self):
        server = self.stopped()
        answer = self.update(
            server, {}, headers={'X-Auth-Project-Id': 'other'})
        self.assertEqual(404, answer.status, answer.text)
