"""Huge pages, for as long as the cloud runs.

The kernel has one pool of them for the whole machine: the cloud adds what its
compute hosts need, and takes as many away when it ends. Nobody else's pages
are touched.
"""
from __future__ import annotations

import collections.abc
import contextlib
import fcntl
import json
import pathlib

from testing.deployment import state as state_module

#: Size of a page, in KiB: the one that x86 kernels give at any time.
SIZE = 2048

#: How many a node of a compute host has.
PER_NODE = 128

#: The message if the kernel does not give them.
NONE = f'no huge pages: the kernel does not give enough of {SIZE} KiB'

_POOLS = pathlib.Path('/sys/kernel/mm/hugepages')
#: What says, and sets, how many there are.
_POOL = _POOLS / f'hugepages-{SIZE}kB' / 'nr_hugepages'
_BOOT = pathlib.Path('/proc/sys/kernel/random/boot_id')


def sizes() -> set[int]:
    """Return the sizes that the kernel knows, in KiB, even without pages."""
    return {int(folder.name.removeprefix('hugepages-').removesuffix('kB'))
            for folder in _POOLS.glob('hugepages-*kB')}


class HugePages:
    """The cloud's share of the kernel's pool."""

    def __init__(self, state: state_module.State) -> None:
        self._record = state.file('hugepages.json')

    @property
    def there(self) -> bool:
        """Return whether the cloud has its pages."""
        return self._added() is not None

    def take(self, pages: int) -> bool:
        """Ask the kernel for PAGES more, all of them or none.

        :returns: whether it gave them
        """
        self.give_back()
        with contextlib.suppress(OSError), self._alone():
            before = self._count()
            _POOL.write_text(str(before + pages))
            if self._count() >= before + pages:
                self._record.write_text(json.dumps({
                    'boot': _BOOT.read_text(), 'added': pages}))
                return True
            _POOL.write_text(str(before))
        return False

    def give_back(self) -> None:
        """Take as many away as were added; those of others stay."""
        added = self._added()
        if added is not None:
            with contextlib.suppress(OSError), self._alone():
                _POOL.write_text(str(max(0, self._count() - added)))
        self._record.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _alone(self) -> collections.abc.Iterator[None]:
        """Let no other cloud of the machine change their number meanwhile."""
        with _POOL.open() as pool:
            fcntl.flock(pool, fcntl.LOCK_EX)
            yield

    def _added(self) -> int | None:
        """Return how many of ours were added."""
        try:
            record = json.loads(self._record.read_text())
        except (OSError, ValueError):
            return None
        # A kernel that was booted since then has a pool of its own.
        if record['boot'] != _BOOT.read_text():
            return None
        return record['added']

    def _count(self) -> int:
        return int(_POOL.read_text())
