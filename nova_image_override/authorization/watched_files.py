"""The deployer's files that take effect as soon as they change.

Where a file that was there is missing, empty or broken later, its content from
before stays in force: an answer is never made from half of the rules.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
import contextlib
import logging
import math
import os
import pathlib
import stat
import threading
import time
from typing import Generic, TypeVar

from oslo_config import cfg

from nova_image_override import errors

LOG = logging.getLogger(__name__)

#: Other errors of reading a file: of oslo.policy, for example, when it cannot
#: parse one, and of PyYAML where a tag, an escape or the depth is beyond it.
UNREADABLE = (
    cfg.Error, OSError, ArithmeticError, AttributeError, LookupError,
    RecursionError, TypeError, ValueError)

#: Distinguishes one state of a file from another.
_Stamp = tuple[str, int, int, int, int]

_Content = TypeVar('_Content')


class WatchedFiles(Generic[_Content]):
    """The content of files in one state: before a change, or after.

    :param paths: returns the files, and folders of files, in their order
    :param read: returns their content; raises StartupError, or one of
        UNREADABLE
    :param of: what the files are, for messages
    :raises errors.StartupError: a file cannot be read
    """

    #: Seconds after which what could not be read is read again.
    PATIENCE = 10

    def __init__(
        self, paths: Callable[[], Iterable[str]],
        read: Callable[[], _Content], of: str,
    ) -> None:
        self._paths = paths
        self._read = read
        self._of = of
        #: Called each time one of them has changed, with no lock held.
        self.then: Callable[[], object] = lambda: None
        self._lock = threading.Lock()
        self._filled: set[str] = set()
        self._stamps = self._stamped()
        self._again_at = math.inf
        self._read_again()

    def content(self) -> _Content:
        """Return the content of the files now.

        If a changed file cannot be read, or a file that was there is missing
        or empty, this is the content before that, until it can be.
        """
        is_new = False
        with self._lock:
            # Taken first, so that what changes while it is read is read again.
            stamps = self._stamped()
            changed = stamps != self._stamps
            if changed or time.monotonic() >= self._again_at:
                self._stamps, self._again_at = stamps, math.inf
                try:
                    self._read_again()
                    is_new = True
                except errors.StartupError as exc:
                    self._again_at = time.monotonic() + self.PATIENCE
                    is_new = changed
                    if is_new:
                        LOG.error('%s. What was read before stays in force.',
                                  '; '.join(map(str, exc.args)))
            content = self._content
        if is_new:
            self.then()
        return content

    @property
    def last_read(self) -> _Content:
        """The content that is in force, without a look at the files.

        What is called at a change asks for this: files that change faster
        than they are read would call it for ever.
        """
        return self._content

    def _read_again(self) -> None:
        """Read all of the files, or change nothing and raise."""
        try:
            content = self._read()
            filled = _filled(self._stamps)
            lost = self._filled - filled
            if self._stamped() != self._stamps:
                # Read in part, or while it was away.
                raise OSError('changed while it was read')
            if lost:
                raise OSError('missing or empty: ' + ', '.join(sorted(lost)))
        except UNREADABLE as exc:
            # oslo.policy does not say which of them it is.
            paths = '' if isinstance(exc, OSError) else (
                f' (in {", ".join(path for path, *_ in self._stamps)})')
            raise errors.StartupError(
                f'{self._of} cannot be read: ' + ' '.join(str(exc).split())
                + paths) from None
        self._content, self._filled = content, filled

    def _stamped(self) -> tuple[_Stamp, ...]:
        return tuple(
            stamp for path in self._paths() for stamp in _stamps_of(path))


def _stamps_of(path: str) -> Iterator[_Stamp]:
    """Yield the stamp of the file, or of each file in the folder."""
    paths = [path]
    # Such as a file that is no folder, or disappears while it is looked at.
    with contextlib.suppress(OSError):
        paths = sorted(os.path.join(path, name) for name in os.listdir(path))
    for each in paths:
        with contextlib.suppress(OSError):
            status = os.stat(each)
            if stat.S_ISREG(status.st_mode):
                # A file that is moved away and back has another ctime only.
                yield (each, status.st_ino, status.st_size, status.st_mtime_ns,
                       status.st_ctime_ns)


def _filled(stamps: Iterable[_Stamp]) -> set[str]:
    """Return the files of STAMPS that are not empty, if all can be read."""
    # oslo.policy reads no hidden files, such as those of editors.
    return {path for path, *_ in stamps
            if not os.path.basename(path).startswith('.')
            and pathlib.Path(path).read_text(encoding='utf-8').strip()}
