"""Findings about names in nova.conf that nothing reads.

oslo.config ignores sections and options that it does not know.
"""

from collections.abc import Iterator
import difflib
import pathlib

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override.cmd.check.finding import Finding, WARNING

_GROUP = override_conf.GROUP.name
_OPTIONS = sorted(option.name for option in override_conf.OPTS)

#: Least likeness of a section's name to ours (difflib.get_close_matches).
_ALIKE = 0.75


def _sections(conf: cfg.ConfigOpts) -> Iterator[tuple[str, str, list[str]]]:
    """Yield file, name and options of each section that has been read."""
    for path in [*conf.config_file, *(
            str(each) for folder in conf.config_dir
            for each in sorted(pathlib.Path(folder).glob('*.conf')))]:
        sections: dict[str, dict[str, list[str]]] = {}
        cfg.ConfigParser(path, sections).parse()
        for name, options in sections.items():
            yield path, name, list(options)


def findings(conf: cfg.ConfigOpts) -> Iterator[Finding]:
    """Yield the sections and options that nothing reads."""
    for path, section, options in _sections(conf):
        if section != _GROUP and section not in conf and (
                difflib.get_close_matches(section, [_GROUP], cutoff=_ALIKE)):
            yield Finding(
                WARNING, 'O2', f'[{section}]',
                f'{path}: nothing reads this section', f'call it [{_GROUP}]')
        for name in options:
            if section == 'DEFAULT' and name in _OPTIONS:
                change = f'move it to [{_GROUP}]'
            elif section == _GROUP and name not in _OPTIONS:
                change = f'the options are {", ".join(_OPTIONS)}'
            else:
                continue
            yield Finding(
                WARNING, 'O1', name,
                f'{path}: nothing reads this option of [{section}]', change)
