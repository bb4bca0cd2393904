"""Two NUMA nodes, for machines that have one.

libvirt learns nodes and CPUs from /sys. Where the machine has one node, a
compute host gets folders mounted there that show :data:`NODES` nodes of
:data:`CPUS` CPUs each, and a library (numa.c) that lets it bind to them. Nova,
libvirt and QEMU are unmodified, and the guest's nodes are as real as ever.
"""

import pathlib
import subprocess

from testing.deployment import state as state_module

NODES = 2
CPUS = 4

_SYS = pathlib.Path('/sys/devices/system')


def needed() -> bool:
    """Say whether the machine lacks a second node."""
    return len(list((_SYS / 'node').glob('node[0-9]*'))) < NODES


class Topology:
    """The folders and the library."""

    def __init__(self, state: state_module.State) -> None:
        self._state = state
        self._library = state.file('topology', 'numa.so')

    def make(self) -> None:
        """Write the folders, and compile the library."""
        subprocess.run(
            ['gcc', '-shared', '-fPIC', '-O1', '-o', self._library,
             pathlib.Path(__file__).parent / 'numa.c', '-ldl'], check=True)
        total = NODES * CPUS
        everything = f'0-{total - 1}\n'
        for name in ('possible', 'present', 'online'):
            self._write(everything, 'cpu', name)
            self._write(f'0-{NODES - 1}\n', 'node', name)
        memory = next(
            int(line.split()[1]) for line in
            pathlib.Path('/proc/meminfo').read_text().splitlines()
            if line.startswith('MemTotal:')) // NODES
        for node in range(NODES):
            first = node * CPUS
            mask = ((1 << CPUS) - 1) << first
            within = f'{first}-{first + CPUS - 1}\n'
            folder = 'node', f'node{node}'
            self._write(within, *folder, 'cpulist')
            self._write(f'{mask:08x}\n', *folder, 'cpumap')
            self._write(' '.join('10' if other == node else '20'
                                 for other in range(NODES)) + '\n',
                        *folder, 'distance')
            self._write(f'Node {node} MemTotal: {memory} kB\n'
                        f'Node {node} MemFree: {memory} kB\n',
                        *folder, 'meminfo')
            for cpu in range(first, first + CPUS):
                self._cpu(cpu, node, mask, within)

    def _cpu(self, cpu: int, node: int, mask: int, within: str) -> None:
        """Write one CPU, and its place in the folder of its node."""
        for name, text in {
                'physical_package_id': f'{node}\n', 'core_id': f'{cpu}\n',
                'die_id': '0\n', 'thread_siblings': f'{1 << cpu:08x}\n',
                'thread_siblings_list': f'{cpu}\n',
                'core_cpus_list': f'{cpu}\n', 'core_cpus': f'{1 << cpu:08x}\n',
                'core_siblings': f'{mask:08x}\n',
                'core_siblings_list': within}.items():
            self._write(text, 'cpu', f'cpu{cpu}', 'topology', name)
        self._write('1\n', 'cpu', f'cpu{cpu}', 'online')
        link = self._state.file(
            'topology', 'node', f'node{node}', f'cpu{cpu}')
        if not link.is_symlink():
            link.symlink_to(f'../../cpu/cpu{cpu}')

    def _write(self, text: str, *parts: str) -> None:
        self._state.write(text, 'topology', *parts)

    def mounts(self) -> list[str]:
        """Return ``SOURCE:PLACE`` of what a host mounts."""
        return [f'{self._state.subfolder("topology", name)}:{_SYS / name}'
                for name in ('node', 'cpu')]

    def environment(self) -> dict[str, str]:
        """Return what loads the library; libvirt hands it on to QEMU."""
        return {'LD_PRELOAD': str(self._library)}
