"""PUT /servers/{id} replaces the overrides of a server that is not running.

They act when the guest is next built: at the start of a stopped server, or at
the unshelving of an offloaded one.
"""

import contextlib
from unittest import mock

from nova import exception
from nova import objects
from nova.compute import task_states
import pytest

from testing.harness import base
from tests.functional import update_case


class Stopped(update_case.Case):
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

    def test_one_that_is_nova_computes_default_is_in_the_request_spec(self):
        server = self.stopped()
        default = self.system_metadata(server)['hw_disk_bus']
        self.assertNotIn('hw_disk_bus', self.request_spec(server))
        self.assertEqual(
            200, self.update(server, {'hw_disk_bus': default}).status)
        self.assertEqual(default, self.request_spec(server)['hw_disk_bus'])

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
            server, 409, {'hw_numa_nodes': 'needs_claim'}, update_case.NUMA)
        self.assertIn('shelve it first', answer.message)

    def test_dropping_numa_needs_it_too(self):
        server = self.stopped(update_case.NUMA)
        self.assert_refused_unchanged(
            server, 409, dict.fromkeys(update_case.NUMA, 'needs_claim'), {})

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

    @contextlib.contextmanager
    def meanwhile(self, server, change):
        """Change the stored server once an update of it has been checked."""
        save = objects.Instance.save

        def late(instance, *args, **kwargs):
            if instance.task_state == task_states.RESIZE_PREP:
                other = self.instance(server)
                change(other)
                save(other)
            return save(instance, *args, **kwargs)

        with mock.patch.object(objects.Instance, 'save', late):
            yield

    def test_a_second_change_that_wins_meanwhile(self):
        server = self.stopped({'hw_video_model': 'vga'})

        def change(other):
            other.system_metadata['image_hw_video_model'] = 'qxl'

        with self.meanwhile(server, change):
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

        def change(other):
            other.task_state = task_states.POWERING_ON

        with self.meanwhile(server, change):
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


class Offloaded(update_case.Case):
    @pytest.mark.smoke
    def test_numa_of_a_server_of_an_image(self):
        self.assert_gets_numa(self.offloaded())

    def test_numa_of_a_server_of_a_volume(self):
        self.assert_gets_numa(self.offloaded(
            image=None, server=self.from_volume(self.volume())))

    def assert_gets_numa(self, server):
        answer = self.update(server, update_case.NUMA)
        self.assertEqual(200, answer.status, answer.text)
        self.assert_changed(server, update_case.NUMA)
        self.do(server, 'unshelve')
        self.assertEqual(
            [('0', str(256 * 1024)), ('1', str(768 * 1024))],
            [(cell.get('cpus'), cell.get('memory')) for cell in
             self.guest(server).findall('cpu/numa/cell')])
        self.assert_changed(server, update_case.NUMA)
        self.hard_reboot(server)
        self.assertEqual(
            2, len(self.guest(server).findall('cpu/numa/cell')))

    def test_dropping_numa(self):
        server = self.offloaded(update_case.NUMA)
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


class WithoutComputePart(update_case.Case):
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
