"""The playbook of the documentation, and what goes wrong with others."""

from testing.harness import base
from testing.site import cloud as cloud_module
from tests.ansible import real
from tests.ansible.real import BOOT
from tests.ansible.real import servers

PLAYBOOK = real.PLAYBOOK.read_text()


Cloud = cloud_module.Cloud


def test_the_documented_playbook_boots_a_server_with_overrides(
        cloud, ansible):
    assert ansible.run(PLAYBOOK)[BOOT]['changed']
    (server,) = servers(cloud)
    assert server[base.PARAMETER] == {
        'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi',
        'hw_boot_menu': 'true'}
    assert cloud.disk_bus(server['id']) == 'scsi'


def test_a_second_run_changes_nothing(cloud, ansible):
    ansible.run(PLAYBOOK)
    assert not ansible.run(PLAYBOOK)[BOOT]['changed']
    assert len(servers(cloud)) == 1


def test_null_removes_the_images_property(cloud, ansible):
    ansible.run(PLAYBOOK.replace(
        'hw_boot_menu: "true"', 'hw_rng_model: null'))
    (server,) = servers(cloud)
    assert server[base.PARAMETER] == {
        'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi',
        'hw_rng_model': None}


# --- refusals ---------------------------------------------------------------

def test_a_refusal_fails_the_task_and_names_every_property(cloud, ansible):
    tasks = ansible.run(PLAYBOOK.replace('hw_boot_menu: "true"', '''\
hw_boot_menu: maybe
            hw_pmu: true
            hw_machine_type: q35
            hw_rng_modell: virtio'''), fails=True)
    assert tasks[BOOT]['failed']
    for reason in ('hw_boot_menu: invalid_value', 'hw_pmu: invalid_type',
                   'hw_machine_type: denied', 'hw_rng_modell: unknown'):
        assert reason in str(tasks[BOOT])
    assert not servers(cloud)


def test_without_the_hook_the_playbook_notices(cloud, ansible):
    tasks = ansible.run(PLAYBOOK, hook=None, fails=True)
    assert tasks['Be sure of it']['failed']
    (server,) = servers(cloud)
    assert server[base.PARAMETER] == {}
