"""When, how and by whom the overrides of a server may be updated at all."""

import os
from unittest import mock

from nova.compute import task_states

from testing.harness import base
from tests.functional import update_case


class OtherStates(update_case.Case):
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


class Versions(update_case.Case):
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


class Rules(update_case.Case):
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
