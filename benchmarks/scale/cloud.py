"""The functional tests' harness, with Nova's databases on MariaDB."""

import importlib
import typing

import fixtures
from nova import context as nova_context
from nova import objects
from oslo_utils.fixture import uuidsentinel

from benchmarks.scale import database as database_module
from testing.cost import cloud

# Not by "from nova.tests.fixtures import nova", which is Nova itself.
nova_fixtures = importlib.import_module('nova.tests.fixtures.nova')


class Cloud(cloud.Cloud):
    """A nova-api with both applications, on MariaDB.

    :cvar DATABASE: the databases; with their tables, and no rows
    """

    DATABASE: typing.ClassVar[database_module.Database]
    EXTENDED_HOSTS = ('compute1',)

    def setUp(self) -> None:
        """Start the services."""
        # Nova's fixtures make a database in a file of SQLite wherever one is
        # asked for, and copy the schema of the first one into the others.
        for owner, name, replacement in (
                (nova_fixtures, '_use_file_backed_sqlite_with_wal',
                 self._address),
                (nova_fixtures.CellDatabases, '_cache_schema', _nothing),
                (nova_fixtures.Database, '_apply_schema', _nothing),
                # It is there for SQLite's only writer.
                (nova_fixtures, 'DatabaseWriteLock', fixtures.Fixture)):
            self.useFixture(fixtures.MockPatchObject(
                owner, name, replacement))
        # A service that reports that it is alive writes, too.
        self.flags(report_interval=3600, service_down_time=7200)
        super().setUp()

    def _address(self, name: str) -> tuple[str, None]:
        """Return the address of a database, for _use_file_backed_sqlite...

        :param name: what Nova's fixture calls it, or for a cell its address
        """
        if name == 'api':
            name = self.DATABASE.url(database_module.API)
        return name, None

    def _setup_cells(self) -> None:
        """Make the cells as nova.test.TestCase does, but with real addresses.

        They are the addresses that commands find in the API database.
        """
        databases = nova_fixtures.CellDatabases()
        for name, uuid, where in (
                ('cell0', objects.CellMapping.CELL0_UUID,
                 database_module.CELL0),
                ('cell1', uuidsentinel.cell1, database_module.CELL1)):
            url = self.DATABASE.url(where)
            mapping = objects.CellMapping(
                context=nova_context.get_context(), uuid=uuid, name=name,
                transport_url='fake://nowhere/', database_connection=url)
            mapping.create()
            self.cell_mappings[name] = mapping
            databases.add_cell_database(url, default=name == 'cell1')
        self.useFixture(databases)


def _nothing(*args: object) -> None:
    """Do nothing: db sync has made the tables."""
