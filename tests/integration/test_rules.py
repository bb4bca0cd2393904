"""What is closed to a tenant stays closed, whichever rule closes it."""

import pytest

from testing.deployment import command
from testing.deployment import nova
from testing.deployment import places

#: How a guest finds Intel's 82801AA, which is hw_sound_model=ac97.
AC97 = '0x8086 0x2415'

#: How openstack's error begins when a service answers 403.
FORBIDDEN = 'ForbiddenException: 403: '


def test_an_imported_image_keeps_what_is_injected_and_takes_overrides(
        boot, imported, tenant):
    properties = tenant.json('image', 'show', imported)['properties']
    assert properties['hw_sound_model'] == 'ac97'
    overrides = {'os_command_line': 'console=ttyS0 imported=1', **places.SCSI}
    server = boot(overrides, image=imported)
    assert server.api == overrides
    assert server.domain.find('devices/sound').get('model') == 'ac97'
    told = server.told
    assert told.cmdline == 'console=ttyS0 imported=1'
    assert told.disks == ['sda']
    assert told.sound == AC97


def test_a_tenant_cannot_override_what_glance_injects(refused, imported):
    assert 'hw_sound_model: injected:' in refused(
        {'hw_sound_model': 'ich6'}, image=imported)


def test_whom_glance_trusts_removes_what_it_injects(boot, imported):
    server = boot({'hw_sound_model': ''}, image=imported, who='nfv')
    assert server.api == {'hw_sound_model': None}
    assert server.domain.find('devices/sound') is None
    assert server.told.sound == ''


def test_every_refused_property_is_named_with_its_rule(refused):
    told = refused({
        'hw_watchdog_action': 'reset', 'hw_numa_nodes': '2',
        'hw_pmu': 'true', 'hw_video_model': 'qxl', 'img_owner_id': 'me',
        'os_command_line': 'console=ttyS0'})
    for reason in ('hw_watchdog_action: protected:', 'hw_numa_nodes: policy:',
                   'hw_pmu: not_allowed:', 'hw_video_model: value_not_allowed:',
                   'img_owner_id: never:'):
        assert reason in told
    assert 'os_command_line:' not in told


def test_the_operator_may_what_protections_permit_him(boot):
    server = boot({'hw_watchdog_action': 'reset'}, who='operator')
    assert server.domain.find('devices/watchdog').get('action') == 'reset'


def test_a_tenant_cannot_upload_past_injection(deployment, tenant, operator):
    with pytest.raises(command.Refused, match=f'^{FORBIDDEN}'):
        tenant('image', 'create', '--disk-format', 'raw',
               '--container-format', 'bare', '--file',
               str(deployment.state.file('guest', 'disk')), 'direct')
    for image in operator.json('image', 'list', '--name', 'direct'):
        operator('image', 'delete', image['ID'])


def test_the_answer_changes_when_the_deployer_edits_the_list(
        deployment, boot, refused):
    agent = {'hw_qemu_guest_agent': 'true'}
    assert 'hw_qemu_guest_agent: not_allowed:' in refused(agent)
    rules = dict(deployment.nova_api.rules)
    deployment.nova_api.rules['allowed_properties'] = ', '.join(
        [*nova.ALLOWED, *agent])
    deployment.nova_api.rules['denied_properties'] = 'os_command_line'
    try:
        deployment.nova_api.restart()
        channels = boot(agent).domain.findall('devices/channel/target')
        assert 'org.qemu.guest_agent.0' in [
            target.get('name') for target in channels]
        assert 'os_command_line: denied:' in refused(
            {'os_command_line': 'console=ttyS0'})
    finally:
        deployment.nova_api.rules = rules
        deployment.nova_api.restart()
