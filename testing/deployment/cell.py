"""A second cell: a database server, queues, a conductor and a host of its own.

It is no part of the cloud: whoever needs it starts it.
"""

import subprocess

from testing.deployment import cloud
from testing.deployment import host
from testing.deployment import mariadb
from testing.deployment import nova
from testing.deployment import processes
from testing.deployment import settings

#: Its name, and that of its queues' virtual host.
NAME = 'cell2'

_DATABASE = 'nova_cell2'


class Cell:
    """The cell.

    :ivar mariadb: its database server
    :ivar host: its compute host
    """

    def __init__(self, deployment: cloud.Cloud) -> None:
        self._deployment = deployment
        self._state = deployment.state
        self.mariadb = mariadb.MariaDB(
            self._state, name=f'{mariadb.NAME}-2')
        self._own: settings.Settings = {
            'DEFAULT': {'transport_url': settings.broker(self._state, NAME)},
            'database': {'connection': settings.database(
                self._state, _DATABASE, self.mariadb.name)}}
        self._folder = self._state.subfolder(NAME)
        self._conductor = nova.Daemon(
            self._state, 'nova-conductor', self._folder,
            f'nova-conductor-{NAME}')
        self.host = host.Host(self._state, 'compute3', range(19000, 19050), 1)
        self.host.more = {'DEFAULT': self._own['DEFAULT']}
        # Nova removes what a server leaves behind in the other cell, which
        # would be the server's own if they shared it.
        self.host.instances = self._state.subfolder(NAME, 'instances')
        self.host.mounts = [
            f'{self.host.instances}:{nova.instances(self._state)}']
        # The cloud took as many as its own hosts need.
        self.host.has_huge_pages = False

    def up(self) -> None:
        """Make it, from nothing, and have Nova's services know it."""
        deployment, state = self._deployment, self._state
        state.file(self.mariadb.name, 'installed').unlink(missing_ok=True)
        subprocess.run(['rm', '-rf', self.mariadb.data], check=True)
        self.mariadb.data.mkdir()
        self.mariadb.up()
        self.mariadb.forget(NAME)
        deployment.rabbitmq.add_virtual_host(NAME)
        settings.write(
            self._folder / 'nova.conf', nova.common(state),
            nova.databases(state), {'conductor': {'workers': '1'}}, self._own)
        where = deployment.nova_api.installation
        self.mariadb.fill([_DATABASE], [
            [where.python, '-W', 'ignore', where.bin / 'nova-manage',
             '--config-file', self._folder / 'nova.conf', 'db', 'sync',
             '--local_cell'],
            [*deployment.nova_api.manage, 'cell_v2', 'create_cell', '--name',
             NAME, '--database_connection',
             self._own['database']['connection'], '--transport-url',
             self._own['DEFAULT']['transport_url']]], NAME)
        self._conductor.up()
        self.know()
        self.host.up()
        processes.wait_for(
            lambda: any(each.name == self.host.name for each in
                        deployment.operator.compute.hypervisors()),
            self.host.name)

    def know(self) -> None:
        """Have services learn anew which cells there are, as they start."""
        self._deployment.scheduler.restart()
        self._deployment.nova_api.restart()

    def down(self) -> None:
        """End it, and have Nova's services forget it."""
        self.host.fail()
        for process in (self._conductor, self.mariadb):
            process.kill()
        nova.forget_cells(self._deployment.mariadb)
        self.know()
