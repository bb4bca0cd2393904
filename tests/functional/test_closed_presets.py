"""A preset that policy closes to the caller is, to that caller, not there."""

import pytest

from nova_image_override import errors
from testing.harness import base
from tests.functional import presets

Cloud = presets.Cloud


class TestClosed:
    @pytest.mark.parametrize('overrides', [
        None, {'hw_boot_menu': 'true'}, {'hw_boot_menu': 'false'},
        {'hw_no_such': 'x'}, {'hw_disk_bus': 'floppy'}])
    def test_it_gets_what_one_that_does_not_exist_gets(self, cloud, overrides):
        closed = cloud.with_preset('secret', overrides)
        absent = cloud.with_preset('absent', overrides)
        assert closed.problems[errors.PRESET] == errors.UNKNOWN_PRESET
        assert closed.reasons[errors.PRESET] == (
            'this cloud has no preset secret')
        assert closed.text.replace('secret', 'absent') == absent.text
        assert closed.status == absent.status

    @pytest.mark.parametrize('name', ['Secret', 'secre', 'ecret'])
    def test_it_is_not_suggested(self, cloud, name):
        answer = cloud.with_preset(name)
        cloud.assert_refused(
            answer, 400, {errors.PRESET: errors.UNKNOWN_PRESET})
        assert 'did you mean' not in answer.reasons[errors.PRESET]
        assert cloud.with_preset(name, roles='member,secret').reasons[
            errors.PRESET].endswith(', did you mean secret?')

    def test_a_check_does_not_tell_of_it_either(self, cloud):
        closed, absent = (
            cloud.http('POST', '/image-props-override/check', {'server': {
                'imageRef': base.IMAGE, 'flavorRef': cloud.flavor(),
                errors.PRESET: name}}) for name in ('secret', 'absent'))
        assert closed.text.replace('secret', 'absent') == absent.text

    def test_nor_does_a_rebuild(self, cloud):
        server = cloud.boot()
        closed, absent = (
            cloud.http('POST', f'/servers/{server}/action', {'rebuild': {
                'imageRef': base.IMAGE, errors.PRESET: name}})
            for name in ('secret', 'absent'))
        assert closed.text.replace('secret', 'absent') == absent.text

    def test_to_who_may_use_it_it_is_there(self, cloud):
        server = cloud.booted('secret', roles='member,reader,secret')
        assert cloud.used(server) == ('secret', {'hw_boot_menu': 'true'})
