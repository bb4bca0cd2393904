"""POST /image-props-override/check: what a rebuild or an update would get."""

import pytest

from nova_image_override import errors
from nova_image_override import versions
from testing.harness import base
from testing.harness import ids
from tests.functional import update_case

NUMA = {'hw_numa_nodes': '2'}


class Cloud(update_case.Cloud):
    OPTIONS = {
        'allowed_properties': ['*'], 'denied_properties': ['hw_vif_model']}

    def ask(self, server, key, inner, **kwargs):
        """Check a body, to which the server is added."""
        return self.http('POST', versions.CHECK_PATH, {
            key: {'id': server, **inner}}, **kwargs)

    def perform(self, server, key, inner, **kwargs):
        """Do what the check is about."""
        method, path = ('PUT', '') if key == 'server' else ('POST', '/action')
        return self.http(
            method, f'/servers/{server}{path}', {key: inner}, **kwargs)

    def actions(self, server):
        answer = self.http(
            'GET', f'/servers/{server}/os-instance-actions', admin=True)
        return [each['action'] for each in answer.body['instanceActions']]

    def checked(self, server, key, inner, **kwargs):
        """Check, which changes nothing of the server."""
        before, actions = self.state(server), self.actions(server)
        answer = self.ask(server, key, inner, **kwargs)
        assert self.state(server) == before
        assert self.actions(server) == actions
        return answer

    def assert_refused_alike(self, server, key, inner, status, **kwargs):
        checked = self.checked(server, key, inner, **kwargs)
        performed = self.perform(server, key, inner, **kwargs)
        checked.expect(status)
        assert (checked.status, checked.text) == (
            performed.status, performed.text)
        return checked


def rebuild(overrides=None, **inner):
    return {'imageRef': base.IMAGE, **inner, **(
        {} if overrides is None else {base.PARAMETER: overrides})}


def update(overrides):
    return {base.PARAMETER: overrides}


class TestRebuild:
    @pytest.mark.parametrize('asked', [
        {'hw_video_model': 'cirrus'}, {}, None], ids=ids.short)
    def test_the_answer_is_what_the_rebuild_then_stores(self, cloud, asked):
        server = cloud.boot({'hw_video_model': 'vga'})
        image = cloud.image(os_distro='debian')
        body = rebuild(asked, imageRef=image)
        answer = cloud.checked(server, 'rebuild', body).expect(200)
        told = answer.body[base.PARAMETER]
        assert told['properties']['os_distro'] == 'debian'
        assert cloud.perform(server, 'rebuild', body).status == 202
        cloud.wait(server, 'ACTIVE')
        assert {name: each['value']
                for name, each in told['overridden'].items()} == (
                    cloud.show(server)[base.PARAMETER])
        stored = cloud.request_spec(server)
        assert {name: stored.get(name) for name in told['properties']} == (
            told['properties'])

    def test_a_server_without_overrides_can_be_asked_about(self, cloud):
        server = cloud.boot()
        image = cloud.image(hw_disk_bus='ide')
        told = cloud.ask(
            server, 'rebuild', rebuild(imageRef=image)).body[base.PARAMETER]
        assert told == {'properties': {'hw_disk_bus': 'ide'},
                        'overridden': {}, 'numa_topology': None}

    @pytest.mark.parametrize(('overrides', 'status'), [
        (NUMA, 400), ({'no_such_thing': 'x'}, 400), ({'hw_disk_bus': 'x'}, 400),
        ({'hw_vif_model': 'e1000'}, 403), ({'trait:CUSTOM_A': 'required'}, 409),
        ({'hw_tpm_version': '2.0'}, 400)], ids=ids.short)
    def test_a_refusal_is_the_rebuild_s(self, cloud, overrides, status):
        cloud.assert_refused_alike(
            cloud.boot(), 'rebuild', rebuild(overrides), status)

    @pytest.mark.parametrize('inner', [
        {'imageRef': 'no-image'}, {'imageRef': base.IMAGE, 'extra': 'x'}, {}],
        ids=ids.short)
    def test_what_nova_itself_refuses_is_refused_alike(self, cloud, inner):
        cloud.assert_refused_alike(cloud.boot(), 'rebuild', inner, 400)

    def test_so_is_a_server_that_is_locked_or_in_another_state(self, cloud):
        server = cloud.boot()
        cloud.do(server, 'pause', 'PAUSED')
        cloud.assert_refused_alike(server, 'rebuild', rebuild({}), 409)
        cloud.do(server, 'unpause')
        assert cloud.act(server, {'lock': None}, admin=True).status == 202
        cloud.assert_refused_alike(
            server, 'rebuild', rebuild({'hw_boot_menu': 'true'}), 409)


class TestUpdate:
    def test_the_answer_is_what_the_update_then_stores(self, cloud):
        server = cloud.stopped({'hw_video_model': 'vga'})
        body = update({'hw_disk_bus': 'ide', 'hw_boot_menu': 'yes'})
        answer = cloud.checked(server, 'server', body).expect(200)
        told = answer.body[base.PARAMETER]
        assert told['overridden']['hw_boot_menu']['value'] == 'true'
        assert 'hw_video_model' not in told['overridden']
        assert cloud.perform(server, 'server', body).status == 200
        cloud.assert_changed(server, {
            name: each['value'] for name, each in told['overridden'].items()})

    @pytest.mark.parametrize(('overrides', 'status'), [
        (NUMA, 409), ({'no_such_thing': 'x'}, 400),
        ({'hw_vif_model': 'e1000'}, 403), ({'hw_video_model': 'gop'}, 400)],
        ids=ids.short)
    def test_a_refusal_is_the_update_s(self, cloud, overrides, status):
        cloud.assert_refused_alike(
            cloud.stopped(), 'server', update(overrides), status)

    def test_so_is_a_server_that_runs(self, cloud):
        answer = cloud.assert_refused_alike(
            cloud.boot(), 'server', update({'hw_boot_menu': 'true'}), 409)
        assert answer.problems == {base.PARAMETER: errors.WRONG_STATE}

    def test_and_the_other_fields_of_the_body_are_validated(self, cloud):
        server = cloud.boot()
        cloud.assert_refused_alike(
            server, 'server', {**update({}), 'name': ''}, 400)
        cloud.assert_refused_alike(
            server, 'server', {**update({}), 'extra': 'x'}, 400)

    def test_a_check_of_nothing_is_refused_and_renames_nothing(self, cloud):
        server = cloud.boot()
        before = cloud.state(server)
        cloud.ask(server, 'server', {'name': 'other'}).expect(
            400, {base.PARAMETER: errors.INVALID_VALUE})
        assert cloud.state(server) == before


class TestWho:
    def test_only_who_may_do_it_may_ask(self, cloud):
        server, asked = cloud.stopped(), {'hw_boot_menu': 'true'}
        for key, inner in (('rebuild', rebuild(asked)),
                           ('server', update(asked))):
            cloud.assert_refused_alike(
                server, key, inner, 403, roles='reader')

    def test_the_header_must_name_the_extension(self, cloud):
        server = cloud.boot()
        before = cloud.state(server)
        cloud.ask(server, 'rebuild', rebuild({}), extension=None).expect(
            400, {base.PARAMETER: errors.VERSION_MISSING})
        assert cloud.state(server) == before


class TestBody:
    BUILD = False

    @pytest.mark.parametrize('key', ['rebuild', 'server'])
    @pytest.mark.parametrize('server', [
        '7d9b0c1e-0000-4000-8000-000000000000', 'x', '', 'é' * 300])
    def test_a_server_that_does_not_exist_is_not_found(
            self, cloud, key, server):
        inner = rebuild({}) if key == 'rebuild' else update({})
        assert cloud.ask(server, key, inner).status == 404

    @pytest.mark.parametrize('body', [
        {'rebuild': rebuild({})}, {'rebuild': {'id': 5, **rebuild({})}},
        {'server': {'id': None, **update({})}}], ids=ids.short)
    def test_a_server_without_an_id_is_asked_for_it(self, cloud, body):
        cloud.http('POST', versions.CHECK_PATH, body).expect(
            400, {'id': errors.INVALID_TYPE})
        cloud.assert_nothing_created()

    @pytest.mark.parametrize('body', [
        {'rebuild': None},
        {'rebuild': {'id': 'x', **rebuild({})}, 'server': {'id': 'x'}}],
        ids=ids.short)
    def test_what_is_no_check_is_refused(self, cloud, body):
        answer = cloud.http('POST', versions.CHECK_PATH, body)
        assert 400 <= answer.status < 405, answer.text
        cloud.assert_nothing_created()
