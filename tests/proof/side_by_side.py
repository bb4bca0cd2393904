"""Unmodified and extended Nova, sent the same requests in the same state.

What is compared is the answer (status, headers, body) and what the request
did: the statements that databases executed, the messages to other services.
Clock, identifiers and passwords come from a seed, and each request finds the
state that the other one found, so nothing has to be left out.
"""
from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import datetime
import itertools
import json
import logging
import random
import sqlite3
import typing
import uuid

import fixtures
from nova import context as nova_context
from nova.compute import api as compute_api
from nova.db.api import api as api_db
from nova.db.main import api as main_db
from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils
import webob

from testing import paste_config
from testing.harness import applications
from testing.harness import base
from testing.harness import shared
from testing.harness import statements
from tests.proof import requests as proof_requests

#: What computes answer to nova-api's calls; others answer None.
REPLIES: dict[str, typing.Any] = {
    'get_console_output': 'output',
    'get_diagnostics': {'cpu0_time': 1},
    'get_host_uptime': 'up',
}
for _console in ('vnc', 'spice', 'serial', 'mks', 'rdp'):
    REPLIES[f'get_{_console}_console'] = {
        'host': 'fake', 'port': 5900, 'token': 't', 'access_url': 'http://x',
        'internal_access_path': None}


@dataclasses.dataclass
class Outcome:
    """What one application did with one request.

    :ivar status: status line
    :ivar headers: as they were sent, in their order
    :ivar body: every byte
    :ivar statements: what databases executed, with parameters, sorted: Nova
        asks its cells at the same time
    :ivar messages: what went to conductor, scheduler and computes
    """

    status: str
    headers: list[tuple[str, str]]
    body: bytes
    statements: list[tuple[str, str]]
    messages: list[str]

    @property
    def code(self) -> int:
        return int(self.status.split()[0])

    def differences(self, other: Outcome) -> list[str]:
        """Return what differs; for lists, only the first difference."""
        found = []
        for name, mine in vars(self).items():
            others = getattr(other, name)
            if mine != others and isinstance(mine, list):
                mine, others = next(
                    pair for pair in itertools.zip_longest(mine, others)
                    if pair[0] != pair[1])
            if mine != others:
                found.append(f'{name}: {mine!r} became {others!r}')
        return found


class Identifiers:
    """uuid4 and random numbers that start over with each request."""

    def __init__(self) -> None:
        self._counter = itertools.count(1)

    def reset(self) -> None:
        self._counter = itertools.count(1)
        random.seed(0)

    def uuid4(self) -> uuid.UUID:
        return uuid.UUID(int=next(self._counter), version=4)


class SideBySide(base.Cloud):
    """Two applications; one server with overrides and one without.

    Once :meth:`freeze` is done, nothing but requests changes anything.
    """

    EXTENDED_HOSTS = ('compute1',)

    def setUp(self) -> None:
        super().setUp()
        self.applications = {
            app: applications.load(app)
            for app in (paste_config.NOVA_APP, paste_config.APP)}
        server = {'networks': 'auto', 'metadata': {'foo': 'bar'},
                  'tags': ['a'], 'name': 'first'}
        self.servers = {
            proof_requests.PLAIN: self.boot(server=server),
            proof_requests.OVERRIDDEN: self.boot(
                {'hw_vif_model': 'e1000', 'hw_rng_model': None},
                server={**server, 'name': 'second'})}
        self.freeze()

    def freeze(self) -> None:
        """Stop everything except nova-api, and also the clock and chance."""
        self.stop_services()
        now = timeutils.utcnow().replace(microsecond=0)
        self.useFixture(utils_fixture.TimeFixture(
            now + datetime.timedelta(seconds=1)))
        # oslo.db draws the keys by which it remembers databases
        # (provision._random_ident): from the same seed again, another cloud
        # would find one of this cloud's.
        self.addCleanup(random.setstate, random.getstate())
        self._identifiers = Identifiers()
        for name, new in (
                ('uuid.uuid4', self._identifiers.uuid4),
                ('nova.utils.generate_password', lambda *a, **k: 'password')):
            self.useFixture(fixtures.MonkeyPatch(name, new))
        self._statements: list[statements.Statement] = []
        self._messages: list[str] = []
        self.useFixture(statements.Statements(self._statements.append))
        self.useFixture(fixtures.MockPatch(
            'oslo_messaging.transport.RPCTransport._send',
            side_effect=self._sent))
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        # What Nova remembers for the whole process, and so for both: the first
        # one to ask for a hypervisor would read the cells, and the first one
        # to ask for a server in detail would read the zone of its host
        # (availability_zones.get_instance_availability_zone).
        compute_api.load_cells()
        for server in self.servers.values():
            self.api.get_server(server)
        self._engines = self._all_engines()
        self._kept = [self._copy(engine) for engine in self._engines]
        self._fakes = [(fake, shared.data_of(fake)) for fake in (
            self.glance, self.cinder, self.neutron)]

    def _sent(
        self, target: typing.Any, context: dict[str, typing.Any],
        message: dict[str, typing.Any], wait_for_reply: bool = False,
        **kwargs: typing.Any,
    ) -> typing.Any:
        self._messages.append(json.dumps(
            [repr(target), context, message], sort_keys=True, default=repr))
        return REPLIES.get(message['method']) if wait_for_reply else None

    # --- the state that each request finds ----------------------------------

    def _all_engines(self) -> list[typing.Any]:
        context = nova_context.get_admin_context()
        engines = [api_db.get_engine()]
        for mapping in self.cell_mappings.values():
            with nova_context.target_cell(context, mapping) as cell:
                engines.append(main_db.get_engine(context=cell))
        return engines

    @staticmethod
    @contextlib.contextmanager
    def _connected(
        engine: typing.Any,
    ) -> collections.abc.Iterator[sqlite3.Connection]:
        connection = engine.raw_connection()
        try:
            yield connection.driver_connection
        finally:
            connection.close()

    def _copy(self, engine: typing.Any) -> sqlite3.Connection:
        kept = sqlite3.connect(':memory:', check_same_thread=False)
        with self._connected(engine) as connection:
            connection.backup(kept)
        return kept

    def _restore(self) -> None:
        for fake, data in self._fakes:
            shared.restore_data(fake, data)
        written = {statement.database for statement in self._statements
                   if statement.changes}
        for engine, kept in zip(self._engines, self._kept):
            if str(engine.url) not in written:
                continue
            with self._connected(engine) as connection:
                # Nothing has to outlast this process.
                connection.execute('PRAGMA synchronous = OFF')
                kept.backup(connection)

    # --- requests -----------------------------------------------------------

    def send(self, app: str, request: webob.Request) -> Outcome:
        """Send REQUEST to one of the applications."""
        self._identifiers.reset()
        self._statements.clear()
        self._messages.clear()
        response = self._answer(app, request)
        outcome = Outcome(
            response.status, list(response.headers.items()), response.body,
            sorted((statement.text, repr(statement.parameters))
                   for statement in self._statements), list(self._messages))
        if request.method not in ('GET', 'HEAD'):
            self._restore()
        return outcome

    def _answer(self, app: str, request: webob.Request) -> webob.Response:
        # Not Request.copy, which reads as many bytes as Content-Length says.
        request.environ['wsgi.input'].seek(0)
        try:
            return webob.Request(dict(request.environ)).get_response(
                self.applications[app])
        except Exception as exc:
            # What the server that runs nova-api would have to answer.
            return webob.Response(status=f'500 {exc!r}')

    def both(self, request: webob.Request) -> tuple[Outcome, Outcome]:
        """Send REQUEST to unmodified Nova and to the extended one."""
        return (self.send(paste_config.NOVA_APP, request),
                self.send(paste_config.APP, request))

    def made(
        self, request: proof_requests.Request, compute: str | None = None,
        root: str = '/v2.1',
    ) -> webob.Request:
        """Make REQUEST as a client sends it.

        :param compute: Nova's microversion, or None
        :param root: what nova-api's path begins with
        """
        path, body = request.path, request.body
        for name, server in self.servers.items():
            path = path.replace(name, server)
        return applications.request(
            request.method, root + path, body,
            content_type=request.content_type, headers={
                **(applications.ADMIN if request.admin
                   else applications.MEMBER),
                'X-Auth-Project-Id': self.api.project_id,
                **applications.version_header(compute, named=False),
                **dict(request.headers)})
