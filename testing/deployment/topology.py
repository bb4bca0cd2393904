"""Two NUMA nodes with huge pages and enough CPUs, on any machine.

libvirt learns nodes, CPUs and pages from /sys. A compute host gets folders
mounted there that show :data:`NODES` nodes of :data:`CPUS` CPUs, and a library
(numa.c) that lets it bind to them. Nova, libvirt and QEMU are unmodified, and
the guest's nodes are as real as ever.
"""

import collections.abc
import os
import pathlib
import subprocess

from testing.deployment import hugepages
from testing.deployment import qemu
from testing.deployment import state as state_module

NODES = 2

#: How many each node has.
CPUS = 8

#: Of those, the first are for guests that share, the others for guests that
#: have CPUs of their own.
SHARED = 4

_SYS = pathlib.Path('/sys/devices/system')


def cpus(node: int, dedicated: bool) -> range:
    """Return the CPUs of a node that guests share, or have for themselves."""
    first = node * CPUS
    return range(first + SHARED, first + CPUS) if dedicated else \
        range(first, first + SHARED)


def cpu_set(dedicated: bool) -> str:
    """Return them as Nova's ``cpu_shared_set`` or ``cpu_dedicated_set``."""
    return ','.join(str(cpu) for node in range(NODES)
                    for cpu in cpus(node, dedicated))


def really(wanted: collections.abc.Iterable[int]) -> set[int]:
    """Return which of the machine's CPUs those of a host are (numa.c)."""
    found = _machine()
    return {found[cpu % len(found)] for cpu in wanted}


def _machine() -> list[int]:
    """Return the CPUs of the machine that we may use."""
    return sorted(os.sched_getaffinity(0))


class Topology:
    """The folders and the library of one host.

    :param name: the host
    :param threads: how many of its CPUs share a core
    """

    def __init__(
        self, state: state_module.State, name: str, threads: int,
    ) -> None:
        self._state = state
        self._place = 'hosts', name, 'sys'
        self._threads = threads
        self._library = state.file('hosts', name, 'numa.so')

    def make(self, huge_pages: int) -> None:
        """Write the folders, and compile the library.

        :param huge_pages: how many a node has
        """
        subprocess.run(
            ['gcc', '-shared', '-fPIC', '-O1',
             f'-DCPUS={",".join(map(str, _machine()))}', '-o', self._library,
             pathlib.Path(__file__).parent / 'numa.c', '-ldl'], check=True)
        everything = f'0-{NODES * CPUS - 1}\n'
        for name in ('possible', 'present', 'online'):
            self._write(everything, 'cpu', name)
            self._write(f'0-{NODES - 1}\n', 'node', name)
        memory = next(
            int(line.split()[1]) for line in
            pathlib.Path('/proc/meminfo').read_text().splitlines()
            if line.startswith('MemTotal:')) // NODES
        for node in range(NODES):
            within = range(node * CPUS, (node + 1) * CPUS)
            folder = 'node', f'node{node}'
            self._write(_list(within), *folder, 'cpulist')
            self._write(_mask(within), *folder, 'cpumap')
            self._write(' '.join('10' if other == node else '20'
                                 for other in range(NODES)) + '\n',
                        *folder, 'distance')
            self._write(f'Node {node} MemTotal: {memory} kB\n'
                        f'Node {node} MemFree: {memory} kB\n',
                        *folder, 'meminfo')
            for size in hugepages.sizes():
                pages = huge_pages if size == hugepages.SIZE else 0
                for name in ('nr_hugepages', 'free_hugepages'):
                    self._write(f'{pages}\n', *folder, 'hugepages',
                                f'hugepages-{size}kB', name)
            for cpu in within:
                self._cpu(cpu, node, within)

    def _cpu(self, cpu: int, node: int, within: range) -> None:
        """Write one CPU, and its place in the folder of its node."""
        core = cpu // self._threads
        siblings = range(core * self._threads, (core + 1) * self._threads)
        for name, text in {
                'physical_package_id': f'{node}\n', 'core_id': f'{core}\n',
                'die_id': '0\n', 'thread_siblings': _mask(siblings),
                'thread_siblings_list': _list(siblings),
                'core_cpus_list': _list(siblings),
                'core_cpus': _mask(siblings),
                'core_siblings': _mask(within),
                'core_siblings_list': _list(within)}.items():
            self._write(text, 'cpu', f'cpu{cpu}', 'topology', name)
        self._write('1\n', 'cpu', f'cpu{cpu}', 'online')
        link = self._state.file(
            *self._place, 'node', f'node{node}', f'cpu{cpu}')
        if not link.is_symlink():
            link.symlink_to(f'../../cpu/cpu{cpu}')

    def _write(self, text: str, *parts: str) -> None:
        self._state.write(text, *self._place, *parts)

    def cores(self, cpus: collections.abc.Iterable[int]) -> int:
        """Return to how many cores CPUs belong."""
        return len({cpu // self._threads for cpu in cpus})

    def mounts(self) -> list[str]:
        """Return ``SOURCE:PLACE`` of what a host mounts."""
        return [f'{self._state.subfolder(*self._place, name)}:{_SYS / name}'
                for name in ('node', 'cpu')]

    def environment(self) -> dict[str, str]:
        """Return what loads the library; libvirt passes it on to QEMU."""
        return {'LD_PRELOAD': str(self._library)}


def _list(numbers: range) -> str:
    """Return CPUs as cpulist has them."""
    return f'{numbers[0]}-{numbers[-1]}\n' if len(numbers) > 1 else \
        f'{numbers[0]}\n'


def _mask(numbers: range) -> str:
    """Return CPUs as cpumap has them."""
    return f'{sum(1 << number for number in numbers):08x}\n'


def count_free_pages() -> None:
    """Write how many huge pages are free, as the host sees it.

    :raises OSError: a guest has ended meanwhile
    """
    used = [process.huge_pages() for process in qemu.processes()]
    for node in range(NODES):
        folder = (_SYS / 'node' / f'node{node}' / 'hugepages'
                  / f'hugepages-{hugepages.SIZE}kB')
        free = int((folder / 'nr_hugepages').read_text()) - sum(
            pages.get(node, 0) for pages in used)
        # So that libvirt never reads half of it.
        partial = folder / 'free_hugepages.part'
        partial.write_text(f'{free}\n')
        partial.replace(folder / 'free_hugepages')
