"""Servers in great number: the rows of a few, multiplied inside MariaDB."""
from __future__ import annotations

import collections.abc
import functools
import typing

import pymysql

from testing.deployment import mariadb
from testing.deployment import state as state_module

_UUID = ('INSERT(INSERT(INSERT(INSERT(MD5(seq), 9, 0, "-"), 14, 0, "-"), '
         '19, 0, "-"), 24, 0, "-")')

#: Those of the projects that are asked about come first. 3 % have overrides, a
#: fifth of these a preset.
_SERVERS = '''INSERT INTO few.servers SELECT
    seq, {uuid}, 1 + seq MOD {cells},
    CASE {projects} ELSE CONCAT('project-', CRC32(seq) MOD {others}) END,
    IF(CRC32(seq) MOD 1000 < 30 AND NOT seq BETWEEN {without},
       ELT(1 + CRC32(seq) MOD 3 * 2 + (CRC32(seq) MOD 1000 DIV 3 MOD 5 = 0),
           {overridden}), {plain}),
    TIMESTAMPADD(SECOND, 30 * seq, '2020-01-01')
FROM seq_1_to_{count}'''

_HOST = 'CONCAT("compute", {} MOD {}, "-", {})'

#: What a server's rows have of its own, by column.
_OWN = {
    'uuid': 's.uuid', 'instance_uuid': 's.uuid', 'project_id': 's.project',
    'created_at': 's.created', 'launched_at': 's.created',
    'display_name': 'CONCAT("server-", s.n)', 'cell_id': '1 + s.cell',
    'vm_state': 'IF(s.n MOD 10, "active", "stopped")',
    'power_state': 'IF(s.n MOD 10, 1, 4)'}


class Servers:
    """The databases of Nova, where nova-manage has made those of one cell.

    :param few: what benchmarks.scale_servers has written
    :ivar kinds: (overrides, with a preset) -> the server that was booted
    :ivar projects: how many servers those that are asked about have
    """

    def __init__(self, state: state_module.State, few: dict[str, typing.Any],
                 cells: int, large: int) -> None:
        self._connection = pymysql.connect(
            unix_socket=str(state.file(mariadb.NAME, 'socket')), user='root',
            autocommit=True)
        self._few = few
        self._cells = cells
        self.kinds = {(number, with_preset): server for
                      server, number, with_preset in few['servers']}
        self.projects = {'large': large, 'medium': large // 20,
                         'without': large // 20, 'small': 10}
        self.query('SET unique_checks = 0, foreign_key_checks = 0')
        self.query('CREATE DATABASE few')
        self.query('USE few')
        self.query(
            'CREATE TABLE few.servers (n INT PRIMARY KEY, uuid CHAR(36), '
            'cell INT, project VARCHAR(32), template CHAR(36), '
            'created DATETIME, KEY (cell))')
        for kind, database in ('cell', 'nova_cell1'), ('api', 'nova_api'):
            for table, rows in few[kind].items():
                self.query(f'CREATE TABLE few.{table} LIKE {database}.{table}')
                where = database if table == 'flavors' else 'few'
                for row in rows:
                    self.query(f'INSERT INTO {where}.{table} (`'
                               + '`, `'.join(row) + '`) VALUES ('
                               + ', '.join(['%s'] * len(row)) + ')',
                               *row.values())
        # Without the tables for what is archived, which one cell is enough for.
        schema = [self.query(f'SHOW CREATE TABLE nova_cell1.{table}')[0][1]
                  for table, in self.query('SHOW TABLES FROM nova_cell1')
                  if not table.startswith('shadow_')]
        for cell in range(2, cells + 1):
            self.query(f'CREATE DATABASE nova_cell{cell}')
            self.query(f'USE nova_cell{cell}')
            for table in schema:
                self.query(table)
        self.query(
            'INSERT INTO nova_api.cell_mappings (id, uuid, name, '
            'transport_url, database_connection, disabled) '
            f'SELECT 1 + seq, {_UUID}, CONCAT("cell", seq), transport_url, '
            'REPLACE(database_connection, "nova_cell1", CONCAT("nova_cell", '
            f'seq)), 0 FROM nova_api.cell_mappings, seq_2_to_{cells} '
            'WHERE name = "cell1"')

    def query(self, statement: str, *values: object) -> list[typing.Any]:
        """Return what a statement selects."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())

    def load(self, count: int, projects: int) -> None:
        """Put COUNT servers of PROJECTS projects in place of those before."""
        last, ranges = 0, {}
        for name, number in self.projects.items():
            ranges[name] = f'{last + 1} AND {last + number}'
            last += number
        self.query('TRUNCATE few.servers')
        self.query(_SERVERS.format(
            uuid=_UUID, cells=self._cells, count=count,
            projects=' '.join(f'WHEN seq BETWEEN {where} THEN "{name}"'
                              for name, where in ranges.items()),
            others=projects - len(ranges), without=ranges['without'],
            overridden=', '.join(f'"{server}"' for (number, _), server
                                 in self.kinds.items() if number),
            plain=f'"{self.kinds[0, False]}"'))
        hosts = max(count // self._cells // 100, 1)
        for cell in range(1, self._cells + 1):
            name = _HOST.format('seq', hosts, cell)
            for table in ('compute_nodes', 'services'):
                self._insert(table, f'nova_cell{cell}', {
                    'uuid': 'UUID()', 'host': name,
                    'hypervisor_hostname': name},
                    f'few.{table} t, seq_1_to_{hosts}')
            self._multiply('cell', f'nova_cell{cell}', hosts,
                           f's.template WHERE s.cell = {cell}')
        self._multiply('api', 'nova_api', hosts, 's.template')

    def _multiply(self, kind: str, where: str, hosts: int, of: str) -> None:
        """Put the rows of servers into a database."""
        name = _HOST.format(f's.n DIV {self._cells}', hosts, 's.cell')
        for table in self._few[kind]:
            key = 'uuid' if table == 'instances' else 'instance_uuid'
            if key in self._columns(table):
                self._insert(table, where, {**_OWN, 'host': name, 'node': name,
                    'spec': 'REPLACE(REPLACE(t.spec, s.template, s.uuid), '
                            f'"{self._few["project"]}", s.project)'},
                    f'few.servers s STRAIGHT_JOIN few.{table} t ON t.{key} = '
                    + of)

    @functools.cache  # noqa: B019
    def _columns(self, table: str) -> list[str]:
        return [row[0] for row in self.query(f'DESCRIBE few.{table}')
                if row[0] != 'id']

    def _insert(self, table: str, where: str, own: dict[str, str],
                rows: str) -> None:
        self.query(f'TRUNCATE {where}.{table}')
        names = self._columns(table)
        self.query(f'INSERT INTO {where}.{table} (`{"`, `".join(names)}`) '
                   'SELECT ' + ', '.join(own.get(name, f't.`{name}`')
                                         for name in names) + f' FROM {rows}')
        self.query(f'ANALYZE TABLE {where}.{table}')

    def sizes(self, count: int) -> collections.abc.Iterator[list[object]]:
        """Yield overrides of a server, its rows of metadata, bytes of all."""
        self.query('CREATE DATABASE sizes')
        for kind in ('cell', 'api'):
            for table in self._few[kind]:
                self.query(f'CREATE TABLE sizes.{table} LIKE few.{table}')
        for (number, with_preset), server in self.kinds.items():
            if with_preset:
                continue
            for kind in ('cell', 'api'):
                self._multiply(kind, 'sizes', 1,
                               f'"{server}" WHERE s.n <= {count}')
            ((rows,),) = self.query(
                'SELECT COUNT(*) FROM sizes.instance_system_metadata')
            ((size,),) = self.query(
                'SELECT SUM(data_length + index_length) FROM '
                'information_schema.tables WHERE table_schema = "sizes"')
            yield [number, rows // count, round(size / count)]
