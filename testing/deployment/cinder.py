"""Cinder, whose volumes are in Ceph.

It is not a part of the cloud: whoever needs it starts it, and Ceph before it.
Like that, it begins without any volume.
"""

import pathlib
import signal

from testing.deployment import ceph
from testing.deployment import mariadb
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import tenants
from testing.deployment import web


class Cinder(web.Application):
    """The volume service: API, scheduler, and what works in the pools."""

    NAME = 'cinder'
    MODULE = 'cinder.wsgi.api'

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        self._daemons = [processes.Process(state, name)
                         for name in ('cinder-scheduler', 'cinder-volume')]

    @property
    def folder(self) -> pathlib.Path:
        """Where it looks, if that is in its home."""
        return self.state.subfolder(self.name, '.cinder')

    @property
    def _config(self) -> pathlib.Path:
        return self.folder / 'cinder.conf'

    def environment(self) -> dict[str, str]:
        """Name its home."""
        return {'HOME': str(self.folder.parent)}

    def configure(self) -> None:
        """Write cinder.conf, with a back end for each pool."""
        etc = self.installation.etc / 'cinder'
        helper = (f'{self.installation.bin}/privsep-helper --config-file '
                  f'{self._config}')
        settings.write(
            self._config, settings.common(self.state, 'cinder'), {
                pool: {
                    'volume_driver': 'cinder.volume.drivers.rbd.RBDDriver',
                    'volume_backend_name': pool, 'rbd_pool': pool,
                    'rbd_ceph_conf': str(ceph.folder(self.state) / 'ceph.conf')
                } for pool in ceph.POOLS},
            {'DEFAULT': {
                'host': 'storage', 'my_ip': '127.0.0.1',
                'transport_url': settings.broker(self.state),
                'state_path': str(self.folder.parent),
                'api_paste_config': str(etc / 'api-paste.ini'),
                'rootwrap_config': str(etc / 'rootwrap.conf'),
                'glance_api_servers': state_module.url('glance'),
                'enabled_backends': ','.join(ceph.POOLS),
                'default_volume_type': ceph.POOLS[0],
                'report_interval': '2'},
             'database': {
                 'connection': settings.database(self.state, 'cinder')},
             # Which it tells that a volume has grown, or has another image.
             'nova': settings.user(self.state, 'cinder'),
             'service_user': {'send_service_user_token': 'true',
                              **settings.user(self.state, 'cinder')},
             **{context: {'helper_command': helper} for context in (
                 'cinder_sys_admin', 'privsep_osbrick')}})

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make its tables, with nothing in them."""
        database.forget(self.NAME)
        database.fill(['cinder'], [
            [self.installation.bin / 'cinder-manage', '--config-file',
             self._config, 'db', 'sync']], self.NAME)

    def up(self) -> None:
        """Configure it, enter it in the catalogue, start it."""
        self.stop()
        self.configure()
        self.setup(mariadb.MariaDB(self.state))
        tenants.enter(
            tenants.connect(self.state, 'operator').identity, 'block-storage',
            state_module.url('cinder', '/v3'))
        for daemon in self._daemons:
            daemon.start([
                self.installation.python, '-W', 'ignore',
                self.installation.bin / daemon.name,
                '--config-file', self._config])
        super().up()
        # Whose catalogue has it.
        volumes = tenants.connect(self.state, 'operator').block_storage
        for pool in ceph.POOLS:
            if not volumes.find_type(pool):
                volumes.create_type(
                    name=pool, extra_specs={'volume_backend_name': pool})
        # What has reported to the scheduler is all that it chooses among.
        self._daemons[0].wait_until(
            lambda: len(list(volumes.backend_pools())) == len(ceph.POOLS))

    def stop(
        self, number: signal.Signals = signal.SIGTERM, seconds: float = 20,
    ) -> None:
        """End all of it."""
        for daemon in self._daemons:
            daemon.kill()
        super().stop(number, seconds)
