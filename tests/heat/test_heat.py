"""Servers of stacks are built with their overrides."""

import pytest

from nova_image_override import versions
from testing.harness import base
from testing.site import cloud as cloud_module
from tests import environments
from tests.heat.real import created
from tests.heat.real import failed
from tests.heat.real import in_force
from tests.heat.real import refused
from tests.heat.real import status
from tests.heat.real import STOP
from tests.heat.real import updated


class Cloud(cloud_module.Cloud):
    EXTENDED_HOSTS = ('compute1',)


def test_the_plugin_takes_the_place_of_heats_server(heat):
    found = heat('types')
    assert found['module'].startswith('heat.engine.plugins')
    assert base.PARAMETER in found['properties']


def test_overrides_reach_the_guest_numbers_and_booleans_too(
        cloud, sent, stack, template):
    asked = {'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true',
             'hw_cpu_sockets': '2', 'hw_pmu': 'false'}
    made = template({**asked, 'hw_pmu': False, 'hw_boot_menu': {
        'get_param': 'menu'}, 'hw_cpu_sockets': {'get_param': 'sockets'}})
    made['parameters'] = {'sockets': {'type': 'number'},
                          'menu': {'type': 'boolean'}}
    server = created(stack('create', made, parameters={
        'sockets': 2, 'menu': 'yes'}))
    assert in_force(cloud, server) == asked
    assert cloud.guest(server).find(
        'devices/disk/target').get('bus') == 'scsi'
    (request,) = sent()
    assert request.body['server'][base.PARAMETER] == asked
    # The compute version stays what Heat has chosen.
    compute, entry = request.version.split(', ')
    assert compute == f'compute {request.legacy_version}'
    assert entry == f'{versions.SERVICE_TYPE} {versions.MAX}'


def test_null_removes_the_images_property(cloud, stack, template):
    image = cloud.image(hw_disk_bus='scsi')
    server = created(stack('create', template(
        {'hw_disk_bus': None}, image=image)))
    assert in_force(cloud, server) == {'hw_disk_bus': None}
    assert cloud.guest(server).find(
        'devices/disk/target').get('bus') == 'virtio'


@pytest.mark.parametrize('overrides', [None, {}])
def test_a_server_without_overrides_is_created_as_heat_does(
        cloud, sent, stack, template, overrides):
    server = created(stack('create', template(overrides)))
    assert in_force(cloud, server) == {}
    (request,) = sent()
    assert base.PARAMETER not in request.body['server']
    assert versions.SERVICE_TYPE not in request.version


def test_a_change_replaces_the_server_and_one_of_something_else_does_not(
        cloud, stack, template):
    first = created(stack('create', template({'hw_disk_bus': 'scsi'})))
    updated(stack, first, template(
        {'hw_disk_bus': 'scsi'}, metadata={'a': 'b'}))
    answer = stack('update', template({'hw_disk_bus': 'sata'}))
    assert answer['state'] == 'UPDATE_COMPLETE', answer
    second = answer['resources']['guest']
    assert second != first
    assert in_force(cloud, second) == {'hw_disk_bus': 'sata'}
    assert cloud.request('GET', f'/servers/{first}').status == 404


def test_by_the_templates_policy_a_change_stops_and_starts_the_server(
        cloud, sent, stack, template):
    server = created(stack('create', template(
        {'hw_video_model': 'vga'}, **STOP)))
    updated(stack, server, template(
        {'hw_video_model': 'virtio', 'hw_boot_menu': True}, **STOP))
    assert in_force(cloud, server) == {
        'hw_video_model': 'virtio', 'hw_boot_menu': 'true'}
    assert status(cloud, server) == 'ACTIVE'
    assert cloud.guest(server).find(
        'devices/video/model').get('type') == 'virtio'
    assert [request.body for request in sent()[1:]] == [
        {'os-stop': None}, {'os-start': None}]
    updated(stack, server, template(**STOP))
    assert in_force(cloud, server) == {}


def test_another_spelling_leaves_the_server_alone(
        cloud, sent, stack, template):
    server = created(stack('create', template({'hw_boot_menu': True}, **STOP)))
    updated(stack, server, template({'hw_boot_menu': 'true'}, **STOP))
    assert len(sent()) == 1


def test_a_server_that_is_stopped_stays_stopped(cloud, sent, stack, template):
    server = created(stack('create', template(
        {'hw_video_model': 'vga'}, **STOP)))
    cloud.request('POST', f'/servers/{server}/action', {'os-stop': None})
    cloud.wait(server, 'SHUTOFF')
    updated(stack, server, template({'hw_video_model': 'virtio'}, **STOP))
    assert in_force(cloud, server) == {'hw_video_model': 'virtio'}
    assert status(cloud, server) == 'SHUTOFF'


def test_a_change_goes_before_heats_own_updates(cloud, stack, template):
    server = created(stack('create', template(
        {'hw_video_model': 'vga'}, **STOP)))
    updated(stack, server, template(
        {'hw_video_model': 'virtio'}, metadata={'a': 'b'}, name='other',
        image=cloud.image(), **STOP))
    assert in_force(cloud, server) == {'hw_video_model': 'virtio'}
    assert status(cloud, server) == 'ACTIVE'


def test_a_policy_that_changes_too_counts_as_it_is_to_be(
        cloud, stack, template):
    server = created(stack('create', template({'hw_video_model': 'vga'})))
    updated(stack, server, template({'hw_video_model': 'vga'}, **STOP))
    updated(stack, server, template({'hw_video_model': 'virtio'}, **STOP))
    answer = stack('update', template({'hw_video_model': 'vga'}))
    assert answer['state'] == 'UPDATE_COMPLETE', answer
    assert answer['resources']['guest'] != server


def test_a_rebuild_keeps_overrides(cloud, sent, stack, template):
    properties = {'image_update_policy': 'REBUILD'}
    first = created(stack('create', template(
        {'hw_boot_menu': 'true'}, **properties)))
    updated(stack, first, template(
        {'hw_boot_menu': 'true'}, image=cloud.image(), **properties))
    assert in_force(cloud, first) == {'hw_boot_menu': 'true'}
    assert base.PARAMETER not in sent()[-1].body['rebuild']


def test_the_template_of_the_documentation_is_valid(cloud, heat):
    template = (environments.ROOT / 'docs/source/user/heat.yaml').read_text()

    def validate(template):
        return heat('validate', name='docs', template=template,
                    parameters={'flavor': cloud.flavor()})

    assert validate(template) == {}
    assert 'hw_bot_menu' in refused(validate(
        template.replace('hw_boot_menu: true', 'hw_bot_menu: true')))


# --- refusals ---------------------------------------------------------------

def test_validation_names_every_property_that_is_closed(
        sent, stack, template):
    for what in 'validate', 'create':
        assert (
            'image_props_override: may not be overridden in this cloud: 7, '
            'hw_bot_menu, hw_numa_mem.x, img_signature, vm_mode') in refused(
            stack(what, template({
                'hw_disk_bus': 'floppy', 'hw_numa_mem.0': 1,
                'hw_numa_mem.x': 1, 'hw_bot_menu': '1', 'img_signature': 'x',
                'vm_mode': 'hvm', 7: 'x'})))
    assert not sent()


@pytest.mark.parametrize('value', [20.1, [], {}])
def test_values_that_are_not_one_thing_are_refused_by_nova(
        stack, template, value):
    assert 'hw_boot_menu: invalid_type: ' in failed(
        stack('create', template({'hw_boot_menu': value})))


@pytest.mark.parametrize('name, value', [
    (base.PARAMETER, ['hw_boot_menu']),
    ('image_props_override_update_policy', 'REBUILD')])
def test_a_property_of_another_kind_is_refused(stack, template, name, value):
    assert name in refused(stack('validate', template(**{name: value})))


def test_what_only_nova_can_judge_fails_the_resource_and_says_why(
        cloud, stack, template):
    flavor = cloud.flavor(hw__pmu='false')
    answer = stack('create', template({'hw_pmu': True}, flavor=flavor))
    assert 'hw_pmu: flavor_conflict' in failed(answer)
    assert answer['resources']['guest'] is None
