"""A server's preset: kept, replaced and dropped by rebuild and update."""

from nova.compute import api
import pytest

from nova_image_override import errors
from testing.harness import base
from tests.functional import at_once
from tests.functional import presets

VGA = presets.VGA
MENU = {'hw_boot_menu': 'true'}


SAME = presets.PRESETS + presets.written({'same': VGA})


class Cloud(presets.Cloud):
    def rebuilt(self, server, image=base.IMAGE, **asked):
        """Rebuild a server, with ASKED beside the image."""
        answer = self.act(server, {'rebuild': {
            'imageRef': image, **self.parameters(asked)}})
        if answer.status == 202:
            self.wait(server)
        return answer

    def updated(self, server, **asked):
        return self.http('PUT', f'/servers/{server}', {
            'server': self.parameters(asked)})

    def parameters(self, asked):
        return {{'preset': errors.PRESET, 'own': base.PARAMETER}[name]: value
                for name, value in asked.items()}


#: What a server with the preset "vga" has after a request.
LATER = [
    ({}, ('vga', VGA)),
    ({'preset': 'menu'}, ('menu', MENU)),
    ({'preset': 'menu', 'own': {'hw_vif_model': 'e1000'}},
     ('menu', {**MENU, 'hw_vif_model': 'e1000'})),
    ({'own': {'hw_vif_model': 'e1000'}}, (None, {'hw_vif_model': 'e1000'})),
    ({'own': {}}, (None, {})),
    ({'preset': 'menu', 'own': {'hw_boot_menu': None}}, (None, {})),
    ({'preset': 'vga', 'own': {'hw_disk_bus': None}},
     ('vga', {'hw_video_model': 'vga'})),
]

REFUSED = [
    ({'preset': None}, 400, {errors.PRESET: errors.INVALID_TYPE}),
    ({'preset': 'gone', 'own': {'hw_vif_model': 'x'}}, 400, {
        errors.PRESET: errors.UNKNOWN_PRESET,
        'hw_vif_model': errors.INVALID_VALUE}),
    ({'preset': 'secret'}, 400, {errors.PRESET: errors.UNKNOWN_PRESET}),
    ({'preset': 'closed'}, 403, {'hw_machine_type': errors.DENIED}),
    ({'preset': 'menu', 'own': {'hw_video_model': 'cirrus'}}, 403, {
        'hw_video_model': errors.NOT_ALLOWED}),
    # What cannot be read is told beside what is not permitted, unless the
    # server has it.
    ({'own': {'hw_vif_model': 'x', 'hw_boot_menu': 'true',
              'hw_disk_bus': 'scsi'}}, 403, {
        'hw_vif_model': errors.INVALID_VALUE,
        'hw_boot_menu': errors.NOT_ALLOWED}),
    ({'preset': 'menu', 'own': {'hw_vif_model': 'x', 'hw_boot_menu': None}},
     400, {'hw_vif_model': errors.INVALID_VALUE}),
]


class TestLater:
    @pytest.mark.parametrize(('asked', 'expected'), LATER)
    def test_a_rebuild_leads_to(self, cloud, asked, expected):
        server = cloud.booted('vga')
        digest = cloud.digest(server)
        answer = cloud.rebuilt(server, **asked).expect(202)
        assert cloud.used(server) == expected
        shown = answer.body['server']
        assert (shown[errors.PRESET] and shown[errors.PRESET]['name'],
                shown[base.PARAMETER]) == expected
        if expected[0] == 'vga':
            assert cloud.digest(server) == digest

    @pytest.mark.parametrize(('asked', 'expected'), LATER)
    @pytest.mark.parametrize('state', ['stopped', 'offloaded'])
    def test_an_update_leads_to(self, cloud, state, asked, expected):
        server = getattr(cloud, state)(server={errors.PRESET: 'vga'})
        answer = cloud.updated(server, **asked).expect(200)
        assert cloud.used(server) == expected
        cloud.assert_changed(server, expected[1])
        shown = answer.body['server']
        assert (shown[errors.PRESET] and shown[errors.PRESET]['name'],
                shown[base.PARAMETER]) == expected

    @pytest.mark.parametrize(('asked', 'status', 'problems'), REFUSED)
    def test_a_refusal_changes_nothing(self, cloud, asked, status, problems):
        server = cloud.stopped(server={errors.PRESET: 'vga'})
        before = cloud.state(server)
        for ask in (cloud.updated, cloud.rebuilt):
            ask(server, **asked).expect(status, problems)
            assert cloud.state(server) == before

    @pytest.mark.parametrize('state', ['stopped', 'offloaded'])
    def test_only_the_record_changes_where_the_properties_are_the_same(
            self, cloud, state):
        server = getattr(cloud, state)(server={errors.PRESET: 'vga'})
        cloud.rewrite(SAME)
        digest = cloud.digest(server)
        assert cloud.updated(server, preset='same').status == 200
        assert cloud.used(server) == ('same', VGA)
        assert cloud.digest(server) == digest

    def test_naming_it_again_takes_the_new_one(self, cloud):
        server = cloud.booted('vga')
        digest = cloud.digest(server)
        cloud.rewrite(presets.written({'vga': {'hw_video_model': 'cirrus'}}))
        assert cloud.rebuilt(server).status == 202
        assert cloud.used(server) == ('vga', VGA)
        assert cloud.digest(server) == digest
        assert cloud.rebuilt(server, preset='vga').status == 202
        assert cloud.used(server) == ('vga', {'hw_video_model': 'cirrus'})
        assert cloud.digest(server) != digest


class TestAnotherImage:
    """A rebuild from another image is authorised as a create."""

    def test_what_the_preset_still_has_is_permitted_by_it(self, cloud):
        server = cloud.booted('vga')
        assert cloud.rebuilt(server, cloud.image()).status == 202
        assert cloud.used(server) == ('vga', VGA)

    @pytest.mark.parametrize(('offered', 'refused'), [
        ({'vga': {'hw_video_model': 'vga'}}, ['hw_disk_bus']),
        ({'vga': {**VGA, 'hw_video_model': 'cirrus'}}, ['hw_video_model']),
        ({'other': VGA}, VGA)])
    def test_what_a_kept_preset_no_longer_has_is_not_permitted(
            self, cloud, offered, refused):
        server = cloud.booted('vga')
        cloud.rewrite(presets.written(offered))
        before = cloud.state(server)
        cloud.rebuilt(server, cloud.image()).expect(
            403, dict.fromkeys(refused, errors.NOT_ALLOWED))
        assert cloud.state(server) == before

    def test_a_kept_preset_permits_nothing_to_those_who_may_not_use_it(
            self, cloud):
        server = cloud.booted('secret', roles='member,secret')
        cloud.rebuilt(server, cloud.image()).expect(
            403, {'hw_boot_menu': errors.NOT_ALLOWED})

    def test_null_in_the_request_looks_at_the_new_image(self, cloud):
        server = cloud.booted('vga')
        asked = {'preset': 'vga', 'own': {'hw_disk_bus': None}}
        answer = cloud.rebuilt(server, cloud.image(hw_disk_bus='ide'), **asked)
        assert answer.problems == {'hw_disk_bus': errors.NOT_ALLOWED}
        assert cloud.rebuilt(server, cloud.image(), **asked).status == 202
        assert cloud.used(server) == ('vga', {'hw_video_model': 'vga'})


class TestLife:
    @pytest.mark.parametrize('does', [
        {'reboot': {'type': 'HARD'}}, {'lock': None}])
    def test_what_nova_does_to_a_server_keeps_it(self, cloud, does):
        server = cloud.booted('vga')
        answer = cloud.act(server, does)
        assert answer.status in (200, 202), answer.text
        cloud.wait(server)
        assert cloud.used(server) == ('vga', VGA)

    def test_a_snapshot_and_its_servers_have_none(self, cloud):
        server = cloud.booted('vga')
        answer = cloud.act(
            server, {'createImage': {'name': 'snapshot'}}).expect(202)
        image = cloud.uploaded(answer.body['image_id'])
        assert not any('override' in name for name in image['properties'])
        cloud.wait(server)
        assert cloud.used(cloud.boot(image=image['id'])) == (None, {})

    def test_a_volume_cannot_forge_one(self, cloud):
        volume = cloud.volume(**{'os_glance_override_preset:vga': 'x'})
        server = cloud.boot(image=None, server=cloud.from_volume(volume))
        assert cloud.used(server) == (None, {})


class TestAtOnce:
    """Of two requests one wins, with its preset; the other is refused."""

    @pytest.mark.parametrize('late', [
        {}, {'preset': 'vga'}, {'preset': 'same'}, {'own': {}}])
    @pytest.mark.parametrize(('first', 'expected'), [
        ('menu', MENU), ('same', VGA)])
    def test_an_update_that_meets_a_rebuild_stays(
            self, cloud, first, expected, late):
        server = cloud.stopped(server={errors.PRESET: 'vga'})
        cloud.rewrite(SAME)
        with at_once.meanwhile(
                api.API, '_inherit_properties_from_image',
                lambda: cloud.updated(server, preset=first).expect(200)):
            cloud.rebuilt(server, **late).expect(409)
        assert cloud.used(server) == (first, expected)
        cloud.assert_changed(server, expected)
