"""The ``server`` module, which nothing can extend, with scheduler hints."""

from nova.tests.fixtures import neutron

from testing.harness import base
from testing.site import cloud as cloud_module
from tests.ansible.real import BOOT
from tests.ansible.real import servers

PLAYBOOK = '''
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Boot the server
      openstack.cloud.server:
        cloud: demo
        name: guest
        image: debian
        flavor: two-cpus
        auto_ip: false
        # By id, and without waiting: the module needs no Neutron of its own.
        nics:
          - net-id: NETWORK
        wait: false
        scheduler_hints:
          image_props_override:hw_disk_bus: scsi
          image_props_override:hw_scsi_model: virtio-scsi
          image_props_override:hw_boot_menu: "true"
'''.replace('NETWORK', neutron.NeutronFixture.network_1['id'])


class Cloud(cloud_module.Cloud):
    OPTIONS = {**cloud_module.OPTIONS, 'accept_scheduler_hint': True}


def test_hints_of_the_server_module_reach_the_guest(cloud, ansible):
    ansible.run(PLAYBOOK, hook=None)
    (server,) = servers(cloud)
    cloud.wait(server['id'])
    assert server[base.PARAMETER] == {
        'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi',
        'hw_boot_menu': 'true'}


def test_a_refusal_fails_the_task_and_names_every_property(cloud, ansible):
    tasks = ansible.run(PLAYBOOK.replace('hw_boot_menu: "true"', '''\
hw_boot_menu: maybe
          image_props_override:hw_machine_type: q35'''), hook=None, fails=True)
    for reason in ('hw_boot_menu: invalid_value', 'hw_machine_type: denied'):
        assert reason in str(tasks[BOOT])
    assert not servers(cloud)
