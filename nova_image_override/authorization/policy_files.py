"""Nova's policy files, which have our rules among Nova's own.

They are read again when a file changes, as Nova reads them.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from oslo_config import cfg
from oslo_policy import opts as oslo_policy_opts
from oslo_policy import policy as oslo_policy

from nova_image_override.authorization.watched_files import WatchedFiles


def watched(
    conf: cfg.ConfigOpts, defaults: Iterable[oslo_policy.RuleDefault],
) -> WatchedFiles[oslo_policy.Enforcer]:
    """Return what Nova's policy files say: an enforcer for each state.

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
    # Registers the options, if nobody has.
    oslo_policy_opts.set_defaults(conf)
    rules = list(defaults)

    def paths() -> Iterator[str]:
        options = conf.oslo_policy
        return filter(None, map(conf.find_file, (
            options.policy_file, *options.policy_dirs)))

    def read() -> oslo_policy.Enforcer:
        enforcer = oslo_policy.Enforcer(conf)
        # Nova's own enforcer has already warned about deprecated rules.
        enforcer.suppress_default_change_warnings = True
        enforcer.suppress_deprecation_warnings = True
        enforcer.register_defaults(rules)
        enforcer.load_rules()
        # Adds no rule, but ends the reading of files.
        enforcer.set_rules({}, overwrite=False, use_conf=False)
        return enforcer

    return WatchedFiles(paths, read, 'The policy files of Nova')
