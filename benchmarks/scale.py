"""``make bench-scale``: nova-api beside an unmodified one, with many servers.

Standard input has the rows of a few of them (benchmarks.scale_servers).
"""
from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import json
import os
import re
import subprocess
import sys
import time
import typing

import pymysql

from benchmarks import scale_api
from benchmarks import scale_rows
from benchmarks import table
from testing import figures
from testing.cost import measure
from testing.cost import overrides
from testing.deployment import mariadb

#: Nothing that is stored has to outlast the run.
_OPTIONS = (
    '--innodb-buffer-pool-size=6G', '--innodb-flush-method=nosync',
    '--innodb-doublewrite=0', '--innodb-flush-log-at-trx-commit=0',
    '--max-connections=2000', '--table-open-cache=20000',
    '--open-files-limit=100000')

_STATEMENTS = ('Com_select', 'Com_insert', 'Com_update', 'Com_delete')

_VALUE = re.compile(r"'(?:[^'\\]|\\.)*'|\b\d+\b")
_LIST = re.compile(r'\?(?:, \?)+')

#: A request: project, whether it names the extension, and what is sent.
Request = tuple[typing.Any, ...]


class Bench:
    """What is measured.

    :ivar tables: title -> head and rows
    """

    def __init__(self, database: mariadb.MariaDB, servers: scale_rows.Servers,
                 plain: scale_api.API, ours: scale_api.API,
                 rounds: int) -> None:
        self.tables: dict[str, list[list[object]]] = {}
        #: Statement, table, type and index -> who asks, and rows.
        self._explained: dict[tuple[str, ...], tuple[str, object]] = {}
        self._database = database
        self._servers = servers
        self._query = servers.query
        self._plain = plain
        self._ours = ours
        self._rounds = rounds
        self._query('SET GLOBAL log_output = "TABLE"')

    def add(self, title: str, head: list[str], rows: typing.Any) -> None:
        """Show a table, and keep it."""
        self.tables[title] = [head, *map(list, rows)]
        table.plain(sys.stdout, title, head, [
            [*map(str, row)] for row in self.tables[title][1:]])

    def _spent(self) -> float:
        """Return the processor time of nova-api and MariaDB."""
        return scale_api.spent(self._database, self._plain, self._ours)

    def _counted(self, call: typing.Callable[[], object]) -> list[int]:
        """Return the statements and the rows read; new connections add some."""
        def status() -> list[int]:
            found = dict(self._query('SHOW GLOBAL STATUS'))
            return [sum(int(found[name]) for name in _STATEMENTS),
                    int(found['Rows_read'])]

        def count() -> list[int]:
            before = status()
            call()
            return [now - then for now, then in
                    zip(status(), before, strict=True)]
        return min(count() for _ in range(2))

    def compare(self, title: str, cases: dict[str, tuple[Request, Request]],
                ) -> None:
        """Compare requests of unmodified Nova with those beside them."""
        rows = []
        for what, (before, after) in cases.items():
            plain = functools.partial(self._plain.send, *before)
            ours = functools.partial(self._ours.send, *after)
            times = measure.medians(
                {name: lambda call=call: call for name, call in {
                    'plain': plain, 'again': plain, 'ours': ours}.items()},
                self._rounds, clock=self._spent)
            (statements, read), (own, own_read) = map(
                self._counted, (plain, ours))
            rows.append([
                what, len((ours() or {}).get('servers', ())) or '',
                round(times['plain'] * 1e3),
                *(f'{times[name] / times["plain"]:.2f}'
                  for name in ('ours', 'again')),
                statements, own, read, own_read])
            self.explain(what, plain, ours)
        self.add(title, [
            'request', 'servers', 'Nova, ms', 'ratio', 'Nova to itself',
            'statements', 'ours', 'rows read', 'ours'], rows)

    @staticmethod
    def _page(project: str, named: bool, query: str) -> Request:
        return project, named, 'GET', f'/servers/detail?{query}'

    def lists(self) -> None:
        """Compare lists: pages of 1,000 at most, or of 100."""
        sizes = self._servers.projects
        ((marker,),) = self._query('SELECT uuid FROM few.servers WHERE n = 101')
        pages = {
            f'project of {sizes[name]}': (name, '')
            for name in ('small', 'medium', 'large')}
        last = f'limit=100&marker={marker}'
        pages[f'project of {sizes["large"]}, last 100'] = 'large', last
        pages['all, first 100'] = 'admin', 'all_tenants=1&limit=100'
        pages['all, last 100'] = 'admin', f'all_tenants=1&{last}'
        self.compare('Lists', {
            what + ', named' * named: (self._page(project, False, query),
                                       self._page(project, named, query))
            for what, (project, query) in pages.items()
            for named in (False, True)})

    def filters(self, title: str) -> None:
        """Compare a filter's first page with that of the list it filters."""
        projects = {
            f'project of {self._servers.projects["large"]}': ('large', ''),
            'project without overrides': ('without', ''),
            'project without servers': ('empty', ''),
            'all': ('admin', 'all_tenants=1&')}
        by = {'name': 'image_props_override=hw_boot_menu&',
              'preset': 'image_props_override_preset=bench&',
              'name without hits': 'image_props_override=hw_time_hpet&'}
        self.compare(title, {
            f'{whose}, {what}': (
                self._page(project, False, query + 'limit=100'),
                self._page(project, True, query + own + 'limit=100'))
            for whose, (project, query) in projects.items()
            for what, own in by.items()})

    def requests(self, image: str) -> None:
        """Compare what is asked about one server."""
        (most, its), (none, project) = (self._query(
            'SELECT uuid, project FROM few.servers WHERE cell = 1 AND '
            f'template = "{self._servers.kinds[number, False]}" LIMIT 1')[0]
            for number in (60, 0))
        # For a server on a host, updates ask the scheduler, which is not there.
        self._query('UPDATE nova_cell1.instances SET host = NULL, node = NULL, '
                    f'vm_state = "shelved_offloaded" WHERE uuid = "{none}"')
        sets = itertools.cycle(({}, overrides.ONE))
        body = {'name': 'scale', 'imageRef': image, 'flavorRef': 'scale',
                'networks': 'none'}
        show = 'GET', f'/servers/{most}'
        asked = {'image_props_override': overrides.TEN}
        create = (project, False, 'POST', '/servers', {'server': body})
        put = 'PUT', f'/servers/{none}'
        self.compare('One server', {
            'show': ((its, False, *show), (its, False, *show)),
            'show, 60 overrides': ((its, False, *show), (its, True, *show)),
            'create': (create, create),
            'create, 10 overrides': (create, (
                project, True, 'POST', '/servers',
                {'server': {**body, **asked}})),
            'check, 10 overrides': (create, (
                project, True, 'POST', '/image-props-override/check',
                {'server': {**body, **asked}})),
            'update': (
                (project, False, *put, {'server': {'name': 'scale'}}),
                (project, True, *put, lambda: {
                    'server': {'image_props_override': next(sets)}}))})

    def _executed(self, call: typing.Callable[[], object]) -> dict[str, str]:
        """Return the statements that CALL makes others execute, by form."""
        self._query('TRUNCATE mysql.general_log')
        self._query('SET GLOBAL general_log = 1')
        call()
        self._query('SET GLOBAL general_log = 0')
        return {_LIST.sub('?', _VALUE.sub('?', text)): text
                for text, in self._query(
            'SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log '
            'WHERE user_host LIKE "cloud%" AND argument RLIKE '
            '"^(SELECT|UPDATE|DELETE)"')}

    def explain(self, what: str, plain: typing.Callable[[], object],
                ours: typing.Callable[[], object]) -> None:
        """Keep how MariaDB executes what unmodified Nova does not ask."""
        asked = self._executed(ours)
        for form in asked.keys() - self._executed(plain).keys():
            for database in 'nova_cell1', 'nova_api':
                self._query(f'USE {database}')
                # The table is in the other one.
                with contextlib.suppress(pymysql.ProgrammingError):
                    for row in self._query(f'EXPLAIN {asked[form]}'):
                        _, _, name, how, _, index, *_, rows, _ = row
                        if name and not name.startswith('<'):
                            self._explained.setdefault(
                                (form.split()[0], name, how, index),
                                (what, rows))

    def explained(self) -> None:
        """Show all of these, each way to a table once."""
        self.add('Statements', [
            'first asked by', 'statement', 'table', 'type', 'index', 'rows'],
            ([what, *way, rows]
             for way, (what, rows) in self._explained.items()))

    def commands(self) -> None:
        """Run operators' commands over all cells, then without one of them."""
        ((marker,),) = self._query(
            'SELECT uuid FROM nova_cell1.instances ORDER BY id DESC LIMIT 1')
        rows = [[words.replace(marker, 'UUID'), *self._run(words)]
                for words in ('servers -f json', 'servers -f csv --outdated',
                              'servers -f csv --no-longer-allowed',
                              'servers -f csv --cell cell2',
                              f'servers -f csv --marker {marker}',
                              'computes -f csv')]
        for words in 'servers -f csv --cell cell2', 'computes -f csv':
            self.explain(words.split()[0], lambda: None,
                         functools.partial(self._run, words))
        self._query('UPDATE nova_api.cell_mappings SET database_connection = '
                    'REPLACE(database_connection, "nova_cell2", "nova_none") '
                    'WHERE name = "cell2"')
        rows.append(['servers -f csv, without cell2',
                     *self._run('servers -f csv')])
        self.add('Commands', [
            'nova-image-override', 'lines', 'first, s', 'last, s',
            'memory, MiB', 'status', 'lines of errors'], rows)

    def _run(self, words: str) -> list[object]:
        where = self._ours.installation
        began = time.monotonic()
        with subprocess.Popen(
                [where.python, '-W', 'ignore',
                 where.bin / 'nova-image-override', '--config-file',
                 self._ours.folder / 'nova.conf', *words.split()],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            assert child.stdout and child.stderr
            lines = len(child.stdout.read(100).splitlines())
            first = time.monotonic() - began
            lines += child.stdout.read().count(b'\n')
            faults = len(child.stderr.read().splitlines())
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        return [lines, f'{first:.0f}', f'{time.monotonic() - began:.0f}',
                used.ru_maxrss // 1024, child.returncode, faults]

    def archive(self) -> None:
        """Delete servers with overrides, and let Nova archive and purge them.
        """
        for server, project in self._query(
                'SELECT uuid, project FROM few.servers WHERE cell = 1 AND '
                f'template = "{self._servers.kinds[3, True]}" LIMIT 10'):
            # nova-api itself deletes one that no host has.
            self._query('UPDATE nova_cell1.instances SET host = NULL, node = '
                        f'NULL WHERE uuid = "{server}"')
            self._ours.send(project, False, 'DELETE', f'/servers/{server}')
        rows = []
        for words in ('', 'db archive_deleted_rows --max_rows 100000',
                      'db purge --all'):
            if words:
                subprocess.run([*self._ours.manage, *words.split()],
                               stdout=subprocess.DEVNULL)
            rows.append([words or 'deletion', *(self._query(
                f'SELECT COUNT(*) FROM nova_cell1.{name} WHERE deleted != 0 '
                'AND `key` LIKE "image_os_glance_override%"')[0][0]
                for name in ('instance_system_metadata',
                             'shadow_instance_system_metadata'))])
        self.add('Archiving', ['after', 'our rows', 'archived'], rows)


def main() -> None:
    """Load, measure, record."""
    parser = argparse.ArgumentParser(prog='make bench-scale ARGS=...')
    for name, default in {'servers': 1_000_000, 'projects': 2000, 'cells': 100,
                          'large': 20_000, 'rounds': 5}.items():
        parser.add_argument(f'--{name}', type=int, default=default)
    asked = parser.parse_args()
    few = json.load(sys.stdin)
    with scale_api.running('.cloud-scale', few['image'], _OPTIONS) as (
            state, database, others), contextlib.ExitStack() as ending:
        plain = scale_api.API(state, 'nova-api-plain', others)
        ours = scale_api.API(state, 'nova-api-1', others, few['presets'])
        plain.configure()
        plain.setup(database)
        servers = scale_rows.Servers(state, few, asked.cells, asked.large)
        bench = Bench(database, servers, plain, ours, asked.rounds)
        for title, count in {
                'Filters, a tenth of the servers': asked.servers // 10,
                'Filters': asked.servers}.items():
            began = time.monotonic()
            servers.load(count, asked.projects)
            print(f'{count} servers in {time.monotonic() - began:.0f} s')
            for api in (plain, ours):
                if not api.pid:
                    api.configure()
                    ending.callback(api.stop)
                    api.up()
            bench.filters(title)
        bench.lists()
        bench.requests(few['image']['id'])
        bench.commands()
        bench.explained()
        bench.archive()
        bench.add('Disk', ['overrides', 'rows of system metadata', 'bytes'],
                  servers.sizes(min(2000, asked.servers)))
        figures.record(
            'scale', {**vars(asked), 'processors': os.cpu_count()},
            ({'table': title, 'rows': rows}
             for title, rows in bench.tables.items()))


if __name__ == '__main__':
    main()
