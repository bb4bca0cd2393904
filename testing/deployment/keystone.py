"""Keystone."""

from testing.deployment import mariadb
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import web


class Keystone(web.Application):
    """The identity service."""

    NAME = 'keystone'
    MODULE = 'keystone.wsgi.api'
    WORKERS = 2

    def configure(self) -> None:
        """Write keystone.conf."""
        settings.write(self.config, {
            'database': {
                'connection': settings.database(self.state, 'keystone')},
            'token': {'expiration': '86400'},
            # Tempest makes a user or two for each class of tests. With as
            # many rounds as are right elsewhere, it would spend most of its
            # time on Keystone.
            'identity': {'password_hash_rounds': '4'},
            'fernet_tokens': {'key_repository': str(
                self.state.subfolder('keystone', 'fernet-keys'))},
        })

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make its tables, keys, the operator and its own endpoint."""
        manage = [self.installation.bin / 'keystone-manage', '--config-file',
                  self.config]
        address = state_module.url('keystone', '/v3')
        database.fill(['keystone'], [
            [*manage, 'db_sync'],
            [*manage, 'fernet_setup', '--keystone-user', 'root',
             '--keystone-group', 'root'],
            [*manage, 'bootstrap', '--bootstrap-password',
             self.state.secret('operator'), '--bootstrap-region-id',
             'RegionOne', '--bootstrap-public-url', address,
             '--bootstrap-internal-url', address, '--bootstrap-admin-url',
             address]], self.NAME)
