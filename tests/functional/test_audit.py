"""What nova-api logs about overrides, and what Nova notifies about."""

import logging
import re
from unittest import mock

import fixtures
from oslo_log import formatters
import pytest

from nova_image_override.api import audit
from testing.harness import base
from tests.functional import update_case


class Case(update_case.Case):
    def setUp(self):
        super().setUp()
        self.logged = self.useFixture(fixtures.FakeLogger(
            audit.__name__, logging.DEBUG, format='%(message)s',
            formatter=formatters.ContextFormatter, nuke_handlers=False))

    def told(self):
        """Return level and text of the new lines, all for requests of the user.

        oslo.log appends the place in the code to lines at DEBUG.
        """
        found = []
        for line in self.logged.output.splitlines():
            match = re.fullmatch(
                rf'\S+ \S+ \d+ (\w+) {re.escape(audit.__name__)} '
                rf'\[\S+ req-\S+ fake {self.api.project_id} - - - -\] (.*?)'
                r'( changed \S+:\d+)?', line)
            self.assertIsNotNone(match, line)
            found.append(f'{match[1]} {match[2]}')
        self.logged.reset_output()
        return found


class Audit(Case):
    @pytest.mark.smoke
    def test_a_boot_is_told_and_its_values_to_those_who_debug(self):
        self.told()
        with mock.patch(base.BUILDS):
            answer = self.create({'hw_video_model': 'vga',
                                  'hw_vif_model': None},
                                 image=self.image(hw_vif_model='e1000'))
        self.assertEqual(202, answer.status, answer.text)
        begin = (f'[instance: {answer.body["server"]["id"]}] '
                 'Image properties overridden at boot: ')
        self.assertEqual(
            [f'INFO {begin}hw_video_model, hw_vif_model',
             f'DEBUG {begin}hw_video_model=vga, hw_vif_model removed'],
            self.told())

    def test_each_of_several_servers_is_told(self):
        self.told()
        with mock.patch(base.BUILDS):
            answer = self.create({'hw_video_model': 'vga'},
                                 server={'min_count': 3})
        self.assertEqual(202, answer.status, answer.text)
        self.assertEqual(3, len({
            line for line in self.told() if line.startswith('INFO')}))

    def test_a_rebuild_is_told_also_when_it_drops_all(self):
        server = self.boot({'hw_video_model': 'vga'})
        self.told()
        begin = (f'[instance: {server}] '
                 'Image properties overridden by the rebuild: ')
        for overrides, lines in (
                (None, [f'INFO {begin}hw_video_model',
                        f'DEBUG {begin}hw_video_model=vga']),
                ({'hw_vif_model': 'e1000'},
                 [f'INFO {begin}hw_vif_model',
                  f'DEBUG {begin}hw_vif_model=e1000']),
                ({}, [f'INFO {begin}none'])):
            with self.subTest(overrides):
                self.rebuild(server, overrides)
                self.assertEqual(lines, self.told())

    def test_an_update_is_told(self):
        server = self.stopped()
        self.told()
        self.update(server, {'hw_video_model': 'vga'})
        begin = (f'[instance: {server}] '
                 'Image properties overridden by the update: ')
        self.assertEqual([f'INFO {begin}hw_video_model',
                          f'DEBUG {begin}hw_video_model=vga'], self.told())

    def test_an_update_is_among_novas_notifications(self):
        self.told()
        self.flags(notify_on_state_change='vm_and_task_state',
                   group='notifications')
        server = self.stopped()
        self.notifier.reset()
        self.update(server, {'hw_video_model': 'vga'})
        updates = [each['payload']['nova_object.data'] for each in
                   self.notifier.versioned_notifications
                   if each['event_type'] == 'instance.update']
        self.assertEqual(
            [(server, 'resize_prep'), (server, None)],
            [(each['uuid'],
              each['state_update']['nova_object.data']['new_task_state'])
             for each in updates])

    def test_what_asks_for_nothing_is_not_told(self):
        self.told()
        answer = self.create()
        self.assertEqual(202, answer.status, answer.text)
        self.wait(answer.body['server']['id'])
        self.assertEqual([], self.told())

    # --- refusals -----------------------------------------------------------

    def test_a_refused_boot_is_told_with_every_code_and_no_value(self):
        self.told()
        answer = self.create({'hw_nothing': 'x', 'hw_disk_bus': 'secret'})
        self.assertEqual(400, answer.status)
        self.assertEqual(
            ['INFO Image property overrides refused: '
             'hw_disk_bus: invalid_value, hw_nothing: unknown'], self.told())
        self.assertNotIn('secret', self.logged.output)

    def test_a_name_forges_no_line(self):
        self.told()
        answer = self.create({'x\nINFO forged': 'y'})
        self.assertEqual(400, answer.status)
        self.assertEqual(
            [r'INFO Image property overrides refused: "x\nINFO forged": '
             'unknown'], self.told())

    def test_a_refused_change_is_told_with_its_server(self):
        server = self.boot()
        for change, problem in (
                (self.update, 'image_props_override: wrong_state'),
                (self.rebuild, 'trait:CUSTOM_GOLD: unschedulable')):
            with self.subTest(problem):
                self.told()
                answer = change(server, {'trait:CUSTOM_GOLD': 'required'})
                self.assertEqual(409, answer.status, answer.text)
                self.assertEqual(
                    [f'INFO [instance: {server}] Image property overrides '
                     f'refused: {problem}'], self.told())

    def test_a_server_that_is_no_uuid_is_not_told(self):
        self.told()
        self.http('PUT', '/servers/not-a-uuid', {'server': {
            base.PARAMETER: {'hw_nothing': 'x'}}})
        self.assertEqual(
            ['INFO Image property overrides refused: hw_nothing: unknown'],
            self.told())

    def test_what_is_only_asked_for_is_not_told(self):
        self.told()
        for overrides, status in (({'hw_video_model': 'vga'}, 200),
                                  ({'hw_nothing': 'x'}, 400)):
            answer = self.http(
                'POST', '/image-props-override/check',
                self.server_body(overrides))
            self.assertEqual(status, answer.status, answer.text)
        self.assertEqual([], self.told())


class Denied(Case):
    OPTIONS = {'denied_properties': ['hw_video_model']}

    def test_the_rule_that_refuses_is_told(self):
        self.told()
        answer = self.create({'hw_video_model': 'vga'})
        self.assertEqual(403, answer.status)
        self.assertEqual(
            ['INFO Image property overrides refused: hw_video_model: denied'],
            self.told())
