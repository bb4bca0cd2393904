"""Nova's policy files, which have our rules among Nova's own.

They are read again when a file changes, as Nova reads them.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
import contextlib
import logging
import os
import threading

from oslo_config import cfg
from oslo_policy import opts as oslo_policy_opts
from oslo_policy import policy as oslo_policy

from nova_image_override import errors

LOG = logging.getLogger(__name__)

#: Raised by oslo.policy for files that it cannot read or make sense of.
_UNREADABLE = (cfg.Error, OSError, AttributeError, TypeError, ValueError)

#: Distinguishes one state of a policy file from another.
_Stamp = tuple[str, int, int, int]


class PolicyFiles:
    """Nova's policy files, always in one state: before a change, or after.

    Nova's own enforcer is shared by threads, which see it while one of them
    reads a changed file: ``Enforcer._record_file_rules`` empties
    ``file_rules`` before it parses, and ``Enforcer.load_rules`` puts the
    files of ``policy_dirs`` and the defaults in last. What is closed there
    is open in between, and vice versa. Here each state is read into an
    enforcer of its own, which never changes again.

    :param conf: Nova's configuration, which names the files
    :param defaults: Nova's rules, to which those of the files may refer, and
        ours
    :raises errors.StartupError: a file cannot be read
    """

    def __init__(
        self, conf: cfg.ConfigOpts,
        defaults: Iterable[oslo_policy.RuleDefault],
    ) -> None:
        # Registers the options, if nobody has.
        oslo_policy_opts.set_defaults(conf)
        self._conf = conf
        self._defaults = list(defaults)
        self._lock = threading.Lock()
        self._stamps = self._stamped()
        try:
            self._filled = _filled(self._stamps)
            self._enforcer = self._read()
        except _UNREADABLE as exc:
            raise errors.StartupError(_failure(exc)) from None

    def enforcer(self) -> oslo_policy.Enforcer:
        """Return the rules that the files hold now.

        If a changed file cannot be read, or a file that was there is missing
        or empty, these are the rules from before that: an answer is never made
        from half of the rules.
        """
        with self._lock:
            # Taken first, so that what changes while it is read is read again.
            stamps = self._stamped()
            if stamps != self._stamps:
                self._stamps = stamps
                try:
                    filled = _filled(stamps)
                    lost = self._filled - filled
                    if lost:
                        raise OSError(
                            'missing or empty: ' + ', '.join(sorted(lost)))
                    self._enforcer = self._read()
                    self._filled = filled
                except _UNREADABLE as exc:
                    LOG.error('%s. The rules that were read before stay in '
                              'force.', _failure(exc))
            return self._enforcer

    def _stamped(self) -> tuple[_Stamp, ...]:
        options = self._conf.oslo_policy
        return tuple(
            stamp for name in (options.policy_file, *options.policy_dirs)
            for stamp in _stamps_of(self._conf.find_file(name)))

    def _read(self) -> oslo_policy.Enforcer:
        enforcer = oslo_policy.Enforcer(self._conf)
        # Nova's own enforcer has already warned about deprecated rules.
        enforcer.suppress_default_change_warnings = True
        enforcer.suppress_deprecation_warnings = True
        enforcer.register_defaults(self._defaults)
        enforcer.load_rules()
        # Adds no rule, but ends the reading of files.
        enforcer.set_rules({}, overwrite=False, use_conf=False)
        return enforcer


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


def _failure(error: Exception) -> str:
    return ('The policy files of Nova cannot be read: '
            + ' '.join(str(error).split()))
