"""Placement."""

from testing.deployment import settings
from testing.deployment import web


class Placement(web.Application):
    """The service that counts what hosts have left."""

    NAME = 'placement'
    MODULE = 'placement.wsgi.api'
    SYNC = ('placement-manage', 'db', 'sync')

    def configure(self) -> None:
        """Write placement.conf."""
        settings.write(
            self.config,
            settings.common(self.state, 'placement'),
            {'placement_database': {
                'connection': settings.database(self.state, 'placement')}})
