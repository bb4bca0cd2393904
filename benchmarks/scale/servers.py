"""Rows of servers in bulk, as Nova writes those of one.

A server of each kind is booted by Nova itself. Its rows are then copied for as
many servers as there are to be, and what is specific to one server is replaced.
What is to be generated is decided beforehand, in a table that answers are
compared with.
"""

import collections.abc
import dataclasses
import typing

from benchmarks.scale import database as database_module
from testing.cost import overrides

#: The project that is tested, which has one in 20 of the first servers, and how
#: many others share the rest.
PROJECT = 'a' * 32
OTHERS = 200

#: Number of overrides -> the overrides.
KINDS: dict[int, dict[str, str]] = {
    0: {}, 3: {name: overrides.TEN[name] for name in (
        'hw_disk_bus', 'hw_scsi_model', 'hw_boot_menu')}, 10: overrides.TEN}

#: Number of overrides -> how many of 100 servers have that many.
SHARES = {0: 90, 3: 8, 10: 2}

#: Servers per statement.
_BATCH = 10_000

#: 32 digits for each server, in no order, and a UUID made of them.
_DIGITS = "MD5(CONCAT('server ', seq))"
_UUID = (f"CONCAT(LEFT({_DIGITS}, 8), '-', MID({_DIGITS}, 9, 4), "
         f"'-4', MID({_DIGITS}, 14, 3), '-8', MID({_DIGITS}, 18, 3), '-', "
         f'RIGHT({_DIGITS}, 12))')

#: The order of Nova's lists (nova/compute/instance_list.py
#: get_instances_sorted, which adds the UUID), and that of ids.
NEWEST_FIRST = 'created DESC, uuid, n DESC'
AS_MADE = 'n'

#: Column -> what each server has of its own in it.
_OWN = {
    'uuid': 'UUID()', 'project_id': 's.project', 'action_id': 'a.id',
    'display_name': "CONCAT('server-', s.n)",
    'hostname': "CONCAT('server-', s.n)",
    # Of a virtual interface: MAC address and port.
    'address': "CONCAT(SUBSTRING_INDEX(x.address, '/', 1), '/', s.uuid)",
    **dict.fromkeys(('created_at', 'updated_at', 'launched_at', 'start_time',
                     'finish_time'), 's.created')}


class Server(typing.NamedTuple):
    """A server that was generated.

    :ivar kind: number of its overrides
    """

    uuid: str
    project: str
    kind: int

    @property
    def overrides(self) -> dict[str, str]:
        """What it overrides."""
        return KINDS[self.kind]


@dataclasses.dataclass(frozen=True)
class Source:
    """Rows of the servers that were booted, kept in a table of our own.

    :ivar schema: the Nova database that they are from
    :ivar table: the table
    :ivar columns: type by name, of those that the database does not fill
    """

    schema: str
    table: str
    columns: dict[str, str]

    @property
    def kept(self) -> str:
        """The table of our own."""
        return f'{database_module.OWN}.{self.schema}_{self.table}'

    @property
    def _of_actions(self) -> bool:
        return self.table == 'instance_actions_events'

    @property
    def _key(self) -> str | None:
        """The column that says which server a row belongs to."""
        if self.table in ('instances', 'instance_id_mappings'):
            return 'uuid'
        return 'instance_uuid' if 'instance_uuid' in self.columns else None

    @property
    def booted(self) -> str | None:
        """The rows (x) of the servers that were booted (b), if any."""
        rows = f'{self.schema}.{self.table} x'
        if self._of_actions:
            return (f'{rows} JOIN {self.schema}.instance_actions a '
                    'ON a.id = x.action_id '
                    'JOIN booted b ON b.uuid = a.instance_uuid')
        return self._key and f'{rows} JOIN booted b ON b.uuid = x.{self._key}'

    def copy(self, schema: str) -> str:
        """Return the statement that inserts the rows of generated servers.

        :param schema: into which database
        """
        names = ', '.join(f'`{name}`' for name in self.columns)
        values = ', '.join(map(self._value, self.columns))
        return ' '.join([
            f'INSERT INTO {schema}.{self.table} ({names})',
            f'SELECT {values} FROM servers s JOIN booted b ON b.kind = s.kind',
            f'JOIN {self.kept} x ON x.kind = s.kind',
            *([f'JOIN {schema}.instance_actions a ON a.instance_uuid = s.uuid']
              if self._of_actions else []),
            'WHERE s.n BETWEEN :first AND :last ORDER BY s.n, x.id'])

    def _value(self, name: str) -> str:
        """Return what a generated server has in a column."""
        if name == self._key:
            return 's.uuid'
        if name in _OWN:
            return _OWN[name]
        if self.columns[name] in ('text', 'mediumtext', 'longtext'):
            # JSON that names its server.
            return f'REPLACE(x.`{name}`, b.uuid, s.uuid)'
        return f'x.`{name}`'


class Servers:
    """What is generated.

    :param database: where
    :param booted: number of overrides -> id of a server that Nova has booted
        with them; it may be deleted afterwards
    """

    def __init__(
        self, database: database_module.Database, booted: dict[int, str],
    ) -> None:
        self._database = database
        database.execute(
            'CREATE TABLE booted (kind INT PRIMARY KEY, uuid CHAR(36))')
        database.execute(
            'CREATE TABLE servers (n INT PRIMARY KEY, uuid CHAR(36), '
            'project CHAR(32), kind INT, created DATETIME, '
            'KEY (project), KEY (kind))')
        for kind, uuid in booted.items():
            database.execute('INSERT INTO booted VALUES (:kind, :uuid)',
                             kind=kind, uuid=uuid)
        self._sources = [*self._keep()]

    def _keep(self) -> collections.abc.Iterator[Source]:
        """Copy the rows of the servers that were booted."""
        for schema in (database_module.CELL1, database_module.API):
            # Other tables refer to instances, and events to actions.
            for table in sorted(
                    self._database.tables(schema),
                    key=lambda name: (name != 'instances', name)):
                source = Source(
                    schema, table, self._database.columns(schema, table))
                if source.booted and self._database.column(
                        f'SELECT 1 FROM {source.booted} LIMIT 1'):
                    self._database.execute(
                        f'CREATE TABLE {source.kept} AS '
                        f'SELECT x.*, b.kind FROM {source.booted}')
                    yield source

    def decide(
        self, first: int, last: int, *, one_in: int | None = None,
        kind: int | None = None,
    ) -> None:
        """Decide on servers, by their numbers.

        :param one_in: one in so many belongs to :data:`PROJECT`
        :param kind: how many overrides each has; by default as in SHARES
        """
        mine = f'seq % {one_in} = 0' if one_in else 'FALSE'
        self._database.execute(
            f'INSERT INTO servers SELECT seq, {_UUID}, '
            f"IF({mine}, '{PROJECT}', "
            f"MD5(CONCAT('project ', CRC32(seq) DIV 100 % {OTHERS}))), "
            f"{_kind('CRC32(seq) % 100') if kind is None else kind}, "
            # Four in the same second.
            "'2024-01-01' + INTERVAL seq DIV 4 SECOND "
            f'FROM seq_{first}_to_{last}')

    def make_tables(
            self, schemas: collections.abc.Mapping[str, str]) -> None:
        """Make databases with empty tables for the rows of servers.

        :param schemas: Nova's database -> the one that is like it
        """
        for schema in schemas.values():
            self._database.execute(
                f'CREATE DATABASE {schema} CHARACTER SET utf8mb3')
        for source in self._sources:
            self._database.execute(
                f'CREATE TABLE {schemas[source.schema]}.{source.table} '
                f'LIKE {source.schema}.{source.table}')

    def generate(
        self, first: int, last: int,
        schemas: collections.abc.Mapping[str, str] | None = None,
    ) -> None:
        """Insert all rows of the servers of these numbers.

        :param schemas: where to insert them instead of Nova's databases
        """
        for start in range(first, last + 1, _BATCH):
            for source in self._sources:
                self._database.execute(
                    source.copy((schemas or {}).get(
                        source.schema, source.schema)),
                    first=start, last=min(start + _BATCH - 1, last))

    def forget(self) -> None:
        """Forget what was decided; the rows stay."""
        self._database.execute('DELETE FROM servers')

    @property
    def rows(self) -> dict[int, dict[str, int]]:
        """Number of overrides -> table -> rows that one server has."""
        return {kind: {source.table: self._database.column(
            f'SELECT COUNT(*) FROM {source.kept} WHERE kind = :kind',
            kind=kind)[0] for source in self._sources} for kind in KINDS}

    def expected(
        self, names: collections.abc.Collection[str] = (),
        project: str | None = None, order: str = NEWEST_FIRST,
    ) -> list[Server]:
        """Return the servers that a list has.

        :param names: what they all override
        :param project: who owns them; None for everybody's
        """
        kinds = [str(kind) for kind, has in KINDS.items()
                 if set(names) <= has.keys()]
        return [Server(*row) for row in self._database.execute(
            'SELECT uuid, project, kind FROM servers '
            f'WHERE kind IN ({", ".join(kinds)}) '
            'AND (:project IS NULL OR project = :project) '
            f'ORDER BY {order}', project=project)] if kinds else []


def _kind(hundredth: str) -> str:
    """Return an expression that yields each kind for its share.

    :param hundredth: an expression with values from 0 to 99
    """
    words, below = [], 0
    for kind, share in SHARES.items():
        below += share
        words.append(f'WHEN {hundredth} < {below} THEN {kind}')
    return f'CASE {" ".join(words)} END'
