"""The merged properties decide whether a server's disk is resized."""

import itertools

import pytest

from nova_image_override import errors
from testing.harness import base
from tests.functional import presets

AUTO = 'hw_auto_disk_config'
SAYS = {'AUTO': 'true', 'MANUAL': 'false'}


def asking(value, field):
    return {base.PARAMETER: {AUTO: value}, 'OS-DCF:diskConfig': field}


class Cloud(presets.Cloud):
    EXTENDED_HOSTS = ('compute1',)
    OPTIONS = {
        'allowed_properties': ['hw_auto_disk_config', 'hw_disk_bus'],
        'accept_scheduler_hint': True}
    PRESETS = presets.written({'manual': {AUTO: 'false'}})

    def auto(self, overrides, image):
        return self.create(
            overrides, image=image, server={'OS-DCF:diskConfig': 'AUTO'})

    def assert_overruled(self, answer):
        answer.expect(400, {AUTO: errors.NO_EFFECT})
        assert ("the request's OS-DCF:diskConfig decides: leave one of them "
                'out') in answer.message


class TestAutoDiskConfig:
    """Nova looks at an image's auto_disk_config before overrides merge."""

    BUILD = False

    def test_what_the_override_says_counts(self, cloud):
        disabled = cloud.image(auto_disk_config='disabled')
        assert cloud.auto(None, disabled).status == 400
        for value in ('true', None):
            answer = cloud.auto({AUTO: value}, disabled).expect(202)
            assert cloud.show(
                answer.body['server']['id'])['OS-DCF:diskConfig'] == 'AUTO'

    def test_an_override_that_disables_it_refuses(self, cloud):
        cloud.assert_overruled(cloud.auto({AUTO: 'disabled'}, cloud.image()))
        cloud.assert_nothing_created()


class TestOverruled:
    """Nova takes the request's own field, and the override says otherwise."""

    @pytest.mark.smoke
    def test_a_create_says_the_same_in_both_or_is_refused(self, cloud):
        for field, value in itertools.product(SAYS, SAYS.values()):
            asked = asking(value, field)
            checked, answer = cloud.check(server=asked), cloud.create(
                server=asked)
            if value == SAYS[field]:
                checked.expect(200)
                server = cloud.show(cloud.created(answer))
                assert server['OS-DCF:diskConfig'] == field
                cloud.delete(server['id'])
            else:
                cloud.assert_overruled(checked)
                cloud.assert_overruled(answer)
                cloud.assert_nothing_created()

    def test_a_rebuild_and_an_update_do_the_same(self, cloud):
        server = cloud.boot()
        for field, value in itertools.product(SAYS, SAYS.values()):
            rebuild = {'imageRef': base.IMAGE, **asking(value, field)}
            update = {'server': asking(value, field)}
            if value == SAYS[field]:
                cloud.do(server, {'rebuild': rebuild})
                assert cloud.show(server)['OS-DCF:diskConfig'] == field
            else:
                cloud.assert_overruled(cloud.act(server, {'rebuild': rebuild}))
                cloud.assert_overruled(
                    cloud.http('PUT', f'/servers/{server}', update))

    def test_what_a_hint_or_a_preset_says_is_judged_too(self, cloud):
        asked = {'OS-DCF:diskConfig': 'AUTO'}
        cloud.assert_overruled(cloud.http('POST', '/servers', {
            **cloud.server_body(**asked), 'os:scheduler_hints': {
                f'{base.PARAMETER}:{AUTO}': 'false'}}))
        answer = cloud.with_preset('manual', server=asked)
        cloud.assert_overruled(answer)
        assert 'of preset manual: ' in answer.message

    def test_what_else_is_not_permitted_is_told_with_it(self, cloud):
        answer = cloud.create({
            AUTO: 'true', 'hw_boot_menu': 'true', 'hw_disk_bus': 'scsi'},
            server={'OS-DCF:diskConfig': 'MANUAL'})
        answer.expect(403, {
            AUTO: errors.NO_EFFECT, 'hw_boot_menu': errors.NOT_ALLOWED})
        assert 'Not checked with flavor and image yet: hw_disk_bus' in (
            answer.message)
