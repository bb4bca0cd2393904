"""Findings about the files that nova-api reads, and what names them.

oslo.config ignores sections and options that it does not know, and of an
option that is in a file twice all but the last; oslo.policy ignores files that
are not there. Rules and presets: rules, policy and presets.
"""
from __future__ import annotations

from collections.abc import Iterator
import os
from typing import Any

from nova import exception
from nova.api import wsgi
from oslo_config import cfg
from paste.deploy import loadwsgi

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.api import router
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd.check.finding import ERROR, Finding, NOTE, WARNING
from nova_image_override.nova_interfaces import api as api_interfaces

_GROUP = override_conf.GROUP.name
_OPTIONS = sorted(option.name for option in override_conf.OPTS)

#: What nova-api loads (nova/wsgi/osapi_compute.py, nova/cmd/api.py).
_APPLICATION = 'osapi_compute'

_OURS = router.APIRouterV21.factory
_LINE = ('paste.app_factory = '
         'nova_image_override.api.router:APIRouterV21.factory')


class _Parser(cfg.ConfigParser):
    """Reads the names of sections as oslo.config does, in any case."""

    def new_section(self, section: str) -> None:
        # oslo_config.cfg _normalize_group_name
        super().new_section(
            section if section == 'DEFAULT' else section.lower())


def _is_given(conf: cfg.ConfigOpts, name: str, group: str) -> bool:
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


def misspelt(conf: cfg.ConfigOpts) -> Iterator[Finding]:
    """Yield the sections and options of nova.conf that nothing reads."""
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


def missing(conf: cfg.ConfigOpts) -> Iterator[Finding]:
    """Yield the policy files that nova.conf names and that are not there.

    oslo.policy goes on without them: what they close is open.
    """
    options = conf.oslo_policy
    for option, paths in (('policy_file', [options.policy_file]),
                          ('policy_dirs', options.policy_dirs)):
        for path in paths if _is_given(
                conf, option, 'oslo_policy') else ():
            if not conf.find_file(path):
                yield Finding(
                    ERROR, 'P2', path,
                    f'[oslo_policy] {option} names it, and it is not there: '
                    'the rules that Nova and this package bring are in force',
                    'write the file, or correct the option')


class _Loader(loadwsgi.ConfigLoader):  # type: ignore[misc]  # It has no types.
    """Imports all that the file names, and makes all but Nova's and ours."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        #: Those of Nova's and ours that are reached, by name.
        self.factories: dict[str, Any] = {}

    def get_app(self, name: str, global_conf: Any = None) -> Any:
        """Reach the applications that are called NAME in the file."""
        found = self.app_context(name, global_conf)
        # Pipelines and filters have none of their own.
        while found.object is None:
            found = getattr(found, 'app_context', None) or found.next_context
        if found.object not in (_OURS, api_interfaces.APPLICATION.get()):
            return found.create()
        self.factories[name] = found.object
        return found.object

    def get_filter(self, name: str, global_conf: Any = None) -> Any:
        """Import a filter; return one that leaves the application alone."""
        self.filter_context(name, global_conf)
        return lambda application: application


def paste(conf: cfg.ConfigOpts, given: str | None) -> Iterator[Finding]:
    """Load api-paste.ini as nova-api does, and yield its faults.

    :param given: its path, if a web server gives it to nova-api
    """
    if given and os.path.exists(given):
        # Nova would look for a relative path beside nova.conf first.
        given = os.path.abspath(given)
    path = given or conf.wsgi.api_paste_config
    try:
        path = wsgi.Loader(given).config_path
        loader = _Loader(path)
        loader.get_app(_APPLICATION)
    except Exception as exc:  # Importing a module can raise anything.
        if isinstance(exc, exception.ConfigNotFound) and not (
                given or _is_given(conf, 'api_paste_config', 'wsgi')):
            yield Finding(
                NOTE, 'S5', path, 'it is neither beside nova.conf nor where '
                'Nova looks by default: whether nova-api loads the extension '
                'has not been tried', 'name it with --api-paste')
            return
        yield Finding(
            ERROR, 'S3', path, 'nova-api does not start: '
            f'{type(exc).__name__}: {" ".join(str(exc).split())}',
            'correct the file, or what names it')
        return
    for section in [
            f'[app:{name}]' for name, factory in loader.factories.items()
            if factory != _OURS
    ] if loader.factories else [f'[composite:{_APPLICATION}]']:
        yield Finding(
            WARNING, 'S4', section,
            f'{path}: the extension is off for what leads here',
            f'write {_LINE} in place of Nova\'s; if nova-api reads another '
            'file (OS_NOVA_CONFIG_FILES), name that with --api-paste')
