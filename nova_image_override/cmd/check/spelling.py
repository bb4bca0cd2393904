"""Findings about names in nova.conf that nothing reads, or not all of.

oslo.config ignores sections and options that it does not know, and of an
option that is in a file twice all but the last.
"""
from __future__ import annotations

from collections.abc import Iterator

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd.check.finding import Finding, WARNING

_GROUP = override_conf.GROUP.name
_OPTIONS = sorted(option.name for option in override_conf.OPTS)


class _Parser(cfg.ConfigParser):
    """Reads the names of sections as oslo.config does, in any case."""

    def new_section(self, section: str) -> None:
        # oslo_config.cfg _normalize_group_name
        super().new_section(
            section if section == 'DEFAULT' else section.lower())


def is_given(conf: cfg.ConfigOpts, name: str, group: str) -> bool:
    """Return whether the operator has set an option."""
    found = conf.get_location(name, group)
    return bool(found and found.location.is_user_controlled)


def _sections(
    conf: cfg.ConfigOpts,
) -> Iterator[tuple[str, str, dict[str, list[str]]]]:
    """Yield file, name and options of each section that has been read.

    Of each option there are all values that the file has.
    """
    for path in deployment_files.paths(conf.config_file, conf.config_dir):
        sections: dict[str, dict[str, list[str]]] = {}
        _Parser(path, sections).parse()
        for name, options in sections.items():
            yield path, name, options


def findings(conf: cfg.ConfigOpts) -> Iterator[Finding]:
    """Yield the sections and options that nothing reads."""
    for path, section, options in _sections(conf):
        if section != _GROUP and section not in conf and (
                errors.nearest(section, [_GROUP])):
            yield Finding(
                WARNING, 'O2', f'[{section}]',
                f'{path}: nothing reads this section', f'call it [{_GROUP}]')
        for name, values in options.items():
            if section == _GROUP and name in _OPTIONS and values[1:]:
                yield Finding(
                    WARNING, 'O3', name,
                    f'{path}: it is there {len(values)} times, and only the '
                    f'last one counts: {" ".join(values[-1].split())}',
                    'keep one of them, with all that it is to say')
            if section == 'DEFAULT' and name in _OPTIONS:
                change = f'move it to [{_GROUP}]'
            elif section == _GROUP and name not in _OPTIONS:
                near = errors.nearest(name, _OPTIONS)
                change = f'write {near}' if near else 'remove it'
            else:
                continue
            yield Finding(
                WARNING, 'O1', name,
                f'{path}: nothing reads this option of [{section}]', change)
