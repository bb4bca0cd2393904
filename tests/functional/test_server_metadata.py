"""Overrides as server metadata, for clients that can send nothing else."""

import json

import pytest

from nova_image_override import errors
from testing.harness import base
from tests.functional import presets

PREFIX = f'{base.PARAMETER}:'


class Cloud(presets.Cloud):
    def with_metadata(self, metadata, overrides=None, **kwargs):
        """POST /servers as a client does that knows nothing of us."""
        body = self.server_body(
            overrides, kwargs.pop('image', base.IMAGE), metadata=metadata)
        if kwargs.get('compute', self.COMPUTE) in (None, '2.1'):
            # Since 2.37.
            del body['server']['networks']
        return self.http('POST', '/servers', body,
                         **{'extension': None, **kwargs})

    def made(self, *args, **kwargs):
        return self.created(self.with_metadata(*args, **kwargs))


class TestOpen:
    OPTIONS = {**Cloud.OPTIONS, 'accept_server_metadata': True}

    @pytest.mark.smoke
    def test_a_preset_and_properties_reach_the_guest(self, cloud):
        server = cloud.made({
            errors.PRESET: 'vga', PREFIX + 'hw_vif_model': 'e1000',
            'mine': 'kept'})
        assert cloud.used(server) == (
            'vga', {**presets.VGA, 'hw_vif_model': 'e1000'})
        assert cloud.show(server)['metadata'] == {'mine': 'kept'}
        assert cloud.video(server) == 'vga'

    def test_properties_may_be_one_text(self, cloud):
        server = cloud.made(
            {base.PARAMETER: json.dumps({'hw_vif_model': 'e1000'})})
        assert cloud.used(server) == (None, {'hw_vif_model': 'e1000'})
        assert cloud.show(server)['metadata'] == {}

    def test_a_removal_is_sent_as_the_refusal_of_none_says(self, cloud):
        image = cloud.image(hw_vif_model='virtio')
        answer = cloud.with_metadata({PREFIX + 'hw_vif_model': ''}, image=image)
        cloud.assert_refused(
            answer, 400, {'hw_vif_model': errors.INVALID_VALUE})
        key, _, text = answer.message.partition(
            'metadata: ')[2].partition('=')
        text = text[:text.index('}') + 1]
        server = cloud.made({key: text}, image=image)
        assert cloud.used(server) == (None, {'hw_vif_model': None})

    @pytest.mark.parametrize('kwargs', [
        {'api': 'v2', 'compute': None}, {'compute': None}, {'compute': '2.1'}])
    def test_an_old_client_can_use_them(self, cloud, kwargs):
        assert cloud.used(cloud.made({errors.PRESET: 'menu'}, **kwargs)) == (
            'menu', {'hw_boot_menu': 'true'})

    @pytest.mark.parametrize(('metadata', 'status', 'problems'), [
        ({errors.PRESET: 'gone'}, 400,
         {errors.PRESET: errors.UNKNOWN_PRESET}),
        ({errors.PRESET: ''}, 400, {errors.PRESET: errors.UNKNOWN_PRESET}),
        ({errors.PRESET: 'secret'}, 400,
         {errors.PRESET: errors.UNKNOWN_PRESET}),
        ({PREFIX + 'hw_boot_menu': 'true'}, 403,
         {'hw_boot_menu': errors.NOT_ALLOWED}),
        ({PREFIX + 'hw_vif_model': 'x'}, 400,
         {'hw_vif_model': errors.INVALID_VALUE}),
        ({PREFIX: 'x'}, 400, {'': errors.UNKNOWN}),
        ({base.PARAMETER: 'x'}, 400,
         {base.PARAMETER: errors.INVALID_VALUE}),
        ({base.PARAMETER: '{}', PREFIX + 'hw_vif_model': 'e1000'}, 400,
         {base.PARAMETER: errors.DUPLICATE})])
    def test_overrides_in_metadata_are_judged_as_the_parameters_are(
            self, cloud, metadata, status, problems):
        cloud.assert_refused(cloud.with_metadata(metadata), status, problems)

    @pytest.mark.parametrize('metadata', [
        {errors.PRESET: None}, {errors.PRESET: 1}, {errors.PRESET: ['vga']},
        {base.PARAMETER: {'hw_vif_model': 'e1000'}},
        {PREFIX + 'hw_vif_model': 'x' * 256}])
    def test_what_nova_refuses_as_metadata_is_refused(self, cloud, metadata):
        answer = cloud.with_metadata(metadata)
        cloud.assert_refused(answer, 400, {})
        assert 'metadata' in answer.message or 'Value' in answer.message

    def test_overrides_in_two_places_of_a_request_are_refused(self, cloud):
        answer = cloud.http('POST', '/servers', cloud.server_body(
            {}, metadata={errors.PRESET: 'vga', base.PARAMETER: '{}'},
            **{errors.PRESET: 'vga'}))
        cloud.assert_refused(answer, 400, dict.fromkeys(
            (base.PARAMETER, errors.PRESET), errors.DUPLICATE))
        assert 'server.metadata.' in answer.message

    def test_what_the_body_has_needs_the_header_all_the_same(self, cloud):
        answer = cloud.with_metadata(
            {errors.PRESET: 'vga'}, {'hw_vif_model': 'e1000'})
        cloud.assert_refused(
            answer, 400, {base.PARAMETER: errors.VERSION_MISSING})

    def test_a_preset_here_and_properties_there_are_no_duplicate(self, cloud):
        server = cloud.made({errors.PRESET: 'menu'}, {'hw_vif_model': 'e1000'},
                            extension=base.LATEST)
        assert cloud.used(server) == (
            'menu', {'hw_boot_menu': 'true', 'hw_vif_model': 'e1000'})

    def test_a_hint_of_a_preset_is_still_closed(self, cloud):
        body = {**cloud.server_body(metadata={errors.PRESET: 'vga'}),
                'os:scheduler_hints': {errors.PRESET: 'vga'}}
        cloud.assert_refused(
            cloud.http('POST', '/servers', body, extension=None), 400,
            {errors.PRESET: errors.NOT_HERE})

    @pytest.mark.parametrize('key', [
        errors.PRESET, base.PARAMETER, PREFIX + 'hw_vif_model'])
    def test_a_server_that_exists_takes_none(self, cloud, key):
        server = cloud.made({'mine': 'kept'})
        name = key.partition(':')[0]
        path = f'/servers/{server}/metadata'
        for answer in (
                cloud.http('POST', path, {'metadata': {key: 'vga'}}),
                cloud.http('PUT', path, {'metadata': {key: 'vga', 'a': 'b'}}),
                cloud.http('PUT', f'{path}/{key}', {'meta': {key: 'vga'}}),
                cloud.http('PUT', f'{path}/{key}', {'meta': {key: 'vga'}},
                           api='v2', compute=None, extension=None),
                cloud.act(server, {'rebuild': {
                    'imageRef': base.IMAGE, 'metadata': {key: 'vga'}}})):
            answer.expect(400, {name: errors.NOT_HERE})
            assert key in answer.reasons[name]
        assert cloud.show(server)['metadata'] == {'mine': 'kept'}
        assert cloud.used(server) == (None, {})
        # Nova itself knows no metadata there.
        cloud.http('PUT', f'/servers/{server}', {
            'server': {'metadata': {key: 'vga'}}}).expect(400)

    def test_other_metadata_is_changed_as_ever(self, cloud):
        server = cloud.made({errors.PRESET: 'vga'})
        path = f'/servers/{server}/metadata'
        assert cloud.http('POST', path, {
            'metadata': {'a': 'b', 'image_props': 'c'}}).status == 200
        assert cloud.http('PUT', f'{path}/a', {
            'meta': {'a': 'd'}}).body == {'meta': {'a': 'd'}}
        assert cloud.http('DELETE', f'{path}/a').status == 204
        assert cloud.http('GET', path).body == {
            'metadata': {'image_props': 'c'}}
        assert cloud.used(server) == ('vga', presets.VGA)


class TestClosed:
    @pytest.mark.parametrize(('key', 'name'), [
        (errors.PRESET, errors.PRESET), (base.PARAMETER, base.PARAMETER),
        (PREFIX + 'hw_vif_model', base.PARAMETER)])
    def test_the_keys_are_refused_by_name(self, cloud, key, name):
        answer = cloud.with_metadata({key: '{}'})
        cloud.assert_refused(answer, 400, {name: errors.NOT_HERE})
        assert 'server metadata' in answer.reasons[name]

    def test_other_keys_are_novas(self, cloud):
        server = cloud.made({'image_props_overrides': 'x', 'a:b': 'c'})
        assert cloud.show(server)['metadata'] == {
            'image_props_overrides': 'x', 'a:b': 'c'}


class TestHints:
    OPTIONS = {**Cloud.OPTIONS, 'accept_scheduler_hint': True}

    def test_a_preset_can_be_a_hint(self, cloud):
        server = cloud.created(cloud.http('POST', '/servers', {
            **cloud.server_body(), 'os:scheduler_hints': {
                errors.PRESET: 'vga', PREFIX + 'hw_vif_model': 'e1000'}},
            extension=None))
        assert cloud.used(server) == (
            'vga', {**presets.VGA, 'hw_vif_model': 'e1000'})
