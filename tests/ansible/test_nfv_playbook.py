"""The playbook of docs/source/user/nfv-start.rst."""

from testing.harness import base
from tests import environments
from tests import nfv_guest
from tests.ansible.real import BOOT
from tests.ansible.real import servers

PLAYBOOK = (environments.ROOT / 'docs' / 'source' / 'user'
            / 'nfv-ansible.yaml').read_text()

Cloud = nfv_guest.Cloud


def test_the_playbook_makes_the_guest_of_the_page(cloud, ansible):
    ansible.run(PLAYBOOK)
    (server,) = servers(cloud)
    assert server[base.PARAMETER] == {
        'hw_numa_nodes': '1', 'hw_mem_page_size': '2048',
        'hw_cpu_policy': 'dedicated'}
    cloud.assert_guest(server['id'])


def test_a_flavor_that_leaves_no_choice_of_pages_fails_it_and_says_why(
        cloud, ansible):
    tasks = ansible.run(
        PLAYBOOK.replace('name: nfv\n', 'name: two-cpus\n'), fails=True)
    assert 'hw_mem_page_size: flavor_conflict: ' in str(tasks[BOOT])
    assert not servers(cloud)
