"""Findings about ``api-paste.ini``, which says what nova-api runs."""
from __future__ import annotations

from collections.abc import Iterator
import os
from typing import Any

from nova import exception
from nova.api import wsgi
from oslo_config import cfg
from paste.deploy import loadwsgi

from nova_image_override.api import router
from nova_image_override.cmd.check import spelling
from nova_image_override.cmd.check.finding import ERROR, Finding, NOTE, WARNING
from nova_image_override.nova_interfaces import api as api_interfaces

#: What nova-api loads (nova/wsgi/osapi_compute.py, nova/cmd/api.py).
_APPLICATION = 'osapi_compute'

_OURS = router.APIRouterV21.factory
_LINE = ('paste.app_factory = '
         'nova_image_override.api.router:APIRouterV21.factory')


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


def findings(conf: cfg.ConfigOpts, given: str | None) -> Iterator[Finding]:
    """Load the file as nova-api does, and yield its faults.

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
                given or spelling.is_given(conf, 'api_paste_config', 'wsgi')):
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
