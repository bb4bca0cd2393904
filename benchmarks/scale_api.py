"""nova-api with cells alone: no Keystone, one image, no ports or claims."""
from __future__ import annotations

import collections.abc
import contextlib
import json
import pathlib
import shutil
import signal
import sys
import time
import typing

import requests
import webob
import webob.dec

from nova_image_override import versions
from testing import paste_config
from testing import wsgi_server
from testing.deployment import mariadb
from testing.deployment import nova
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module

_IMAGE = ('id', 'name', 'status', 'visibility', 'container_format',
          'disk_format', 'min_ram', 'min_disk', 'size', 'owner', 'updated_at')


def others(image: dict[str, typing.Any]) -> typing.Any:
    """Return what Nova asks of other services, as a WSGI application."""
    schema = {'name': 'image', 'properties': {name: {} for name in _IMAGE}}
    shown = image['properties'] | {name: image.get(name) for name in _IMAGE}

    @webob.dec.wsgify
    def answer(request: webob.Request) -> webob.Response:
        return webob.Response(json_body=(
            schema if 'schemas' in request.path else
            shown if 'images' in request.path else
            {'ports': [], 'extensions': [], 'security_groups': [],
             # Of Placement.
             'versions': [{'id': 'v1.0', 'status': 'CURRENT', 'links': [
                 {'rel': 'self', 'href': ''}], 'min_version': '1.0',
                 'max_version': '1.39'}]}))
    return answer


@contextlib.contextmanager
def running(
    folder: str, image: dict[str, typing.Any],
    options: collections.abc.Sequence[str] = (),
) -> collections.abc.Iterator[
        tuple[state_module.State, mariadb.MariaDB, str]]:
    """Run MariaDB and :func:`others`, and leave nothing of them.

    :param options: of mariadbd
    :returns: the state in FOLDER, MariaDB, and the URL of others
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('ended'))
    state = state_module.State(state_module.ROOT / folder)
    database = mariadb.MariaDB(state, options)
    with contextlib.ExitStack() as ending:
        ending.callback(shutil.rmtree, state.folder)
        ending.callback(database.stop)
        database.up()
        yield state, database, ending.enter_context(
            wsgi_server.serving(others(image)))


def spent(*services: processes.Process) -> float:
    """Return the processor time of services, in seconds."""
    # ~pid << 3 | CPUCLOCK_SCHED is the clock of a process (Linux).
    return sum(time.clock_gettime(~pid << 3 | 2)
               for each in services if (pid := each.pid))


class API(nova.NovaAPI):
    """nova-api in one process, for all projects.

    :param others: URL of :func:`others`
    :param presets: those of the file; without any it is an unmodified one
    :ivar policy: what ``policy.yaml`` says
    """

    WORKERS = 1

    def __init__(self, state: state_module.State, name: str, others: str,
                 presets: typing.Any = None) -> None:
        super().__init__(state, name)
        self._others = others
        self._presets = presets
        self.extended = bool(presets)
        self.rules = {'allowed_properties': '*',
                      'presets_file': str(self.folder / 'presets.yaml')}
        self.policy: dict[str, str] = {}

    def configure(self) -> None:
        """Write its files, and the extension's where there are presets."""
        ini = pathlib.Path(paste_config.write(
            self.folder, paste_config.APP if self.extended else
            paste_config.NOVA_APP, self.installation.etc))
        ini.write_text(ini.read_text().replace('authtoken ', ''))
        (self.folder / 'presets.yaml').write_text(json.dumps(self._presets))
        (self.folder / 'policy.yaml').write_text(json.dumps(self.policy))
        settings.write(
            self.folder / 'nova.conf', nova.databases(self.state), {
                'DEFAULT': {'state_path': str(self.folder),
                            'transport_url': 'fake:/'},
                'wsgi': {'api_paste_config': str(ini)},
                'oslo_policy': {
                    'policy_file': str(self.folder / 'policy.yaml')},
                'glance': {'api_servers': self._others},
                'neutron': {'endpoint_override': self._others},
                'placement': {'auth_type': 'none',
                              'endpoint_override': self._others},
                'quota': dict.fromkeys(('instances', 'cores', 'ram'), '-1')},
            {'image_override': self.rules})

    def send(self, project: str, named: bool, method: str, path: str,
             body: typing.Any = None) -> typing.Any:
        """Send a request of a member of a project, or of an administrator.

        :param body: what to send, or what returns that
        """
        answer = requests.request(
            method, state_module.url(self.name, f'/v2.1{path}'),
            json=body() if callable(body) else body, timeout=600,
            headers={
                'X-User-Id': 'user', 'X-Project-Id': project,
                'X-Auth-Token': 'token', 'X-Roles': 'member,reader'
                + ',admin' * (project == 'admin'),
                versions.HEADER: 'compute latest' + named *
                f', {versions.SERVICE_TYPE} {versions.MAX}'})
        if answer.status_code >= 300:
            raise RuntimeError(f'{method} {path}: {answer.text}')
        return answer.json() if answer.content else None
