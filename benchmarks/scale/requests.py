"""What users and administrators ask of nova-api, and what it costs."""

import collections.abc
import dataclasses
import time
import typing

import webob

from benchmarks.scale import answers
from benchmarks.scale import cloud as cloud_module
from benchmarks.scale import database as database_module
from benchmarks.scale import servers as servers_module
from testing.cost import measure
from testing.harness import applications
from testing.harness import base
from testing.harness import paste_config
from testing.harness import statements

#: Servers per page, and per page that is as long as nova-api allows.
LIMIT = 20
LIMIT_MAX = 1000

#: Overridden by all that override anything, by those with ten, and by nobody.
COMMON, RARE, NOBODYS = 'hw_disk_bus', 'hw_watchdog_action', 'hw_pmu'


@dataclasses.dataclass(frozen=True)
class Asked:
    """What one of the applications is asked, and has to answer.

    :ivar path: without the version of nova-api
    """

    path: str
    expected: list[servers_module.Server]


@dataclasses.dataclass(frozen=True)
class Request:
    """A request, made of unmodified Nova and of the extension.

    :ivar title: what it asks
    :ivar project: whose user asks; None for an administrator
    :ivar nova: what unmodified Nova is asked
    :ivar extension: what the extension is asked
    """

    title: str
    project: str | None
    nova: Asked
    extension: Asked


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a request cost.

    :ivar rows: how many were read
    :ivar seconds: the median
    """

    rows: int
    seconds: float


def made(
    servers: servers_module.Servers,
) -> collections.abc.Iterator[Request]:
    """Yield the requests to measure."""
    mine = servers.expected(project=servers_module.PROJECT)
    for kind in (min(servers_module.KINDS), max(servers_module.KINDS)):
        one = next(server for server in mine if server.kind == kind)
        asked = Asked(f'/servers/{one.uuid}', [one])
        yield Request(f'GET /servers/ID, {kind} overrides',
                      servers_module.PROJECT, asked, asked)
    for project in (servers_module.PROJECT, None):
        for late in (False, True):
            yield _listing(servers, project, None, late)
        for name, late in (
                (COMMON, False), (COMMON, True), (RARE, False),
                (NOBODYS, False)):
            yield _listing(servers, project, name, late)


def _listing(
    servers: servers_module.Servers, project: str | None,
    name: str | None, late: bool = False,
) -> Request:
    """Return the request for the first page of a list, or the last full one.

    :param name: which overrides the extension is asked for; unmodified Nova
        is asked for all servers
    """
    query = f'/servers/detail?limit={LIMIT}' + (
        '' if project else '&all_tenants=1')
    nova = _page(query, servers.expected(project=project), late)
    return Request(
        ', '.join([
            f'{base.PARAMETER}={name}' if name else 'all servers',
            'a project' if project else 'all projects',
            'last page' if late else 'first page']),
        project, nova, _page(
            f'{query}&{base.PARAMETER}={name}',
            servers.expected([name], project), late) if name else nova)


def _page(
    query: str, listed: list[servers_module.Server], late: bool,
) -> Asked:
    offset = max(len(listed) - LIMIT, 0) if late else 0
    marker = f'&marker={listed[offset - 1].uuid}' if offset else ''
    return Asked(query + marker, listed[offset:offset + LIMIT])


class Asker:
    """Sends requests to both applications, and checks what they answer."""

    def __init__(self, cloud: cloud_module.Cloud) -> None:
        self._cloud = cloud

    def _call(
        self, path: str, project: str | None, extended: bool,
    ) -> collections.abc.Callable[[], webob.Response]:
        """Return a request of a project's member, or an administrator's."""
        made = applications.request('GET', f'/v2.1{path}', headers={
            **(applications.MEMBER if project else applications.ADMIN),
            'X-Auth-Project-Id': project or 'admin',
            **applications.version_header(self._cloud.COMPUTE, extended)})
        application = self._cloud.applications[
            paste_config.APP if extended else paste_config.NOVA_APP]
        return lambda: made.get_response(application)

    def _prepare(self, request: Request, extended: bool) -> measure.Prepare:
        asked = request.extension if extended else request.nova

        def prepare() -> collections.abc.Callable[[], object]:
            call = self._call(asked.path, request.project, extended)
            return lambda: (call(), asked, extended)
        return prepare

    def costs(self, request: Request, rounds: int) -> tuple[Cost, Cost]:
        """Return what a request costs unmodified Nova, and the extension.

        :raises answers.Wrong: an answer is not what was generated
        """
        variants = {extended: self._prepare(request, extended)
                    for extended in (False, True)}
        rows = {}
        for extended, prepare in variants.items():
            _check(prepare()())
            answer, rows[extended] = self._cloud.DATABASE.reading(prepare())
            _check(answer)
        seconds = measure.medians(
            variants, rounds, after=_check, clock=time.perf_counter)
        return (Cost(rows[False], seconds[False]),
                Cost(rows[True], seconds[True]))

    def check_every_page(
        self, servers: servers_module.Servers, name: str,
        project: str | None,
    ) -> int:
        """Compare every page of a filtered list with what was generated.

        :returns: how many there are
        :raises answers.Wrong: they differ
        """
        limit = LIMIT if project else LIMIT_MAX
        return answers.check_pages(
            lambda path: self._call(path, project, extended=True)(),
            f'/servers?limit={limit}&{base.PARAMETER}={name}'
            + ('' if project else '&all_tenants=1'),
            servers.expected([name], project), limit)

    def plan(
        self, servers: servers_module.Servers, name: str,
        project: str | None,
    ) -> list[dict[str, typing.Any]]:
        """Return how the database finds the first page of a filtered list."""
        heard: list[statements.Statement] = []
        with statements.Statements(heard.append):
            _check(self._prepare(_listing(servers, project, name), True)()())
        statement = next(
            each for each in heard if 'EXISTS (SELECT' in each.text
            and database_module.CELL1 in each.database)
        return [step for step in self._cloud.DATABASE.explain(
            statement.text, statement.parameters)
            if step['table'] in ('instances', 'instance_system_metadata')]


def _check(answered: typing.Any) -> None:
    answer, asked, extended = answered
    answers.check(answer, asked.expected, overrides=extended)
