"""The process of a guest: the memory and CPUs that QEMU really has.

Both the tests and the compute host look there: a host's free huge pages are
those that none of its guests has.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re

_PROC = pathlib.Path('/proc')

#: The start of a mapping in proc_pid_smaps(5), with its path.
_MAPPING = re.compile(r'^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$')


@dataclasses.dataclass(frozen=True)
class Thread:
    """A thread of QEMU, as the kernel sees it.

    :ivar id: its id; that of the first is the process's
    :ivar name: QEMU's name for it; ``CPU 0/TCG`` runs the guest's first vCPU
    :ivar cpus: where it may run
    :ivar scheduler: ``SCHED_FIFO`` or another class of sched(7)
    :ivar priority: its priority in that class
    """

    id: int
    name: str
    cpus: frozenset[int]
    scheduler: int
    priority: int


class Process:
    """One QEMU.

    :ivar pid: its id, in the namespace of the caller
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._folder = _PROC / str(pid)
        self.command = _command(self._folder)

    def huge_pages(self) -> dict[int, int]:
        """Return how many huge pages it has on each node of its host."""
        result: dict[int, int] = {}
        nodes = {}
        for word in self.command:
            if word.startswith('{"qom-type":"memory-backend-file"'):
                given = json.loads(word)
                nodes[given['id']] = given['host-nodes'][0]
        for path, page, huge in self._mappings():
            # QEMU names its file after the object.
            for name, node in nodes.items():
                if f'{name}.' in path and huge:
                    result[node] = result.get(node, 0) + huge // page
        return result

    def _mappings(self) -> list[tuple[str, int, int]]:
        """Return path, page size and KiB in huge pages of each mapping."""
        result = []
        for line in (self._folder / 'smaps').read_text().splitlines():
            if found := _MAPPING.match(line):
                path = found[1]
                continue
            key, _, rest = line.partition(':')
            if key == 'KernelPageSize':
                page = int(rest.split()[0])
            elif key == 'Shared_Hugetlb':
                huge = int(rest.split()[0])
            elif key == 'Private_Hugetlb':
                result.append((path, page, huge + int(rest.split()[0])))
        return result

    def locked(self) -> int:
        """Return how much of its memory the kernel may not swap, in KiB."""
        return next(
            int(line.split()[1]) for line in
            (self._folder / 'status').read_text().splitlines()
            if line.startswith('VmLck:'))

    def threads(self) -> list[Thread]:
        """Return its threads."""
        result = []
        for task in (self._folder / 'task').iterdir():
            # QEMU's workers come and go.
            with contextlib.suppress(OSError):
                number = int(task.name)
                result.append(Thread(
                    number, (task / 'comm').read_text().strip(),
                    frozenset(os.sched_getaffinity(number)),
                    os.sched_getscheduler(number),
                    os.sched_getparam(number).sched_priority))
        return result


def _command(folder: pathlib.Path) -> list[str]:
    return (folder / 'cmdline').read_bytes().decode().split('\0')


def processes() -> list[Process]:
    """Return every QEMU that runs a guest in this PID namespace."""
    result = []
    for folder in _PROC.glob('[0-9]*'):
        try:
            command = _command(folder)
            if 'qemu-system' in command[0] and '-uuid' in command:
                result.append(Process(int(folder.name)))
        except OSError:
            # It has ended.
            continue
    return result


def of_server(server_id: str) -> Process:
    """Return the process of a server's guest."""
    return next(process for process in processes()
                if server_id in process.command)
