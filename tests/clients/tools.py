"""Clients as subprocesses, and what they put on the wire."""
from __future__ import annotations

import dataclasses
import io
import json
import os
import pathlib
import shutil
import subprocess
import typing

ROOT = pathlib.Path(__file__).parents[2]

#: The environment that has the clients.
CLIENTS = ROOT / os.environ.get('CLIENTS', '.venv/clients-10')

#: Whether it is the one that demo-serve and the pages use.
NEWEST = CLIENTS.name == 'clients-10'

#: Whether its "openstack server evacuate" can: that of 7.1 gives openstacksdk's
#: evacuate_server a password, which that does not take.
EVACUATES = CLIENTS.name != 'clients-7'


@dataclasses.dataclass(frozen=True)
class Request:
    """What came in, as a server sees it."""

    method: str
    path: str
    version: str | None
    legacy_version: str | None
    body: typing.Any
    #: The body as it came.
    raw: bytes


class Recorder:
    """WSGI middleware that remembers the requests."""

    def __init__(self, application: typing.Any) -> None:
        self._application = application
        self.requests: list[Request] = []

    def __call__(self, environ, start_response):
        raw = environ['wsgi.input'].read(
            int(environ.get('CONTENT_LENGTH') or 0))
        environ['wsgi.input'] = io.BytesIO(raw)
        self.requests.append(Request(
            environ['REQUEST_METHOD'], environ['PATH_INFO'],
            environ.get('HTTP_OPENSTACK_API_VERSION'),
            environ.get('HTTP_X_OPENSTACK_NOVA_API_VERSION'),
            json.loads(raw) if raw else None, raw))
        return self._application(environ, start_response)

    def compute(self, method: str | None = None) -> list[Request]:
        """Return the requests to nova-api."""
        return [request for request in self.requests
                if request.path.startswith('/compute')
                and method in (None, request.method)]


class Client:
    """Runs programs from the clients' environment against one cloud.

    :param folder: where this may write
    :param url: of the site
    :param seen: what the site has been asked
    """

    def __init__(
        self, folder: pathlib.Path, url: str, seen: Recorder,
    ) -> None:
        self.url = url
        self.seen = seen
        self.clouds = folder / 'clouds.yaml'
        self._environment = {
            'HOME': str(folder),
            'PATH': f'{CLIENTS / "bin"}:{os.environ["PATH"]}',
            'OS_CLOUD': 'demo', 'OS_CLIENT_CONFIG_FILE': str(self.clouds),
            # stevedore's cache of entry points outlives an installation.
            'XDG_CACHE_HOME': str(folder), 'PYTHONWARNINGS': 'ignore',
            'COLUMNS': '200'}

    def run(
        self, program: str, *arguments: str, text: str | None = None,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program, with TEXT as its input."""
        self.seen.requests.clear()
        # Not with the server's own PATH, which has other programs.
        found = shutil.which(program, path=self._environment['PATH'])
        return subprocess.run(
            [found, *arguments], input=text,
            env={**self._environment, **environment},
            capture_output=True, text=True, timeout=300)

    def openstack(self, *arguments: str, **kwargs: typing.Any) -> str:
        """Run an openstack command that must succeed; return its output."""
        done = self.run('openstack', *arguments, **kwargs)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *arguments: str) -> str:
        """Run an openstack command that must fail; return its message."""
        done = self.run('openstack', *arguments)
        assert done.returncode != 0, done.stdout
        assert 'Traceback' not in done.stderr
        return done.stderr

    def python(
        self, program: str, *arguments: str, **kwargs: typing.Any,
    ) -> str:
        """Run a Python program that must succeed; return its output."""
        done = self.run('python', '-c', program, *arguments, **kwargs)
        assert done.returncode == 0, done.stderr
        return done.stdout
