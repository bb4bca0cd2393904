"""Presets in templates."""

import pytest

from nova_image_override import errors
from testing.site import cloud as cloud_module
from tests.heat.real import created
from tests.heat.real import failed
from tests.heat.real import refused
from tests.heat.real import status
from tests.heat.real import STOP
from tests.heat.real import updated
from tests.heat.real import used

WINDOWS = {'hw_firmware_type': 'uefi', 'hw_vif_model': 'e1000e',
           'hw_video_model': 'virtio', 'os_type': 'windows'}


class Cloud(cloud_module.Cloud):
    EXTENDED_HOSTS = ('compute1',)


def with_preset(template, name, overrides=None, **properties):
    return template(overrides, **{errors.PRESET: name}, **properties)


def test_a_preset_reaches_the_guest(cloud, sent, stack, template):
    server = created(stack('create', with_preset(template, 'windows')))
    assert used(cloud, server) == ('windows', WINDOWS)
    (request,) = sent()
    assert request.body['server'][errors.PRESET] == 'windows'
    assert cloud.guest(server).find('devices/video/model').get(
        'type') == 'virtio'


def test_what_the_template_overrides_besides_wins(cloud, stack, template):
    made = with_preset(template, {'get_param': 'preset'}, {
        'hw_video_model': 'vga', 'hw_vif_model': None})
    made['parameters'] = {'preset': {'type': 'string'}}
    server = created(stack('create', made, parameters={'preset': 'windows'}))
    assert used(cloud, server) == ('windows', {
        'hw_firmware_type': 'uefi', 'hw_video_model': 'vga',
        'os_type': 'windows'})


def test_another_preset_replaces_the_server(cloud, stack, template):
    first = created(stack('create', with_preset(template, 'windows')))
    answer = stack('update', with_preset(template, 'legacy-bios-ide'))
    assert answer['state'] == 'UPDATE_COMPLETE', answer
    second = answer['resources']['guest']
    assert second != first
    assert used(cloud, second)[0] == 'legacy-bios-ide'


def test_by_the_templates_policy_it_changes_the_server(
        cloud, stack, template):
    server = created(stack('create', with_preset(template, 'windows', **STOP)))
    # Each changes one of both properties, and sends both.
    for preset, overrides, name, in_force in (
            ('windows', {'hw_video_model': 'vga'}, 'windows', {
                **WINDOWS, 'hw_video_model': 'vga'}),
            (None, {'hw_video_model': 'vga'}, None, {'hw_video_model': 'vga'}),
            ('windows', {'hw_video_model': 'vga'}, 'windows', {
                **WINDOWS, 'hw_video_model': 'vga'}),
            (None, None, None, {})):
        properties = {} if preset is None else {errors.PRESET: preset}
        updated(stack, server, template(overrides, **properties, **STOP))
        assert used(cloud, server) == (name, in_force)
        assert status(cloud, server) == 'ACTIVE'


def test_another_spelling_beside_a_preset_leaves_the_server_alone(
        cloud, sent, stack, template):
    dropped = {'hw_vif_model': None}
    server = created(stack('create', with_preset(
        template, 'windows', {'hw_boot_menu': True, **dropped}, **STOP)))
    updated(stack, server, with_preset(
        template, 'windows', {'hw_boot_menu': 'true', **dropped}, **STOP))
    assert len(sent()) == 1


def test_a_stack_without_the_preset_any_more_is_not_taken_for_another_spelling(
        cloud, stack, template):
    server = created(stack('create', with_preset(template, 'windows', **STOP)))
    updated(stack, server, template(WINDOWS, **STOP))
    assert used(cloud, server) == (None, WINDOWS)


# --- refusals ---------------------------------------------------------------

@pytest.mark.parametrize('name', ['Windows', 'nfv-realtime', 'a b'])
def test_a_preset_that_the_user_cannot_use_is_found_by_validation(
        sent, stack, template, name):
    for what in ('validate', 'create'):
        error = refused(stack(what, with_preset(template, name)))
        assert 'This cloud offers you no preset ' in error
        assert 'but legacy-bios-ide, nfv-2m-pinned, windows.' in error
    assert not sent()


def test_names_besides_it_are_validated_as_they_ever_were(stack, template):
    error = refused(stack('validate', with_preset(
        template, 'windows', {'hw_bot_menu': '1', 'hw_video_model': 'vga'})))
    assert 'may not be overridden in this cloud: hw_bot_menu' in error
    assert 'hw_video_model' not in error


def test_a_change_that_is_refused_leaves_the_server_running_with_its_preset(
        cloud, stack, template):
    server = created(stack('create', with_preset(template, 'windows', **STOP)))
    assert 'hw_numa_nodes: needs_claim' in failed(stack('update', with_preset(
        template, 'windows', {'hw_numa_nodes': 2}, **STOP)))
    cloud.wait(server)
    assert used(cloud, server) == ('windows', WINDOWS)
