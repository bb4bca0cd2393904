"""Barbican, which keeps the keys of servers' TPMs.

It is not a part of the cloud: whoever needs it starts it.
"""

import base64
import pathlib

from testing.deployment import mariadb
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import tenants
from testing.deployment import web


class Barbican(web.Application):
    """The key manager, which keeps secrets in its own database."""

    NAME = 'barbican'
    MODULE = 'testing.deployment.barbican_application'

    @property
    def folder(self) -> pathlib.Path:
        """Where each of its modules looks, if that is its home."""
        return self.state.subfolder(self.name, '.barbican')

    def configure(self) -> None:
        """Write barbican.conf and its paste file."""
        paste = self.installation.etc / 'barbican' / 'barbican-api-paste.ini'
        (self.folder / paste.name).write_text(paste.read_text())
        key = base64.b64encode(self.state.secret('barbican-key').encode())
        settings.write(
            self.folder / 'barbican.conf',
            settings.common(self.state, 'barbican'),
            {'DEFAULT': {'host_href': state_module.url('barbican')},
             'database': {'connection': self._database},
             'simple_crypto_plugin': {'kek': key.decode()},
             # So that members of a project have secrets, as Nova's users are.
             'oslo_policy': {'enforce_new_defaults': 'true'}})

    @property
    def _database(self) -> str:
        return settings.database(self.state, 'barbican')

    def environment(self) -> dict[str, str]:
        """Name its home."""
        return {'HOME': str(self.folder.parent)}

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make its tables."""
        database.fill(['barbican'], [
            [self.installation.bin / 'barbican-manage', 'db', 'upgrade',
             '--db-url', self._database]], self.NAME)

    def up(self) -> None:
        """Configure it, enter it in the catalogue, start it."""
        self.configure()
        self.setup(mariadb.MariaDB(self.state))
        tenants.enter(
            tenants.connect(self.state, 'operator').identity, 'key-manager',
            state_module.url('barbican'))
        super().up()
