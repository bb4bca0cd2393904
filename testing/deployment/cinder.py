"""Cinder, whose volumes are in Ceph.

Whoever needs it starts Ceph before it. Like that, it begins without any volume.
"""

from testing.deployment import ceph
from testing.deployment import mariadb
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import tenants
from testing.deployment import web


class Cinder(web.Extra):
    """The volume service: API, scheduler, and what works in the pools."""

    NAME = 'cinder'
    MODULE = 'cinder.wsgi.api'
    DAEMONS = ('cinder-scheduler', 'cinder-volume')
    SYNC = ('cinder-manage', 'db', 'sync')
    TYPE = 'block-storage'
    PATH = '/v3'

    def configure(self) -> None:
        """Write cinder.conf, with a back end for each pool."""
        etc = self.installation.etc / 'cinder'
        helper = (f'{self.installation.bin}/privsep-helper --config-file '
                  f'{self.config}')
        settings.write(
            self.config, settings.common(self.state, 'cinder'), {
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
        super().setup(database)

    def up(self) -> None:
        """Start it, with a type of volumes for each pool."""
        super().up()
        # Whose catalogue has it.
        volumes = tenants.connect(self.state, 'operator').block_storage
        for pool in ceph.POOLS:
            if not volumes.find_type(pool):
                volumes.create_type(
                    name=pool, extra_specs={'volume_backend_name': pool})
        # What has reported to the scheduler is all that it chooses among.
        self.daemons[0].wait_until(
            lambda: len(list(volumes.backend_pools())) == len(ceph.POOLS))
