"""When, how and by whom the overrides of a server may be updated at all."""

from nova.compute import task_states
import pytest

from testing.harness import base
from tests.functional import update_case

Cloud = update_case.Cloud


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
            if action == 'rescue':
                cloud.rescue(server).expect(200)
                cloud.wait(server, status)
            elif action:
                cloud.do(server, action, status)
            answer = cloud.assert_refused_unchanged(
                server, 409, {base.PARAMETER: 'wrong_state'},
                {'hw_video_model': 'vga'}, body={'name': 'other'})
            assert words in answer.message

    def test_a_task(self, cloud):
        server = cloud.stopped()
        cloud.change(server, task_state=task_states.POWERING_ON)
        answer = cloud.assert_refused_unchanged(
            server, 409, {base.PARAMETER: 'wrong_state'}, {})
        assert 'powering-on' in answer.message

    def test_a_server_on_no_host(self, cloud):
        server = cloud.stopped()
        cloud.change(server, host=None)
        answer = cloud.assert_refused_unchanged(
            server, 409, {base.PARAMETER: 'wrong_state'},
            {'hw_video_model': 'vga'})
        assert 'on no host: boot another server' in answer.message
        cloud.change(server, host='compute1')

    def test_a_locked_server(self, cloud):
        server = cloud.stopped()
        cloud.act(server, {'lock': None})
        answer = cloud.assert_refused_unchanged(
            server, 409, {base.PARAMETER: 'wrong_state'}, {})
        assert 'unlock it' in answer.message
        assert cloud.update(server, {}, admin=True).status == 200

    def test_a_server_that_is_being_built(self, cloud):
        answer = cloud.update(
            cloud.unbuilt(), {'hw_video_model': 'vga'}).expect(409)
        assert 'wait until that ends' in answer.message

    def test_a_server_that_does_not_exist(self, cloud):
        cloud.update('5c8a7c3a-0000-4000-8000-000000000000', {}).expect(404)


class TestVersions:
    @pytest.mark.parametrize(('code', 'kwargs'), [
        ('version_missing', {'extension': None}), ('not_here', {'api': 'v2'}),
        ('not_here', {'body': {'pinned_availability_zone': None}})],
        ids=['without the extension', 'legacy API', 'beside the zone'])
    def test_where_overrides_are_not_taken(self, cloud, code, kwargs):
        cloud.assert_refused_unchanged(
            cloud.stopped(), 400, {base.PARAMETER: code},
            {'hw_video_model': 'vga'}, **kwargs)


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
                server, asked,
                headers={'X-Auth-Project-Id': 'other'}).expect(status)
        assert answer.problems == {'hw_video_model': 'invalid_value'}
