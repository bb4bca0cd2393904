"""Placement."""

from testing.deployment import mariadb
from testing.deployment import settings
from testing.deployment import web


class Placement(web.Application):
    """The service that counts what hosts have left."""

    NAME = 'placement'
    MODULE = 'placement.wsgi.api'

    def configure(self) -> None:
        """Write placement.conf."""
        settings.write(
            self.folder / 'placement.conf',
            settings.common(self.state, 'placement'),
            {'placement_database': {
                'connection': settings.database(self.state, 'placement')}})

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make its tables."""
        database.fill(['placement'], [
            [self.installation.bin / 'placement-manage', '--config-file',
             self.folder / 'placement.conf', 'db', 'sync']], self.NAME)
