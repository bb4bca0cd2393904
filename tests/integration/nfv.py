"""What NFV guests are asked to be, and what must be visible of it."""

from nova.virt import hardware

from testing.deployment import topology

#: Two nodes of different size.
LAYOUT = {
    'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
    'hw_numa_mem.0': '64', 'hw_numa_mem.1': '192'}

#: The same with pages, CPUs and memory of their own.
EVERYTHING = {
    **LAYOUT, 'hw_mem_page_size': '2048', 'hw_cpu_policy': 'dedicated',
    'hw_locked_memory': 'true'}


def cpus(cpuset):
    """Return the CPUs of a list as libvirt and the kernel write it."""
    return hardware.parse_cpu_spec(cpuset)


def pins(domain):
    """Return which of the host's CPUs each vCPU may run on."""
    return [cpus(pin.get('cpuset')) for pin in sorted(
        domain.findall('cputune/vcpupin'), key=lambda pin: int(
            pin.get('vcpu')))]


def emulator(domain):
    """Return which of the host's CPUs QEMU's other threads may run on."""
    return cpus(domain.find('cputune/emulatorpin').get('cpuset'))


def nodes(domain):
    """Return from which node of the host each guest node has its memory."""
    return [int(node.get('nodeset')) for node in sorted(
        domain.findall('numatune/memnode'), key=lambda node: int(
            node.get('cellid')))]


def page_sizes(domain):
    """Return the page size in KiB, guest node by node, if it is set."""
    return {cell: int(page.get('size')) for page in
            domain.findall('memoryBacking/hugepages/page')
            for cell in cpus(page.get('nodeset'))}


def dedicated(*of_nodes):
    """Return the CPUs of the host's nodes that guests have for themselves."""
    return {cpu for node in of_nodes
            for cpu in topology.cpus(node, dedicated=True)}


def shared(*of_nodes):
    """Return the CPUs of the host's nodes that guests share."""
    return {cpu for node in of_nodes
            for cpu in topology.cpus(node, dedicated=False)}


def vcpu_threads(process):
    """Return QEMU's threads that run vCPUs, in their order."""
    threads = {thread.name: thread for thread in process.threads()
               if thread.name.startswith('CPU ')}
    return [threads[f'CPU {number}/TCG'] for number in range(len(threads))]


def check_affinity(domain, process):
    """The kernel lets QEMU's threads run where libvirt was told, nowhere else.

    Which of the machine's CPUs those are is up to the hosts' library (numa.c).
    """
    threads = vcpu_threads(process)
    assert [thread.cpus for thread in threads] == [
        topology.really(pin) for pin in pins(domain)]
    first = next(thread for thread in process.threads()
                 if thread.id == process.pid)
    assert first.cpus == topology.really(emulator(domain))


def check_everything(server):
    """A server with :data:`EVERYTHING` has it, wherever one looks."""
    assert server.api == EVERYTHING
    domain, process = server.domain, server.process
    assert [(cell.get('cpus'), cell.get('memory'))
            for cell in domain.findall('cpu/numa/cell')] == [
        ('0', str(64 << 10)), ('1-3', str(192 << 10))]
    assert page_sizes(domain) == {0: 2048, 1: 2048}
    small, large = nodes(domain)
    assert {small, large} == {0, 1}
    assert process.huge_pages() == {small: 32, large: 96}
    first, *others = pins(domain)
    assert len(first) == 1 and first <= dedicated(small)
    assert [len(pin) for pin in others] == [1, 1, 1]
    assert len(set.union(*others)) == 3
    assert set.union(*others) <= dedicated(large)
    check_affinity(domain, process)
    assert domain.find('memoryBacking/locked') is not None
    assert process.locked() > 0
    told = server.told
    assert told.cpus == 4
    assert [cpulist for cpulist, _ in told.nodes.values()] == ['0', '1-3']
    less, more = (memory for _, memory in told.nodes.values())
    # The kernel keeps some of it for itself.
    assert less < 64 << 10 < more < 192 << 10
