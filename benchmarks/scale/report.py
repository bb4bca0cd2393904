"""What is measured of a cell of many servers, and in which tables."""

import collections.abc
import typing

from benchmarks.scale import boots
from benchmarks.scale import cloud as cloud_module
from benchmarks.scale import database as database_module
from benchmarks.scale import listing
from benchmarks.scale import requests
from benchmarks.scale import servers as servers_module


class Table(typing.NamedTuple):
    """A table.

    :ivar name: the name by which the documentation includes it
    """

    name: str
    title: str
    head: list[str]
    rows: list[list[str]]


#: How many servers tables are measured with.
_ALIKE = 10_000


def tables(
    database: database_module.Database, number: int, rounds: int,
) -> collections.abc.Iterator[Table]:
    """Measure.

    :param number: of servers
    :param rounds: how often each request is measured
    :returns: each table, as soon as it is measured
    """
    cloud_module.Cloud.DATABASE = database
    with cloud_module.Cloud.running() as cloud:
        booted = boots.Boots(cloud)
        yield _written(booted.written)
        servers = servers_module.Servers(database, booted.booted)
        booted.delete()
        cloud.stop()
        yield _sizes(database, servers)
        yield from _requests(cloud, servers, number, rounds)


def _written(written: dict[str, boots.Written]) -> Table:
    return Table(
        'boots',
        'What one boot writes, from POST /servers to ACTIVE: the least of '
        f'{boots.ROUNDS}',
        ['', 'INSERT, UPDATE, DELETE', 'rows', 'KiB of redo log'],
        [[title, str(each.statements), str(each.rows), _kib(each.logged)]
         for title, each in written.items()])


def _sizes(
    database: database_module.Database, servers: servers_module.Servers,
) -> Table:
    """Measure tables of servers with the same number of overrides."""
    rows = []
    for kind, counted in servers.rows.items():
        schemas = {schema: f'alike_{kind}_{schema}' for schema in (
            database_module.CELL1, database_module.API)}
        servers.make_tables(schemas)
        servers.decide(1, _ALIKE, kind=kind)
        servers.generate(1, _ALIKE, schemas)
        servers.forget()
        sizes = {schema: database.sizes(copy)
                 for schema, copy in schemas.items()}
        for copy in schemas.values():
            database.execute(f'DROP DATABASE {copy}')
        metadata = sizes[database_module.CELL1]['instance_system_metadata']
        rows.append([
            f'{kind} overrides', str(counted['instance_system_metadata']),
            _kib(metadata / _ALIKE), str(sum(counted.values())),
            *(_kib(sum(tables.values()) / _ALIKE)
              for tables in sizes.values())])
    return Table(
        'sizes', f'Rows and KiB of a server, by {_ALIKE:,} that are alike',
        ['', 'system metadata: rows', 'KiB', 'all tables: rows',
         'KiB in the cell database', 'KiB in the API database'], rows)


def _requests(
    cloud: cloud_module.Cloud, servers: servers_module.Servers, number: int,
    rounds: int,
) -> collections.abc.Iterator[Table]:
    """Measure with a tenth of the servers, and with all of them."""
    database = cloud.DATABASE
    few = number // 10
    asker = requests.Asker(cloud)
    servers.decide(1, few, one_in=20)
    servers.generate(1, few)
    _analyze(database)
    fewer = [asker.costs(request, 1) for request in requests.made(servers)]
    fewer_runs = [listing.run(database, servers, words)
                  for words in listing.COMMANDS]
    servers.decide(few + 1, number)
    servers.generate(few + 1, number)
    _analyze(database)
    rows = []
    for request, (nova, own) in zip(
            requests.made(servers), fewer, strict=True):
        nova_more, own_more = asker.costs(request, rounds)
        rows.append([
            request.title, f'{nova.rows:,}', f'{nova_more.rows:,}',
            f'{own.rows:,}', f'{own_more.rows:,}', _ms(nova_more.seconds),
            _ms(own_more.seconds),
            f'{own_more.seconds / nova_more.seconds:.2f}'])
    yield Table(
        'requests',
        f'Requests to a cell of {few:,} and of {number:,} servers '
        f'({database.bytes_on_disk() / 2**30:.1f} GiB of disk): rows read, '
        f'and medians of {rounds} with {number:,}',
        ['', f'Nova, {few:,}', f'Nova, {number:,}', f'extension, {few:,}',
         f'extension, {number:,}', 'Nova, ms', 'extension, ms', 'ratio'],
        rows)
    yield _plans(asker, servers)
    yield _pages(asker, servers)
    yield _listings(
        number, fewer_runs,
        [listing.run(database, servers, words) for words in listing.COMMANDS])


def _analyze(database: database_module.Database) -> None:
    """Let the optimizer learn about the tables."""
    for schema in (database_module.CELL1, database_module.API):
        database.sizes(schema)


def _plans(
    asker: requests.Asker, servers: servers_module.Servers,
) -> Table:
    return Table(
        'plans', 'How MariaDB finds the first page of who overrides',
        ['', 'table', 'access', 'index', 'rows, as it estimates'],
        [[f'{name}, {whose}', step['table'], step['type'], str(step['key']),
          str(step['rows'])]
         for project, whose in (
             (servers_module.PROJECT, 'a project'), (None, 'all projects'))
         for name in (requests.COMMON, requests.NOBODYS)
         for step in asker.plan(servers, name, project)])


def _pages(
    asker: requests.Asker, servers: servers_module.Servers,
) -> Table:
    return Table(
        'pages', 'Every page of the filter has the servers that were generated',
        ['', 'servers', 'pages'],
        [[f'{name}, {whose}', f'{len(servers.expected([name], project)):,}',
          f'{asker.check_every_page(servers, name, project):,}']
         for project, whose in (
             (servers_module.PROJECT, 'a project'), (None, 'all projects'))
         for name in (requests.COMMON, requests.RARE, requests.NOBODYS)])


def _listings(
    number: int, fewer: list[listing.Run], more: list[listing.Run],
) -> Table:
    few = number // 10
    return Table(
        'listings',
        f'nova-image-override servers, {few:,} and {number:,} servers',
        ['', 'overrides listed', f'rows read, {few:,}',
         f'rows read, {number:,}', f's, {few:,}', f's, {number:,}',
         f'MiB, {few:,}', f'MiB, {number:,}'],
        [[' '.join(words).replace(servers_module.PROJECT, 'ID') or '(all)',
          f'{after.listed:,}', f'{before.rows:,}', f'{after.rows:,}',
          f'{before.seconds:.1f}', f'{after.seconds:.1f}',
          f'{before.memory / 2**20:.0f}', f'{after.memory / 2**20:.0f}']
         for words, before, after in zip(
             listing.COMMANDS, fewer, more, strict=True)])


def _kib(size: float) -> str:
    return f'{size / 1024:.1f}'


def _ms(seconds: float) -> str:
    return f'{seconds * 1e3:.0f}'
