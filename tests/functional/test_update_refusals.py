"""When, how and by whom the overrides of a server may be updated at all."""

import os
from unittest import mock

from nova.compute import task_states

from testing.harness import base
from tests.functional import update_case


class Cloud(update_case.Cloud):
    def rescue(self, server):
        # The server's folder, which _create_image would have made.
        os.makedirs(os.path.join(base.CONF.instances_path, server))
        answer = self.act(server, {'rescue': None})
        assert answer.status == 200, answer.text
        self.wait(server, 'RESCUE')


class TestOtherStates:
    def test_each_names_the_state_to_reach(self, cloud):
        server = cloud.boot()
        for action, status, words in (
                (None, 'ACTIVE', 'stop it'),
                ('pause', 'PAUSED', 'stop it'),
                ('unpause', 'ACTIVE', 'shelve it'),
                ('suspend', 'SUSPENDED', 'stop it'),
                ('resume', 'ACTIVE', 'stop it'),
                ('rescue', 'RESCUE', 'unrescue it')):
            if action:
                cloud.do(server, action, status) \
                    if action != 'rescue' else cloud.rescue(server)
            answer = cloud.assert_refused_unchanged(
                server, 409, {base.PARAMETER: 'wrong_state'},
                {'hw_video_model': 'vga'}, body={'name': 'other'})
            assert words in answer.message

    def test_a_task(self, cloud):
        server = cloud.stopped()
        instance = cloud.instance(server)
        instance.task_state = task_states.POWERING_ON
        instance.save()
        answer = cloud.assert_refused_unchanged(
            server, 409, {base.PARAMETER: 'wrong_state'}, {})
        assert 'powering-on' in answer.message

    def test_a_server_on_no_host(self, cloud):
        server = cloud.stopped()
        instance = cloud.instance(server)
        host, instance.host = instance.host, None
        instance.save()
        answer = cloud.assert_refused_unchanged(
            server, 409, {base.PARAMETER: 'wrong_state'},
            {'hw_video_model': 'vga'})
        assert 'on no host: boot another server' in answer.message
        instance.host = host
        instance.save()

    def test_a_locked_server(self, cloud):
        server = cloud.stopped()
        cloud.act(server, {'lock': None})
        answer = cloud.assert_refused_unchanged(
            server, 409, {base.PARAMETER: 'wrong_state'}, {})
        assert 'unlock it' in answer.message
        assert cloud.update(server, {}, admin=True).status == 200

    def test_a_server_that_is_being_built(self, cloud):
        with mock.patch(base.BUILDS):
            server = cloud.create().body['server']['id']
        answer = cloud.update(server, {'hw_video_model': 'vga'})
        assert answer.status == 409, answer.text
        assert 'wait until that ends' in answer.message

    def test_a_server_that_does_not_exist(self, cloud):
        answer = cloud.update('5c8a7c3a-0000-4000-8000-000000000000', {})
        assert answer.status == 404, answer.text


class TestVersions:
    def test_a_request_that_does_not_name_the_extension(self, cloud):
        cloud.assert_refused_unchanged(
            cloud.stopped(), 400, {base.PARAMETER: 'version_missing'},
            {'hw_video_model': 'vga'}, extension=None)

    def test_the_legacy_api(self, cloud):
        cloud.assert_refused_unchanged(
            cloud.stopped(), 400, {base.PARAMETER: 'not_here'},
            {'hw_video_model': 'vga'}, api='v2')

    def test_overrides_beside_the_availability_zone_are_refused(self, cloud):
        cloud.assert_refused_unchanged(
            cloud.stopped(), 400, {base.PARAMETER: 'not_here'},
            {'hw_video_model': 'vga'},
            body={'pinned_availability_zone': None})


class TestRules:
    OPTIONS = {'allowed_properties': ['hw_video_model=vga|qxl'],
               'denied_properties': ['hw_video_model=qxl']}

    def test_a_change_is_judged_and_what_is_kept_is_not(self, cloud):
        cloud.flags(group='image_override', allowed_properties=['*'])
        server = cloud.stopped()
        assert cloud.update(server, {'hw_video_model': 'vga'}).status == 200
        cloud.assert_refused_unchanged(
            server, 403, {'hw_video_model': 'denied',
                          'hw_vif_model': 'not_allowed'},
            {'hw_video_model': 'qxl', 'hw_vif_model': 'e1000'})

    def test_one_answer_names_what_cannot_be_read_and_what_is_denied(
            self, cloud):
        answer = cloud.assert_refused_unchanged(
            cloud.stopped({'hw_video_model': 'vga'}), 403,
            {'hw_boot_menu': 'invalid_value', 'hw_vif_model': 'not_allowed'}, {
                'hw_boot_menu': 'maybe', 'hw_vif_model': 'e1000',
                'hw_video_model': 'vga'})
        assert answer.message.endswith(
            'Not checked with flavor and image yet: hw_video_model')

    def test_another_project_does_not_find_the_server(self, cloud):
        server = cloud.stopped({'hw_video_model': 'vga'})
        for asked, status in (
                ({}, 404), ({'hw_video_model': 'x', 'hw_pmu': 'true'}, 400)):
            answer = cloud.update(
                server, asked, headers={'X-Auth-Project-Id': 'other'})
            assert answer.status == status, answer.text
        assert answer.problems == {'hw_video_model': 'invalid_value'}
