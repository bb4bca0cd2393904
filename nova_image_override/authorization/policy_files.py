"""Nova's policy files, which have our rules among Nova's own.

They are read again when a file changes, as Nova reads them.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from oslo_config import cfg
from oslo_policy import opts as oslo_policy_opts
from oslo_policy import policy as oslo_policy

from nova_image_override.authorization import watched_files

#: Raised by oslo.policy for files that it cannot read or make sense of.
_UNREADABLE = (cfg.Error, OSError, AttributeError, TypeError, ValueError)


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
    :raises nova_image_override.errors.StartupError: a file cannot be read
    """

    def __init__(
        self, conf: cfg.ConfigOpts,
        defaults: Iterable[oslo_policy.RuleDefault],
    ) -> None:
        # Registers the options, if nobody has.
        oslo_policy_opts.set_defaults(conf)
        self._conf = conf
        self._defaults = list(defaults)
        #: Returns the rules that the files hold now.
        self.enforcer = watched_files.WatchedFiles(
            self._paths, self._read, 'The policy files of Nova',
            _UNREADABLE).said

    def _paths(self) -> Iterator[str | None]:
        options = self._conf.oslo_policy
        for name in (options.policy_file, *options.policy_dirs):
            yield self._conf.find_file(name)

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
