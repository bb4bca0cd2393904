"""Files of the deployer's that count as soon as they change.

A file that was there and is missing, empty or broken later leaves what was
read before in force: an answer is never made from half of the rules.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
import contextlib
import logging
import os
import threading
from typing import Generic, TypeVar

from nova_image_override import errors

LOG = logging.getLogger(__name__)

#: Distinguishes one state of a file from another.
_Stamp = tuple[str, int, int, int]

_Said = TypeVar('_Said')


class WatchedFiles(Generic[_Said]):
    """What files say, always in one state: before a change, or after.

    :param paths: returns the files, and folders of files, in their order
    :param read: returns what they say; raises StartupError, or what is in
        *unreadable*
    :param unreadable: what else says that a file cannot be read
    :param of: what the files are, for messages
    :raises errors.StartupError: a file cannot be read
    """

    def __init__(
        self, paths: Callable[[], Iterable[str | None]],
        read: Callable[[], _Said], of: str,
        unreadable: tuple[type[Exception], ...] = (OSError, ValueError),
    ) -> None:
        self._paths = paths
        self._read = read
        self._of = of
        self._unreadable = unreadable
        self._lock = threading.Lock()
        self._stamps = self._stamped()
        with self._failing():
            self._said = read()
            self._filled = _filled(self._stamps)

    def said(self) -> _Said:
        """Return what the files say now.

        If a changed file cannot be read, or a file that was there is missing
        or empty, this is what they said before that.
        """
        with self._lock:
            # Taken first, so that what changes while it is read is read again.
            stamps = self._stamped()
            if stamps != self._stamps:
                self._stamps = stamps
                try:
                    with self._failing():
                        filled = _filled(stamps)
                        lost = self._filled - filled
                        if lost:
                            raise OSError(
                                'missing or empty: ' + ', '.join(sorted(lost)))
                        self._said = self._read()
                        self._filled = filled
                except errors.StartupError as exc:
                    LOG.error('%s. What was read before stays in force.',
                              '; '.join(map(str, exc.args)))
            return self._said

    def _stamped(self) -> tuple[_Stamp, ...]:
        return tuple(
            stamp for path in self._paths() for stamp in _stamps_of(path))

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Say on one line what cannot be read.

        :raises errors.StartupError: something cannot
        """
        try:
            yield
        except self._unreadable as exc:
            raise errors.StartupError(
                f'{self._of} cannot be read: ' + ' '.join(str(exc).split())
            ) from None


def _stamps_of(path: str | None) -> Iterator[_Stamp]:
    """Yield what changes when the file, or a file in the folder, does."""
    if path is None:
        return
    paths = [path]
    # Such as a file that disappears while it is looked at.
    with contextlib.suppress(OSError):
        if os.path.isdir(path):
            paths += sorted(os.path.join(path, n) for n in os.listdir(path))
    for each in paths:
        try:
            status = os.stat(each)
        except OSError:
            yield each, 0, 0, 0
        else:
            yield each, status.st_ino, status.st_size, status.st_mtime_ns


def _filled(stamps: Iterable[_Stamp]) -> set[str]:
    """Return which of the files of STAMPS say anything.

    :raises OSError: one cannot be read
    """
    # oslo.policy reads no hidden files, such as those of editors.
    return {path for path, _, size, _ in stamps
            if size and not os.path.basename(path).startswith('.')
            and _has_text(path)}


def _has_text(path: str) -> bool:
    try:
        with open(path, encoding='utf-8') as file:
            return bool(file.read().strip())
    except (FileNotFoundError, IsADirectoryError):
        return False
