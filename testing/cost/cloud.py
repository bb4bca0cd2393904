"""A nova-api with both applications: Nova's own and the extended one."""
from __future__ import annotations

import collections.abc
import contextlib
import functools
import inspect
import typing
from unittest import mock

import fixtures
from nova.image import glance
from nova.network import neutron
from nova.scheduler.client import report
from nova.volume import cinder
import webob

from testing import paste_config
from testing.cost import overrides
from testing.harness import applications
from testing.harness import base
from testing.harness import statements

#: The clients through which nova-api calls other services.
_CLIENTS = (cinder.API, glance.API, neutron.API, report.SchedulerReportClient)


def expect(status: int, wanted: int, text: str) -> None:
    """Stop when an answer is not the one that is to be measured."""
    if status != wanted:
        raise RuntimeError(f'{status} instead of {wanted}: {text}')


class Cloud(base.Cloud):
    """Two applications on the same databases, side by side.

    Once :meth:`stop` is done, nothing builds what is accepted: POST /servers is
    measured up to its 202, without the message to the conductor. Databases are
    SQLite in memory, services other than Nova are the fakes of Nova's tests:
    whatever the extension adds weighs more here than behind a network.
    """

    #: Servers that GET /servers/detail lists.
    SERVERS = 100

    def setUp(self) -> None:
        """Start the services and load the applications."""
        # Room for all servers on one host.
        self.flags(initial_cpu_allocation_ratio=64.0,
                   initial_disk_allocation_ratio=64.0)
        super().setUp()
        self.applications = {
            app: applications.load(app)
            for app in (paste_config.NOVA_APP, paste_config.APP)}

    def add_servers(self) -> None:
        """Make the servers to list.

        The conductor puts them into their cell as usual; no guests are built
        for them, which would take minutes.
        """
        with mock.patch(
                'nova.compute.rpcapi.ComputeAPI.build_and_run_instance'):
            answer = self.create(
                overrides.TEN, flavor=self.flavor(vcpus=4, ram=64), server={
                    'min_count': self.SERVERS, 'return_reservation_id': True})
        expect(answer.status, 202, answer.text)
        for server in self.http(
                'GET', '/servers?reservation_id='
                + answer.body['reservation_id']).body['servers']:
            self.act(server['id'], {'os-resetState': {'state': 'active'}},
                     admin=True)

    def stop(self) -> None:
        """Stop everything except nova-api."""
        self.useFixture(fixtures.MockPatch(base.BUILDS))
        self.stop_services()

    def call(
        self, app: str, method: str, path: str, body: typing.Any = None, *,
        compute: str = base.Cloud.COMPUTE, named: bool = False,
    ) -> collections.abc.Callable[[], webob.Response]:
        """Return a request of a project member, ready to be sent.

        :param app: the application to send it to, a key of ``applications``
        :param compute: Nova's microversion
        :param named: whether it names the extension
        """
        request = applications.request(method, f'/v2.1{path}', body, headers={
            **applications.MEMBER,
            'X-Auth-Project-Id': self.api.project_id,
            **applications.version_header(compute, named)})
        return lambda: request.get_response(self.applications[app])


class Counter:
    """Counts what requests cost others.

    :ivar queries: statements that databases executed
    :ivar calls: calls to Nova's clients for other services
    """

    def __init__(self) -> None:
        self.queries = 0
        self.calls = 0

    @contextlib.contextmanager
    def counting(self) -> collections.abc.Iterator[None]:
        """Count for the duration of the context."""
        def executed(statement: statements.Statement) -> None:
            self.queries += 1

        with contextlib.ExitStack() as stack:
            stack.enter_context(statements.Statements(executed))
            for client in _CLIENTS:
                stack.enter_context(self._watched(client))
            yield

    @contextlib.contextmanager
    def _watched(self, client: type) -> collections.abc.Iterator[None]:
        """Count the calls to CLIENT's public methods."""
        def watch(method: typing.Any) -> typing.Any:
            @functools.wraps(method)
            def call(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
                self.calls += 1
                return method(*args, **kwargs)
            return call

        with mock.patch.multiple(client, **{
                name: watch(method) for name, method in vars(client).items()
                if inspect.isfunction(method) and name[0] != '_'}):
            yield
