"""Presets: one word of a tenant for a set of overrides."""

import fixtures
import pytest

from nova_image_override import errors
from nova_image_override.api import audit
from nova_image_override.server_record import ServerRecord
from testing.harness import base
from tests.functional import presets

Cloud = presets.Cloud
VGA = presets.VGA


class TestCreate:
    @pytest.mark.smoke
    def test_the_guest_has_what_the_preset_has(self, cloud):
        server = cloud.booted('vga')
        assert cloud.used(server) == ('vga', VGA)
        assert len(cloud.digest(server)) == 64
        assert cloud.disk_bus(server) == 'scsi'
        assert cloud.video(server) == 'vga'
        assert cloud.request_spec(server)['hw_video_model'] == 'vga'
        assert not {errors.PRESET, base.PARAMETER} & {
            *cloud.show(server, extension=None)}

    def test_the_requests_own_properties_win(self, cloud):
        server = cloud.booted('vga', {'hw_vif_model': 'e1000'})
        assert cloud.used(server) == ('vga', {**VGA, 'hw_vif_model': 'e1000'})
        cloud.rewrite('one: {description: x, properties: '
                      '{hw_vif_model: e1000, hw_boot_menu: yes}}')
        other = cloud.booted('one', {'hw_vif_model': 'virtio'})
        assert cloud.used(other) == ('one', {
            'hw_vif_model': 'virtio', 'hw_boot_menu': 'true'})

    def test_what_is_open_in_a_preset_is_open_with_its_value_only(self, cloud):
        cloud.assert_refused(
            cloud.with_preset('vga', {'hw_video_model': 'cirrus'}),
            403, {'hw_video_model': errors.NOT_ALLOWED})
        cloud.assert_refused(
            cloud.with_preset('vga', {'hw_boot_menu': 'true'}),
            403, {'hw_boot_menu': errors.NOT_ALLOWED})
        cloud.assert_refused(
            cloud.create(VGA), 403, dict.fromkeys(VGA, errors.NOT_ALLOWED))
        # The same value as the preset's is no other one.
        assert cloud.used(cloud.booted('vga', {'hw_video_model': 'vga'})) == (
            'vga', VGA)

    def test_a_preset_that_is_not_there_is_all_that_is_wrong(self, cloud):
        for overrides in {'hw_disk_bus': None}, VGA, {'hw_boot_menu': 'true'}:
            answer = cloud.with_preset('vgaa', overrides)
            cloud.assert_refused(
                answer, 400, {errors.PRESET: errors.UNKNOWN_PRESET})
        cloud.assert_refused(
            cloud.with_preset('vgaa', {'hw_machine_type': 'q35'}),
            403, {errors.PRESET: errors.UNKNOWN_PRESET,
                  'hw_machine_type': errors.DENIED})

    def test_null_takes_a_property_out_of_the_preset(self, cloud):
        server = cloud.booted('vga', {'hw_disk_bus': None})
        assert cloud.used(server) == ('vga', {'hw_video_model': 'vga'})
        assert 'hw_disk_bus' not in cloud.record(server)

    def test_null_removes_what_the_image_has_where_that_is_allowed(
            self, cloud):
        image = cloud.image(hw_disk_bus='ide')
        cloud.assert_refused(
            cloud.with_preset('vga', {'hw_disk_bus': None}, image=image),
            403, {'hw_disk_bus': errors.NOT_ALLOWED})

    def test_taking_everything_out_leaves_no_preset(self, cloud):
        server = cloud.booted('menu', {'hw_boot_menu': None})
        assert cloud.used(server) == (None, {})
        assert not ServerRecord.of(cloud.instance(server)).counts

    def test_a_preset_can_remove_what_the_image_has(self, cloud):
        server = cloud.booted('no-pmu', image=cloud.image(hw_pmu='false'))
        assert cloud.used(server) == ('no-pmu', {'hw_pmu': None})
        assert 'hw_pmu' not in cloud.system_metadata(server)

    def test_without_one_null_is_shown(self, cloud):
        server = cloud.boot({'hw_vif_model': 'e1000'})
        assert cloud.used(server) == (None, {'hw_vif_model': 'e1000'})
        (listed,) = cloud.http('GET', '/servers/detail').body['servers']
        assert listed[errors.PRESET] is None

    def test_a_check_takes_it_too(self, cloud):
        answer = cloud.check(server={errors.PRESET: 'vga'}).expect(200)
        assert {name: each['value'] for name, each in answer.body[
            base.PARAMETER]['overridden'].items()} == VGA


class TestTold:
    def test_changes_are_logged_with_the_preset(self, cloud):
        logged = cloud.useFixture(fixtures.FakeLogger(audit.__name__))
        server = cloud.booted('vga', {'hw_disk_bus': None})
        cloud.rebuild(server, {'hw_vif_model': 'e1000'})
        assert logged.output.splitlines() == [
            'Image properties overridden at boot: hw_video_model (preset vga)',
            'Image properties overridden by the rebuild: hw_vif_model']


class TestRefused:
    def test_an_unknown_one_with_the_name_that_was_meant(self, cloud):
        answer = cloud.with_preset('VGA', {'hw_disk_bsu': 'x'})
        cloud.assert_refused(answer, 400, {
            errors.PRESET: errors.UNKNOWN_PRESET,
            'hw_disk_bsu': errors.UNKNOWN})
        assert answer.reasons[errors.PRESET] == (
            'this cloud has no preset VGA, did you mean vga?')

    @pytest.mark.parametrize('name', [None, 1, True, ['vga'], {'name': 'vga'}])
    def test_what_is_no_text(self, cloud, name):
        cloud.assert_refused(cloud.with_preset(name), 400, {
            errors.PRESET: errors.INVALID_TYPE})

    @pytest.mark.parametrize('name', ['', 'x' * 100000, 'a\nb', '\ud800'])
    def test_what_can_be_no_name_of_a_preset_is_refused(self, cloud, name):
        cloud.assert_refused(cloud.with_preset(name), 400, {
            errors.PRESET: errors.UNKNOWN_PRESET})

    def test_a_preset_with_what_other_rules_close_is_refused(self, cloud):
        answer = cloud.with_preset('closed')
        cloud.assert_refused(
            answer, 403, {'hw_machine_type': errors.DENIED})
        assert answer.reasons['hw_machine_type'].startswith(
            'of preset closed: denied by this cloud')

    def test_a_preset_without_the_header_entry_is_refused(self, cloud):
        cloud.assert_refused(cloud.with_preset('vga', extension=None), 400, {
            errors.PRESET: errors.VERSION_MISSING})

    def test_a_preset_in_the_legacy_api_is_refused(self, cloud):
        asked = {errors.PRESET: 'vga'}
        for body in ({'server': asked}, asked):
            answer = cloud.http('POST', '/servers', body, api='v2',
                                compute=None, extension=None)
            cloud.assert_refused(answer, 400, {errors.PRESET: errors.NOT_HERE})


class TestClosed:
    """A preset that policy closes to the caller is, to that caller, not there.
    """

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

    def test_neither_check_nor_rebuild_tell_of_it(self, cloud):
        server = cloud.boot()
        for ask in (
                lambda preset: cloud.check(server=preset),
                lambda preset: cloud.act(server, {'rebuild': {
                    'imageRef': base.IMAGE, **preset}})):
            closed, absent = (
                ask({errors.PRESET: name}) for name in ('secret', 'absent'))
            assert closed.text.replace('secret', 'absent') == absent.text

    def test_to_who_may_use_it_it_is_there(self, cloud):
        server = cloud.booted('secret', roles='member,reader,secret')
        assert cloud.used(server) == ('secret', {'hw_boot_menu': 'true'})


class TestDiscovery:
    def test_discovery_has_the_presets_that_the_caller_may_use(self, cloud):
        found = cloud.discover()['presets']
        for name, each in found.items():
            assert each.pop('digest') == cloud.digest(cloud.booted(name))
        assert found == {
            'vga': {'description': 'A plain screen, and a scsi disk',
                    'properties': VGA, 'flavors': []},
            'menu': {'description': 'With a boot menu',
                     'properties': {'hw_boot_menu': 'true'},
                     'flavors': ['m1.small', 'm1.large']},
            'no-pmu': {'description': 'Without what the image says',
                       'properties': {'hw_pmu': None}, 'flavors': []}}
        assert 'secret' in cloud.discover(roles='member,secret')['presets']
        assert cloud.discover(roles='reader')['presets'] == {}


class TestFilter:
    def found(self, cloud, query, path='/servers', **kwargs):
        answer = cloud.http('GET', f'{path}?{query}', **kwargs).expect(200)
        return {server['id'] for server in answer.body['servers']}

    def test_the_filter_finds_the_servers_of_a_preset(self, cloud):
        vga, menu = cloud.booted('vga'), cloud.booted('menu')
        cloud.boot({'hw_vif_model': 'e1000'})
        for path in ('/servers', '/servers/detail'):
            assert self.found(cloud, f'{errors.PRESET}=vga', path) == {vga}
            assert self.found(cloud, f'{errors.PRESET}=menu', path) == {menu}
            # Its servers outlive a preset.
            assert self.found(cloud, f'{errors.PRESET}=gone', path) == set()
        both = f'{errors.PRESET}=vga&{base.PARAMETER}='
        assert self.found(cloud, both + 'hw_disk_bus') == {vga}
        assert self.found(cloud, both + 'hw_boot_menu') == set()

    def test_links_to_more_have_it(self, cloud):
        servers = {cloud.booted('vga') for _ in range(2)}
        page = cloud.http('GET', f'/servers?{errors.PRESET}=vga&limit=1').body
        query = page['servers_links'][0]['href'].partition('?')[2]
        assert {page['servers'][0]['id']} | self.found(cloud, query) == servers

    @pytest.mark.parametrize('query', [
        'a&{}=b', '', '%20', '-a', 'a%00', 'x' * 65, 'a%25', '*'])
    def test_what_can_be_no_name_is_refused(self, cloud, query):
        cloud.http('GET', f'/servers?{errors.PRESET}=' + query.format(
            errors.PRESET)).expect(400, {errors.PRESET: errors.INVALID_VALUE})

    def test_without_the_header_entry_it_is_novas_alone(self, cloud):
        cloud.booted('vga')
        server = cloud.boot()
        assert server in self.found(
            cloud, f'{errors.PRESET}=vga', compute='2.1', extension=None)


class TestFile:
    """A change of the file counts at once; a broken one changes nothing."""

    NEW = 'vga: {description: Another, properties: {hw_video_model: cirrus}}'

    def test_a_server_keeps_what_it_has_and_the_next_gets_the_new(self, cloud):
        server = cloud.booted('vga')
        digest = cloud.digest(server)
        cloud.rewrite(self.NEW)
        assert cloud.used(server) == ('vga', VGA)
        assert cloud.digest(server) == digest
        other = cloud.booted('vga')
        assert cloud.used(other) == ('vga', {'hw_video_model': 'cirrus'})
        assert cloud.digest(other) != digest
        assert cloud.with_preset('menu').problems == {
            errors.PRESET: errors.UNKNOWN_PRESET}

    def test_the_digest_is_that_of_the_properties_alone(self, cloud):
        digest = cloud.digest(cloud.booted('menu'))
        cloud.rewrite(
            'menu: {description: Other words, properties: {hw_boot_menu: 1}}')
        assert cloud.digest(cloud.booted('menu')) == digest

    @pytest.mark.parametrize('text', [
        '', '# nothing', '{', '- vga', 'vga: {properties: {hw_pmu: x}}'])
    def test_a_broken_file_leaves_the_one_before_in_force(self, cloud, text):
        cloud.rewrite(text)
        assert cloud.used(cloud.booted('vga')) == ('vga', VGA)

    def test_a_file_that_is_gone_does_too(self, cloud):
        cloud.rewrite(presets.PRESETS)
        cloud.path.unlink()
        assert cloud.used(cloud.booted('vga')) == ('vga', VGA)


class TestNoFile:
    PRESETS = '{}'

    def test_there_is_no_preset(self, cloud):
        answer = cloud.with_preset('vga')
        cloud.assert_refused(
            answer, 400, {errors.PRESET: errors.UNKNOWN_PRESET})
        assert answer.reasons[errors.PRESET] == 'this cloud has no preset vga'
        assert cloud.discover()['presets'] == {}
