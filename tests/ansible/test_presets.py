"""Playbooks that name a preset."""

import pytest

from nova_image_override import errors
from testing.harness import base
from testing.site import cloud as cloud_module
from tests import environments
from tests.ansible import real
from tests.ansible.real import BOOT
from tests.ansible.real import servers

PLAYBOOK = (environments.ROOT / 'docs' / 'source' / 'user'
            / 'ansible-preset.yaml').read_text()
PRESET = 'image_props_override_preset: windows'

WINDOWS = {'hw_firmware_type': 'uefi', 'hw_vif_model': 'e1000e',
           'hw_video_model': 'virtio', 'os_type': 'windows'}

#: The documented playbook that changes a server, with a preset instead.
CHANGE = real.CHANGE.read_text().replace(
    'image_props_override:\n            hw_disk_bus: scsi\n'
    '            hw_scsi_model: virtio-scsi\n'
    '            hw_video_model: vga\n',
    f'{PRESET}\n').replace(
    'updateable_attributes: [image_props_override]',
    'updateable_attributes: [image_props_override_preset]')


Cloud = cloud_module.Cloud


def used(cloud):
    (server,) = servers(cloud)
    return server[errors.PRESET] and server[errors.PRESET]['name'], server[
        base.PARAMETER]


def test_the_documented_playbook_boots_a_server_with_a_preset(cloud, ansible):
    tasks = ansible.run(PLAYBOOK)
    assert tasks[BOOT]['resource'][errors.PRESET] == 'windows'
    assert used(cloud) == ('windows', {**WINDOWS, 'hw_boot_menu': 'true'})
    assert not ansible.run(PLAYBOOK)[BOOT]['changed']


def test_another_preset_is_a_change_and_the_same_is_none(cloud, ansible):
    ansible.run(PLAYBOOK.replace('windows', 'legacy-bios-ide'))
    assert ansible.run(CHANGE)['Change the overrides']['changed']
    assert used(cloud) == ('windows', WINDOWS)
    tasks = ansible.run(CHANGE)
    for name in ('Stop the server', 'Change the overrides'):
        assert tasks[name].get('skipped'), tasks[name]


# --- refusals ---------------------------------------------------------------

@pytest.mark.parametrize(('written', 'says'), [
    ('image_props_override_preset: Windows',
     'image_props_override_preset: unknown_preset'),
    ('image_props_override_preset: [windows]',
     'image_props_override_preset: invalid_type')])
def test_a_refusal_fails_the_task_and_says_why(cloud, ansible, written, says):
    tasks = ansible.run(PLAYBOOK.replace(PRESET, written, 1), fails=True)
    assert says in str(tasks[BOOT])
    assert not servers(cloud)


def test_without_the_hook_the_playbook_notices(cloud, ansible):
    tasks = ansible.run(PLAYBOOK, hook=None, fails=True)
    assert tasks['Be sure of it']['failed']
    assert used(cloud) == (None, {})
