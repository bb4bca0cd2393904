"""Stacks whose servers have what the operator offers no longer."""

import pytest

from nova_image_override import errors
from testing.site import cloud as cloud_module
from tests.functional import presets
from tests.heat.real import created
from tests.heat.real import failed
from tests.heat.real import refused
from tests.heat.real import status
from tests.heat.real import STOP
from tests.heat.real import updated
from tests.heat.real import used

#: Without the preset, hw_video_model may not be overridden.
KEPT = {errors.PRESET: 'vga', errors.PARAMETER: {'hw_video_model': None}}
IN_FORCE = {'hw_disk_bus': 'scsi'}
NO_PRESET = 'This cloud offers you no preset vga'


class Cloud(presets.Cloud, cloud_module.Cloud):
    pass


@pytest.fixture
def server(cloud, stack, template):
    """Return a stack's server, whose preset has been retired since."""
    server = created(stack('create', template(**KEPT, **STOP)))
    cloud.rewrite('menu: {description: x, properties: {hw_boot_menu: true}}')
    yield server
    cloud.rewrite(presets.PRESETS)


def group(template, **properties):
    """Return a template with a group of such servers."""
    made = template(**properties)
    made['resources'] = {'group': {
        'type': 'OS::Heat::ResourceGroup', 'properties': {
            'count': 2, 'resource_def': made['resources']['guest']}}}
    return made


def test_an_update_of_something_else_needs_no_permission(
        cloud, stack, template, server):
    updated(stack, server, template(metadata={'a': 'b'}, **KEPT, **STOP))
    shown = cloud.request('GET', f'/servers/{server}').body['server']
    assert shown['metadata'] == {'a': 'b'}
    assert used(cloud, server) == ('vga', IN_FORCE)


def test_what_the_server_has_can_be_withdrawn(cloud, stack, template, server):
    updated(stack, server, template(**STOP))
    assert used(cloud, server) == (None, {})
    assert status(cloud, server) == 'ACTIVE'


def test_a_group_in_the_stack_is_validated_when_it_is_updated_itself(
        stack, template, server):
    assert stack('revalidate', group(template, **KEPT)) == {}


# --- refusals ---------------------------------------------------------------

def test_a_new_name_is_validated_in_an_update(
        cloud, sent, stack, template, server):
    before = len(sent())
    error = refused(stack('update', template({
        'hw_boot_menu': True, 'hw_video_model': 'vga', 'hw_vif_model': 'e1000',
        'hw_rng_model': 'virtio'}, **STOP)))
    assert error.endswith('may not be overridden in this cloud: '
                          'hw_boot_menu, hw_rng_model'), error
    assert used(cloud, server) == ('vga', IN_FORCE)
    assert len(sent()) == before


def test_beside_a_new_name_the_preset_is_validated_too(
        cloud, stack, template, server):
    error = refused(stack('update', template(**{**KEPT, errors.PARAMETER: {
        'hw_vif_model': 'e1000'}}, **STOP)))
    assert NO_PRESET in error
    assert used(cloud, server) == ('vga', IN_FORCE)


@pytest.mark.parametrize('made', [lambda make, **own: make(**own), group])
def test_another_stack_cannot_have_it(sent, stack, template, server, made):
    before = len(sent())
    assert NO_PRESET in refused(stack('validate', made(template, **KEPT)))
    assert len(sent()) == before


def test_another_server_in_its_place_is_refused_by_nova_and_it_stays(
        cloud, stack, template, server):
    assert 'vga' in failed(stack('update', template(
        flavor=cloud.flavor(), flavor_update_policy='REPLACE', **KEPT, **STOP)))
    assert status(cloud, server) == 'ACTIVE'
    assert used(cloud, server) == ('vga', IN_FORCE)


def test_a_server_that_was_never_made_has_nothing(stack, template, cloud):
    flavor = cloud.flavor(hw__pmu='false')
    failed(stack('create', template(
        {'hw_pmu': True}, flavor=flavor, **{errors.PRESET: 'no-pmu'})))
    error = refused(stack('update', template({'hw_pmu': False})))
    assert 'may not be overridden in this cloud: hw_pmu' in error
