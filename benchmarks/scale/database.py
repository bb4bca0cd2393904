"""Nova's databases on a MariaDB of our own, and what it counts."""

import collections.abc
import functools
import pathlib
import sys
import typing

import sqlalchemy as sa

from testing.deployment import installation
from testing.deployment import mariadb
from testing.deployment import settings
from testing.deployment import state as state_module

API, CELL0, CELL1 = 'nova_api', 'nova_cell0', 'nova_cell1'

#: Our own database: what is to be generated, and from what.
OWN = 'scale'

Result = typing.TypeVar('Result')

#: Room for all rows, as the database server of a cell has: it is not the disk
#: that is measured.
_OPTIONS = ('--innodb-buffer-pool-size=4G', '--innodb-log-file-size=1G')


class Database:
    """MariaDB with the tables that ``nova-manage db sync`` makes.

    :param state: the folder for everything, and the password
    :ivar server: the database server
    :ivar nova_conf: a nova.conf that names the databases, for commands
    """

    def __init__(self, state: state_module.State) -> None:
        self._state = state
        self.server = mariadb.MariaDB(state, _OPTIONS)
        self.nova_conf = self._write_conf(CELL1)

    def url(self, name: str) -> str:
        """Return the address of a database, for SQLAlchemy."""
        return settings.database(self._state, name)

    def _write_conf(self, cell: str) -> pathlib.Path:
        path = self._state.file('nova', f'{cell}.conf')
        settings.write(path, {
            'DEFAULT': {'transport_url': 'fake:',
                        'state_path': str(self._state.folder)},
            'api_database': {'connection': self.url(API)},
            'database': {'connection': self.url(cell)}})
        return path

    def up(self) -> None:
        """Start the server, and make the tables."""
        self.server.up()

        def manage(cell: str, *words: str) -> list[str | pathlib.Path]:
            return [sys.executable, '-W', 'ignore',
                    installation.OWN.bin / 'nova-manage', '--config-file',
                    self._write_conf(cell), *words]

        self.server.fill([API, CELL0, CELL1, OWN], [
            manage(CELL1, 'api_db', 'sync'),
            manage(CELL0, 'db', 'sync', '--local_cell'),
            manage(CELL1, 'db', 'sync', '--local_cell')], 'nova')

    @functools.cached_property
    def _connection(self) -> sa.Connection:
        # One for everything: the server counts what a new one does, too.
        return sa.create_engine(
            self.url(OWN), isolation_level='AUTOCOMMIT').connect()

    def execute(
        self, statement: str, **parameters: typing.Any,
    ) -> sa.CursorResult[typing.Any]:
        """Execute one statement of SQL; ``:name`` stands for a parameter."""
        return self._connection.execute(sa.text(statement), parameters)

    def column(
        self, statement: str, **parameters: typing.Any,
    ) -> list[typing.Any]:
        """Return the first column of what is selected."""
        return [*self.execute(statement, **parameters).scalars()]

    def explain(
        self, statement: str, parameters: typing.Any,
    ) -> list[dict[str, typing.Any]]:
        """Return how the server would execute a statement of Nova's.

        :param statement: with the driver's own placeholders for PARAMETERS
        """
        with sa.create_engine(self.url(CELL1)).connect() as connection:
            return [dict(row) for row in connection.exec_driver_sql(
                f'EXPLAIN {statement}', parameters).mappings()]

    def reading(
        self, call: collections.abc.Callable[[], Result],
    ) -> tuple[Result, int]:
        """Return what CALL returns, and how many rows were read for it.

        They are rows of any table or index, read by anybody: each
        ``Handler_read_*`` counts requests for rows to storage engines.
        """
        before = self._counted('Handler_read_%')
        result = call()
        return result, (
            self._counted('Handler_read_%') - before - self._of_counting)

    @functools.cached_property
    def _of_counting(self) -> int:
        """Rows that are read to ask for the counters."""
        before = self._counted('Handler_read_%')
        return self._counted('Handler_read_%') - before

    def rows_written(self) -> int:
        """Return how many rows were inserted, updated and deleted."""
        return sum(self._counted(f'Handler_{each}')
                   for each in ('write', 'update', 'delete'))

    def bytes_logged(self) -> int:
        """Return how much has gone into InnoDB's redo log."""
        return self._counted('Innodb_lsn_current')

    def _counted(self, pattern: str) -> int:
        return sum(int(row.Value) for row in self.execute(
            'SHOW GLOBAL STATUS LIKE :pattern', pattern=pattern))

    def sizes(self, schema: str) -> dict[str, int]:
        """Return the bytes of data and indexes of each table of a database."""
        for table in self.tables(schema):
            self.execute(f'ANALYZE TABLE {schema}.{table}').all()
        return {row.table_name: row.size for row in self.execute(
            'SELECT table_name, data_length + index_length AS size '
            'FROM information_schema.tables WHERE table_schema = :schema',
            schema=schema)}

    def bytes_on_disk(self) -> int:
        """Return how much disk the files of Nova's tables take."""
        folders = [self._state.subfolder('mariadb', 'data', name)
                   for name in (API, CELL0, CELL1)]
        return sum(path.stat().st_blocks * 512
                   for folder in folders for path in folder.iterdir())

    @property
    def version(self) -> str:
        """What the server calls itself."""
        return str(self.column('SELECT VERSION()')[0])

    def tables(self, schema: str) -> list[str]:
        """Return the names of the tables of a database."""
        return self.column(
            'SELECT table_name FROM information_schema.tables '
            'WHERE table_schema = :schema ORDER BY table_name', schema=schema)

    def columns(self, schema: str, table: str) -> dict[str, str]:
        """Return types by name of the columns that the server does not fill."""
        return {row.column_name: row.data_type for row in self.execute(
            'SELECT column_name, data_type FROM information_schema.columns '
            'WHERE table_schema = :schema AND table_name = :table '
            "AND extra = '' ORDER BY ordinal_position",
            schema=schema, table=table)}
