"""The documented playbook that changes the overrides of a server."""

import pytest

from testing.harness import base
from testing.site import cloud as cloud_module
from tests.ansible import real

PLAYBOOK = real.CHANGE.read_text()
CHANGE, START = 'Change the overrides', 'Start the server'


Cloud = cloud_module.Cloud


@pytest.fixture
def server(cloud):
    """A server as the other playbook boots it, which tests do that boot."""
    return cloud.boot(
        {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi',
         'hw_boot_menu': 'true'}, server={'name': 'guest'})


def shown(cloud, server):
    found = cloud.show(server)
    return found['status'], found[base.PARAMETER]


def test_the_server_is_stopped_changed_and_started(cloud, ansible, server):
    tasks = ansible.run(PLAYBOOK)
    assert tasks[CHANGE]['changed']
    assert shown(cloud, server) == ('ACTIVE', {
        'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi',
        'hw_video_model': 'vga'})
    assert cloud.video(server) == 'vga'


def test_a_second_run_leaves_the_server_alone(cloud, ansible, server):
    ansible.run(PLAYBOOK)
    tasks = ansible.run(PLAYBOOK)
    for name in ('Stop the server', CHANGE, START):
        assert tasks[name].get('skipped'), tasks[name]


def test_no_override_drops_all(cloud, ansible, server):
    ansible.run(PLAYBOOK.replace(
        'image_props_override:\n            hw_disk_bus: scsi\n'
        '            hw_scsi_model: virtio-scsi\n'
        '            hw_video_model: vga\n', 'image_props_override: {}\n'))
    assert shown(cloud, server) == ('ACTIVE', {})


@pytest.mark.parametrize(('written', 'says'), [
    ('hw_video_model: floppy', 'hw_video_model: invalid_value'),
    ('hw_machine_type: q35', 'hw_machine_type: denied')])
def test_a_refusal_fails_the_task_and_the_server_runs_as_it_was(
        cloud, ansible, server, written, says):
    before = shown(cloud, server)
    tasks = ansible.run(
        PLAYBOOK.replace('hw_video_model: vga', written), fails=True)
    assert says in str(tasks[CHANGE])
    assert shown(cloud, server) == before


def test_without_the_hook_nothing_is_changed(cloud, ansible, server):
    before = shown(cloud, server)
    ansible.run(PLAYBOOK, hook=None, fails=True)
    assert shown(cloud, server) == before
