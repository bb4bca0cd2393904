"""Findings about names in nova.conf that nobody reads.

oslo.config ignores sections and options that it does not know.
"""

import collections.abc
import difflib
import pathlib

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check.cloud import Finding
from nova_image_override.cmd.check.cloud import Findings

_GROUP = override_conf.GROUP.name
_OPTIONS = sorted(option.name for option in override_conf.OPTS)

#: How alike a section's name has to be to ours (difflib.get_close_matches).
_ALIKE = 0.75


def findings(conf: cfg.ConfigOpts) -> Findings:
    """O1 and O2: options and sections of ours that are misspelt or misplaced.

    :param conf: nova.conf, already read
    """
    for path in _files(conf):
        sections: dict[str, dict[str, list[str]]] = {}
        cfg.ConfigParser(path, sections).parse()
        for name, options in sections.items():
            if name == _GROUP:
                yield from _unknown(path, options)
            elif name not in conf and difflib.get_close_matches(
                    name, [_GROUP], cutoff=_ALIKE):
                yield Finding(
                    cloud_module.WARNING, 'O2', (f'[{name}]',),
                    f'{path}: nobody reads this section',
                    f'call it [{_GROUP}]')
            elif name == 'DEFAULT':
                yield from _misplaced(path, options)


def _files(conf: cfg.ConfigOpts) -> collections.abc.Iterator[str]:
    """Yield the files that oslo.config has read, in its order."""
    yield from conf.config_file
    for folder in conf.config_dir:
        yield from sorted(map(str, pathlib.Path(folder).glob('*.conf')))


def _unknown(
    path: str, options: collections.abc.Iterable[str],
) -> Findings:
    for name in options:
        if name not in _OPTIONS:
            near = difflib.get_close_matches(name, _OPTIONS, n=1)
            yield Finding(
                cloud_module.WARNING, 'O1', (name,),
                f'{path}: nobody reads this option of [{_GROUP}]',
                f'call it {near[0]}' if near else 'drop it; the options are '
                + ', '.join(_OPTIONS))


def _misplaced(
    path: str, options: collections.abc.Iterable[str],
) -> Findings:
    for name in options:
        if name in _OPTIONS:
            yield Finding(
                cloud_module.WARNING, 'O1', (name,),
                f'{path}: nobody reads this option of [DEFAULT]',
                f'move it to [{_GROUP}]')
