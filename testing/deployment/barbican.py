"""Barbican, which keeps the keys of servers' TPMs."""

import base64

from testing.deployment import mariadb
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import web


class Barbican(web.Extra):
    """The key manager, which keeps secrets in its own database."""

    NAME = 'barbican'
    MODULE = 'testing.deployment.barbican_application'
    TYPE = 'key-manager'

    def configure(self) -> None:
        """Write barbican.conf and its paste file."""
        paste = self.installation.etc / 'barbican' / 'barbican-api-paste.ini'
        (self.folder / paste.name).write_text(paste.read_text())
        key = base64.b64encode(self.state.secret('barbican-key').encode())
        settings.write(
            self.config,
            settings.common(self.state, 'barbican'),
            {'DEFAULT': {'host_href': state_module.url('barbican')},
             'database': {'connection': self._database},
             'simple_crypto_plugin': {'kek': key.decode()},
             # So that members of a project have secrets, as Nova's users are.
             'oslo_policy': {'enforce_new_defaults': 'true'}})

    @property
    def _database(self) -> str:
        return settings.database(self.state, 'barbican')

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make its tables."""
        database.fill(['barbican'], [
            [self.installation.bin / 'barbican-manage', 'db', 'upgrade',
             '--db-url', self._database]], self.NAME)
