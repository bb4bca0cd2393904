"""The recipes for tools that know nothing of the extension."""

import json

import pytest

from nova_image_override import errors
from testing import examples
from testing.harness import base
from tests.functional import presets
from tests.functional import recipes

PRESET = 'uefi-secure-boot'
OWN = 'hw_vif_multiqueue_enabled'
OURS = (errors.PRESET, f'{base.PARAMETER}:{OWN}')

every = pytest.mark.parametrize('recipe', recipes.RECIPES, ids=recipes.name)
metadata = pytest.mark.parametrize(
    'recipe', recipes.WITH_METADATA, ids=recipes.name)


class Cloud(presets.Cloud):
    """The operator offers the presets that the package has as examples."""

    OPTIONS = {'allowed_properties': [OWN]}
    POLICY = {}
    PRESETS = examples.PRESETS.read_text()

    def ids(self, recipe):
        """Return what a body names: all of it is there."""
        self.http('POST', '/os-keypairs', {'keypair': {'name': 'workers'}},
                  compute='2.1')
        network = self.neutron.network_1['id']
        named = {'image': base.IMAGE, 'flavor': self.flavor(),
                 'network': network}
        if '$port' in recipe.raw:
            named['port'] = self.neutron.create_port({'port': {
                'network_id': network}})['port']['id']
        return named

    def send(self, recipe, change=lambda body: None):
        """POST /servers as the tool does, after CHANGE to the body."""
        raw = recipe.body(**self.ids(recipe))
        body = json.loads(raw)
        change(body)
        if body != json.loads(raw):
            raw = json.dumps(body).encode()
        return self.http('POST', '/servers', raw, compute=recipe.compute,
                         extension=None)

    def made(self, *args):
        return self.created(self.send(*args))


def kept(recipe):
    """Return the metadata that a server of the recipe has."""
    return {key: value for key, value in json.loads(recipe.raw)['server'][
        'metadata'].items() if key not in OURS}


@every
def test_the_body_has_what_the_file_says_and_what_the_tool_adds(recipe):
    assert recipe.sent() == {**recipe.keys(), **recipe.adds}
    assert recipe.raw.encode().isascii()
    # As Go writes an object: no blanks, and sorted.
    assert recipe.raw == json.dumps(
        json.loads(recipe.raw), separators=(',', ':'), sort_keys=True)


class TestOpen:
    OPTIONS = {**Cloud.OPTIONS, 'accept_server_metadata': True,
               'accept_scheduler_hint': True}

    @every
    def test_the_guest_is_that_of_preset_and_property(self, cloud, recipe):
        server = cloud.made(recipe)
        assert cloud.used(server) == (PRESET, {
            'hw_machine_type': 'q35', 'hw_firmware_type': 'uefi',
            'os_secure_boot': 'required', OWN: 'true'})
        guest = cloud.guest(server)
        assert guest.find('os/loader').get('secure') == 'yes'
        for interface in guest.findall('devices/interface'):
            assert interface.find('driver').get('queues') == '2'
        # Gardener and kubermatic find their machines by it.
        assert cloud.show(server)['metadata'] == kept(recipe)

    @metadata
    def test_a_value_over_255_characters_is_refused(self, cloud, recipe):
        def longer(body):
            body['server']['metadata'][OURS[1]] = 'x' * 256
        answer = cloud.send(recipe, longer)
        cloud.assert_refused(answer, 400, {})
        assert OURS[1] in answer.message

    @every
    def test_what_may_not_be_asked_for_is_refused_by_name(self, cloud, recipe):
        def other(body):
            keys = (body['os:scheduler_hints'] if recipe.hints
                    else body['server']['metadata'])
            keys[errors.PRESET] = 'uefi'
            keys[f'{base.PARAMETER}:hw_vif_multiqueue'] = 'true'
        cloud.assert_refused(cloud.send(recipe, other), 400, {
            errors.PRESET: errors.UNKNOWN_PRESET,
            'hw_vif_multiqueue': errors.UNKNOWN})

    @metadata
    def test_only_the_other_keys_count_for_the_quota(self, cloud, recipe):
        cloud.flags(metadata_items=len(kept(recipe)), group='quota')
        cloud.made(recipe)

        def more(body):
            body['server']['metadata']['more'] = 'x'
        answer = cloud.send(recipe, more).expect(403)
        assert 'metadata' in answer.message

    @pytest.mark.parametrize('method', ['POST', 'PUT'])
    def test_terraform_and_orc_cannot_change_the_keys_later(
            self, cloud, method):
        # resourceComputeInstanceV2Update sends all metadata by POST,
        # reconcileMetadata of ORC by PUT.
        recipe = recipes.RECIPES[0]
        server = cloud.made(recipe)
        answer = cloud.http(method, f'/servers/{server}/metadata', {
            'metadata': {**recipe.keys(), errors.PRESET: 'windows'}},
            compute=recipe.compute, extension=None)
        answer.expect(400, dict.fromkeys(
            (base.PARAMETER, errors.PRESET), errors.NOT_HERE))
        assert cloud.used(server)[0] == PRESET
        assert cloud.show(server)['metadata'] == kept(recipe)

    @pytest.mark.parametrize('key', OURS)
    def test_terraform_cannot_remove_a_key_later(self, cloud, key):
        server = cloud.made(recipes.RECIPES[0])
        cloud.http('DELETE', f'/servers/{server}/metadata/{key}').expect(404)
        assert cloud.used(server)[0] == PRESET


class TestClosed:
    @every
    def test_the_keys_are_refused_by_name(self, cloud, recipe):
        answer = cloud.send(recipe)
        cloud.assert_refused(answer, 400, dict.fromkeys(
            (base.PARAMETER, errors.PRESET), errors.NOT_HERE))
        where = 'scheduler hint' if recipe.hints else 'server metadata'
        assert where in answer.message


class TestNotForAll:
    """One of the properties of the preset is closed to this user."""

    OPTIONS = {**TestOpen.OPTIONS, 'denied_properties': ['os_secure_boot']}

    @every
    def test_a_property_of_the_preset_is_refused_by_name(self, cloud, recipe):
        answer = cloud.send(recipe)
        cloud.assert_refused(answer, 403, {'os_secure_boot': errors.DENIED})
        assert f'of preset {PRESET}' in answer.message
