"""Where a rule is: FILE:LINE in the files of a deployment."""

import dataclasses
import itertools
import re
from typing import Any

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override.authorization.glance import config_files
from nova_image_override.authorization.policy_files import PolicyFiles

#: Where there is no such option or rule in any file.
_DEFAULT = 'default'


class Source:
    """In this package."""

    def line(self, conf: cfg.ConfigOpts, policy: PolicyFiles) -> str:
        """Return where the rule is: FILE:LINE, or in words.

        :param conf: nova.conf, already read
        """
        return 'nova-image-override'


@dataclasses.dataclass(frozen=True)
class Option(Source):
    """In nova.conf.

    :ivar name: of the option in ``[image_override]``
    :ivar entry: what to look for among the option's lines
    """

    name: str
    entry: str = ''

    def line(self, conf: cfg.ConfigOpts, policy: PolicyFiles) -> str:
        """Return the line of the entry, or of the option."""
        group = override_conf.GROUP.name
        location = conf.get_location(self.name, group)
        if location is None or location.location.name != 'user':
            return _DEFAULT
        return _line_in(location.detail, group, self.name, self.entry)


@dataclasses.dataclass(frozen=True)
class GlanceFile(Source):
    """In a file of Glance's.

    :ivar option: of ``[image_override]``, which names the file, or files of
        which the last one counts
    :ivar section: in the file; '' where there is none
    :ivar key: what to look for in the section
    """

    option: str
    section: str = ''
    key: str = ''

    def line(self, conf: cfg.ConfigOpts, policy: PolicyFiles) -> str:
        """Return the line of the key, or a file where it would be."""
        paths: Any = conf[override_conf.GROUP.name][self.option]
        if not paths:
            return _DEFAULT
        paths = [paths] if isinstance(paths, str) else paths[::-1]
        lines = [_line_in(path, self.section, self.key) for path in paths]
        return next((line for line, path in zip(lines, paths, strict=True)
                     if line != path), paths[0])


@dataclasses.dataclass(frozen=True)
class PolicyRule(Source):
    """In Nova's policy.yaml.

    :ivar name: of the rule
    """

    name: str

    def line(self, conf: cfg.ConfigOpts, policy: PolicyFiles) -> str:
        """Return the line of the rule."""
        enforcer = policy.enforcer()
        path: str | None = enforcer.policy_path
        if self.name not in enforcer.file_rules or path is None:
            return _DEFAULT
        with open(path, encoding='utf-8') as file:
            for number, line in enumerate(file, 1):
                if re.match(
                        rf'[\s{{,]*["\']?{re.escape(self.name)}["\']?\s*:',
                        line):
                    return f'{path}:{number}'
        return path


def _line_in(path: str, section: str, key: str, entry: str = '') -> str:
    """Return FILE:LINE of KEY, or of ENTRY in its value."""
    try:
        with open(path, encoding='utf-8') as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return path
    line = config_files.key_line(text, section, key)
    if line is None:
        return path
    first, *others = text.split('\n')[line - 1:]
    value = itertools.takewhile(lambda each: each[:1].isspace(), others)
    for number, each in enumerate((first, *value), line):
        if entry in each:
            return f'{path}:{number}'
    return f'{path}:{line}'
