"""What NFV tenants ask for is what guest, QEMU and kernel have.

Besides the three places, these tests look at the QEMU process: the size of its
pages, where its threads may run, and how the kernel schedules them.
"""

import json
import os
import subprocess

import pytest

from testing.deployment import command
from tests.integration import nfv as look

#: What is open to the role nfv only, each with a value that would be valid.
OF_NFV = {
    'hw_cpu_policy': 'dedicated', 'hw_cpu_realtime_mask': '^0',
    'hw_cpu_thread_policy': 'prefer', 'hw_locked_memory': 'true',
    'hw_mem_page_size': 'large', 'hw_numa_nodes': '1',
    'hw_pci_numa_affinity_policy': 'preferred'}

needs_huge_pages = pytest.mark.usefixtures('huge_pages')


@pytest.mark.parametrize(('flavor', 'asked', 'shown', 'pages'), [
    ('nfv', 'large', 'large', 128), ('nfv', '2048', '2048', 128),
    ('nfv', 'any', 'any', 128), ('nfv', 'small', 'small', 0),
    ('nfv.large', '2MB', '2048', 128), ('nfv.large', 'small', 'small', 0)])
def test_memory_is_in_pages_of_the_size_asked_for(
        request, boot, flavor, asked, shown, pages):
    if pages:
        request.getfixturevalue('huge_pages')
    server = boot({'hw_mem_page_size': asked}, who='nfv', flavor=flavor)
    assert server.api == {'hw_mem_page_size': shown}
    domain, process = server.domain, server.process
    assert look.page_sizes(domain) == ({0: 2048} if pages else {})
    assert sum(process.huge_pages().values()) == pages
    assert list(process.huge_pages()) == (look.nodes(domain) if pages else [])
    assert process.locked() == 0
    assert server.told.cpus == 4


@needs_huge_pages
@pytest.mark.short
def test_two_nodes_of_different_size_have_huge_pages_and_cpus_of_their_own(
        boot):
    look.check_everything(boot(look.EVERYTHING, who='nfv', flavor='nfv'))


@needs_huge_pages
def test_required_siblings_are_on_whole_cores(boot):
    overrides = {
        'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'require',
        'hw_mem_page_size': 'large'}
    server = boot(overrides, who='nfv', flavor='nfv')
    assert server.api == overrides
    # The host where CPUs share a core, two by two.
    assert server.host == 'compute1'
    domain, process = server.domain, server.process
    pins = look.pins(domain)
    node, = look.nodes(domain)
    assert [len(pin) for pin in pins] == [1, 1, 1, 1]
    assert set.union(*pins) == look.dedicated(node)
    assert process.huge_pages() == {node: 128}
    look.check_affinity(domain, process)
    assert server.told.cpus == 4


def test_isolated_threads_share_no_core_and_no_cpu_with_the_emulator(boot):
    overrides = {
        'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'isolate'}
    server = boot(overrides, who='nfv', flavor='nfv.isolated')
    assert server.api == overrides
    # The host where no CPU has a sibling.
    assert server.host == 'compute2'
    domain, process = server.domain, server.process
    first, second = look.pins(domain)
    emulator = look.emulator(domain)
    assert len(first) == len(second) == len(emulator) == 1
    assert len(first | second | emulator) == 3
    assert first | second | emulator <= look.dedicated(*look.nodes(domain))
    look.check_affinity(domain, process)
    assert server.told.cpus == 2


def test_mixed_vcpus_share_or_have_a_cpu_as_the_flavor_says(boot):
    overrides = {'hw_cpu_policy': 'mixed', 'hw_cpu_thread_policy': 'prefer'}
    server = boot(overrides, who='nfv', flavor='nfv.mixed')
    assert server.api == overrides
    domain, process = server.domain, server.process
    node, = look.nodes(domain)
    first, *others = look.pins(domain)
    assert first == look.shared(node)
    assert [len(pin) for pin in others] == [1, 1, 1]
    assert len(set.union(*others)) == 3
    assert set.union(*others) <= look.dedicated(node)
    look.check_affinity(domain, process)
    assert server.told.cpus == 4


@needs_huge_pages
def test_real_time_vcpus_are_those_of_the_mask(boot):
    # The flavor's own mask only leaves out the first vCPU. The guest does not
    # use those in the mask: emulated, they would take the machine's CPUs from
    # everything else, and from its other vCPUs first.
    overrides = {
        'hw_cpu_realtime_mask': '^0-1',
        'hw_pci_numa_affinity_policy': 'preferred',
        'os_command_line': 'console=ttyS0 maxcpus=2'}
    server = boot(overrides, who='nfv', flavor='nfv.realtime')
    assert server.api == overrides
    domain, process = server.domain, server.process
    assert {tuple(sorted(look.cpus(each.get('vcpus')))): (
        each.get('scheduler'), each.get('priority'))
        for each in domain.findall('cputune/vcpusched')} == {
            (2,): ('fifo', '1'), (3,): ('fifo', '1')}
    others, real_time = (os.SCHED_OTHER, 0), (os.SCHED_FIFO, 1)
    assert [(thread.scheduler, thread.priority)
            for thread in look.vcpu_threads(process)] == [
        others, others, real_time, real_time]
    # vCPUs that are not real-time share their CPUs with the emulator's threads.
    first, second, *_ = look.pins(domain)
    assert look.emulator(domain) == first | second
    look.check_affinity(domain, process)
    assert sum(process.huge_pages().values()) == 128
    assert domain.find('memoryBacking/locked') is not None
    assert process.locked() > 0
    assert domain.findtext('vcpu') == '4'
    assert server.told.cpus == 2


def test_the_affinity_of_devices_is_in_what_is_asked_of_the_scheduler(
        deployment, boot):
    """No host has such a device: this is as far as it goes here."""
    overrides = {'hw_pci_numa_affinity_policy': 'preferred'}
    server = boot(overrides, who='nfv', flavor='nfv.device', wait=False)
    server.settled('ERROR')
    assert 'No valid host' in server.fault
    assert server.api == overrides
    requests = dict(row.split('\t') for row in deployment.mariadb.query(
        'SELECT instance_uuid, pci_requests FROM nova_cell0.instance_extra'
    ).splitlines())
    request, = json.loads(requests[server.id])
    assert request['alias_name'] == 'nic'
    assert request['numa_policy'] == 'preferred'


@needs_huge_pages
def test_hosts_are_asked_for_pages_that_other_guests_have(
        deployment, operator, boot):
    asked = command.overriding({'hw_mem_page_size': 'large'})

    def told():
        return operator.json(
            'image', 'override', 'check', '--hosts', '--flavor', 'nfv',
            '--image', 'guest', *asked)['hosts']

    def listed():
        api = deployment.nova_api
        done = subprocess.run([
            api.installation.python, '-W', 'ignore',
            api.installation.bin / 'nova-image-override', 'hosts',
            '--flavor', 'nfv', *asked, '--format', 'json',
            '--config-file', api.config],
            capture_output=True, text=True, timeout=300, check=False)
        assert done.stdout, done.stderr
        return done.returncode, [
            tuple(row.values()) for row in json.loads(done.stdout)]

    first, second = (boot({'hw_numa_nodes': '2'}, who='nfv',
                          flavor='nfv.host') for _ in range(2))
    assert {first.host, second.host} == {'compute1', 'compute2'}
    assert told() == {
        'possible': False, 'not_asked': [], 'in_the_way': {
            'hw_mem_page_size': 'refused by NUMATopologyFilter: without it '
                                'there is a host'}}
    assert listed() == (1, [
        (0, 'can take the server', ''),
        (2, 'refused by NUMATopologyFilter', 'hw_mem_page_size'),
        (2, 'can take the server without', 'hw_mem_page_size')])
    free = second.host
    operator('server', 'delete', '--wait', second.id)
    assert told() == {'possible': True, 'in_the_way': {}, 'not_asked': []}
    assert listed()[0] == 0
    server = boot({'hw_mem_page_size': 'large'}, who='nfv', flavor='nfv')
    assert server.host == free


@pytest.mark.parametrize(('flavor', 'name', 'value'), [
    # One without pages leaves no choice of them; the other says otherwise.
    *(('four', 'hw_mem_page_size', size)
      for size in ('large', '2048', 'any', 'small')),
    *(('nfv.fixed', *each) for each in (
        ('hw_mem_page_size', 'large'), ('hw_cpu_policy', 'dedicated'),
        ('hw_cpu_policy', 'mixed'), ('hw_numa_nodes', '2'),
        ('hw_locked_memory', 'true'),
        ('hw_pci_numa_affinity_policy', 'preferred')))])
def test_a_flavor_is_not_overridden(refused, flavor, name, value):
    told = refused({name: value}, who='nfv', flavor=flavor)
    assert told.startswith(f'{name}: flavor_conflict:')


@pytest.mark.parametrize(('flavor', 'overrides', 'reason'), [
    ('nfv', {'hw_mem_page_size': 'huge'}, 'hw_mem_page_size: invalid_value:'),
    ('nfv', {'hw_cpu_policy': 'pinned'}, 'hw_cpu_policy: invalid_value:'),
    # A thread policy for CPUs that are shared.
    ('nfv', {'hw_cpu_thread_policy': 'require'},
     'hw_cpu_thread_policy: flavor_conflict:'),
    # Nothing says which vCPUs are dedicated.
    ('nfv', {'hw_cpu_policy': 'mixed'}, 'hw_cpu_policy: flavor_conflict:'),
    # The flavor says that not all are: nothing boots with it without a policy.
    ('nfv.mixed', {'hw_cpu_policy': 'dedicated'},
     'hw_cpu_policy: flavor_conflict:'),
    ('nfv', {'hw_cpu_realtime_mask': '^0'}, 'hw_cpu_realtime_mask: no_effect:'),
    # All vCPUs, and one that does not exist.
    ('nfv.realtime', {'hw_cpu_realtime_mask': '0-3'},
     'hw_cpu_realtime_mask: flavor_conflict:'),
    ('nfv.realtime', {'hw_cpu_realtime_mask': '3-4'},
     'hw_cpu_realtime_mask: flavor_conflict:'),
    ('four', {'hw_locked_memory': 'true'},
     'hw_locked_memory: flavor_conflict:'),
    # Memory for one node only; more than the flavor has.
    ('nfv', {**look.LAYOUT, 'hw_numa_mem.1': '256'},
     'hw_numa_mem.1: flavor_conflict:'),
    # Nova only has it in flavors.
    ('nfv', {'hw_emulator_threads_policy': 'share'},
     'only a flavor can have it: extra spec hw:emulator_threads_policy'),
])
def test_what_cannot_be_is_refused_with_its_reason(
        refused, nfv, flavor, overrides, reason):
    assert reason in refused(overrides, who='nfv', flavor=flavor)
    assert nfv.json('server', 'list') == []


def test_pages_cpus_and_nodes_are_for_those_who_have_the_role(refused):
    told = refused(OF_NFV, flavor='nfv')
    assert [line.split(' ')[:2] for line in told.splitlines()] == [
        [f'{name}:', 'policy:'] for name in OF_NFV]
