"""Huge pages, for as long as the cloud runs.

The kernel has one pool of them for the whole machine: the cloud adds what its
compute hosts need, and takes as many away when it ends. Nobody else's pages
are touched.
"""
from __future__ import annotations

import contextlib
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
_POOL = _POOLS / f'hugepages-{SIZE}kB' / 'nr_hugepages'
_BOOT = pathlib.Path('/proc/sys/kernel/random/boot_id')


def sizes() -> set[int]:
    """Return the sizes that the kernel knows, in KiB, even without pages."""
    return {int(folder.name.removeprefix('hugepages-').removesuffix('kB'))
            for folder in _POOLS.glob('hugepages-*kB')}


class HugePages:
    """The cloud's share of the kernel's pool.

    :param pool: the kernel's file that says, and sets, how many there are
    """

    def __init__(
        self, state: state_module.State, pool: pathlib.Path = _POOL,
    ) -> None:
        self._record = state.file('hugepages.json')
        self._pool = pool

    @property
    def there(self) -> bool:
        """Return whether the cloud has its pages."""
        return self._added() is not None

    def take(self, pages: int) -> bool:
        """Ask the kernel for PAGES more, all of them or none.

        :returns: whether it gave them
        """
        self.give_back()
        with contextlib.suppress(OSError):
            before = self._count()
            # Recorded first: whoever ends us after that gives them back.
            self._record.write_text(json.dumps({
                'boot': _BOOT.read_text(), 'before': before, 'added': pages}))
            self._pool.write_text(str(before + pages))
            if self._count() >= before + pages:
                return True
        self.give_back()
        return False

    def give_back(self) -> None:
        """Leave as many as there were before; those of others stay."""
        added = self._added()
        if added is not None:
            before, pages = added
            with contextlib.suppress(OSError):
                left = max(before, self._count() - pages)
                if left < self._count():
                    self._pool.write_text(str(left))
        self._record.unlink(missing_ok=True)

    def _added(self) -> tuple[int, int] | None:
        """Return how many there were, and how many of ours were added."""
        try:
            record = json.loads(self._record.read_text())
        except (OSError, ValueError):
            return None
        # A kernel that was booted since then has a pool of its own.
        if record['boot'] != _BOOT.read_text():
            return None
        return record['before'], record['added']

    def _count(self) -> int:
        return int(self._pool.read_text())
