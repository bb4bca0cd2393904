"""MariaDB on a disk that can be filled.

The disk is a tmpfs that nobody else sees, and begins with a copy of the cloud's
data. What is done to it ends with the process: the cloud's MariaDB, which is
started again in its place, knows nothing of it.
"""
from __future__ import annotations

import collections.abc
import contextlib
import errno
import os
import pathlib
import subprocess

from testing.deployment import mariadb
from testing.deployment import state as state_module

#: Bytes that are free at first.
_FREE = 64 << 20

# Bytes of a row, which is a statement.
_SIZES = (250, 100, 1)

# Statements that are sent at once, and how often while there is room: in a
# table of some MiB InnoDB keeps pages with which to undo what it cannot finish,
# and for a smaller one it aborts if there are none (fsp_reserve_free_extents).
_AT_ONCE, _GROWS = 500, 40

# InnoDB writes into what it has reserved, so files must have no holes.
_SCRIPT = ('mount -t tmpfs -o "size=$1" tmpfs "$2" && '
           'cp -a --sparse=never "$3/." "$2" && shift 3 && exec "$@"')


class MariaDB(mariadb.MariaDB):
    """It, under the name of the cloud's own, which must not run."""

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        self._source = self.data
        self.data = state.subfolder('mariadb', 'small')

    def start(
        self, command: collections.abc.Sequence[str | pathlib.Path],
        environment: dict[str, str] | None = None,
    ) -> None:
        """Start it with its disk."""
        used = int(subprocess.run(
            ['du', '--summarize', '--bytes', self._source], check=True,
            capture_output=True, text=True).stdout.split()[0])
        super().start([
            'unshare', '--mount', 'sh', '-c', _SCRIPT, 'sh', str(used + _FREE),
            self.data, self._source, *command], environment)

    @property
    def _filler(self) -> pathlib.Path:
        """A file on the disk, as it is seen from outside."""
        return pathlib.Path(f'/proc/{self.pid}/root{self.data}/filler')

    @contextlib.contextmanager
    def full(self, statement: str) -> collections.abc.Iterator[None]:
        """Leave no room on the disk, and none in the pages of a table.

        :param statement: what is executed until there is no room for it, for
            one row of SIZE bytes
        """
        for _ in range(_GROWS):
            assert self._has_room(statement, _SIZES[0])
        with self._filler.open('wb') as file:
            size = 1 << 20
            while size >= 4096:
                try:
                    os.posix_fallocate(
                        file.fileno(), os.fstat(file.fileno()).st_size, size)
                except OSError as exc:
                    assert exc.errno == errno.ENOSPC
                    size >>= 1
        try:
            for size in _SIZES:
                while self._has_room(statement, size):
                    pass
            yield
        finally:
            self._filler.unlink()

    def _has_room(self, statement: str, size: int) -> bool:
        """Return whether there was room for some rows of so many bytes."""
        statement = statement.replace('SIZE', str(size))
        done = subprocess.run(
            [*self._client(f'{statement};\n' * _AT_ONCE), '--force'],
            capture_output=True, text=True)
        refused = done.stderr.count('ERROR 1114 ')
        assert refused == done.stderr.count('ERROR '), done.stderr
        return refused < _AT_ONCE
