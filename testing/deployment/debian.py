"""A cloud of Debian's packages alone, and of ours.

It is run by Debian's Python, on a Debian of its own: it writes to /etc.
nova-api and nova-compute are started as Debian's units start them, and Glance
is a server of its own, as there.
"""

import pathlib

from testing.deployment import cloud
from testing.deployment import glance
from testing.deployment import host as host_module
from testing.deployment import mariadb
from testing.deployment import nova
from testing.deployment import state as state_module

# What the package has for operators of Debian's nova-compute.
_DROP_IN = pathlib.Path(
    '/usr/share/nova-image-override/nova-compute-debian.conf')


class Glance(glance.Glance):
    """Glance of a release that has no module for WSGI servers."""

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        self.more = {'DEFAULT': {
            'bind_host': '127.0.0.1', 'workers': str(self.WORKERS),
            'bind_port': str(state_module.PORTS[self.name])}}

    def up(self) -> None:
        """Start it, and wait until it answers."""
        self.start([self.installation.bin / 'glance-api', '--config-file',
                    self.config])
        self.wait_until(self._answers)


class NovaAPI(nova.NovaAPI):
    """nova-api in Debian's uWSGI, with its files in /etc/nova."""

    @property
    def folder(self) -> pathlib.Path:
        """Where Debian's nova-api looks for its files."""
        return self.installation.etc / 'nova'

    def configure(self) -> None:
        """Write them, and what Debian's script reads of the operator.

        The state folder is closed to the user nova.
        """
        super().configure()
        port = state_module.PORTS[self.name]
        (self.installation.etc / 'default' / self.name).write_text(
            f'DAEMON_ARGS="$DAEMON_ARGS --http-socket 127.0.0.1:{port} '
            f'--processes {self.WORKERS} --uid root --gid root '
            f'--logto {self.log}"\n')

    def up(self) -> None:
        """Start it, and wait until it answers."""
        self.start(['/etc/init.d/nova-api', 'systemd-start'])
        self.wait_until(self._answers)


class Host(host_module.Host):
    """A compute host whose nova-compute has the package's drop-in."""

    def __init__(
        self, state: state_module.State, name: str, displays: range,
        threads: int,
    ) -> None:
        super().__init__(state, name, displays, threads)
        # Not nova-api's, which names databases.
        self._config.touch()
        self.mounts = [
            f'{self._config}:/etc/nova/nova.conf',
            f'{state.subfolder("hosts", name, "nova-log")}:/var/log/nova']

    def _command(self) -> list[str]:
        """Return what Debian's unit starts, in the drop-in's environment."""
        variable = _DROP_IN.read_text().partition('Environment=')[2].strip()
        return ['env', *([variable] if self.extended else []),
                '/etc/init.d/nova-compute', 'systemd-start']


class Cloud(cloud.Cloud):
    """The cloud in one Debian."""

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        # Keystone answers 500 where two log in as one user, because MariaDB of
        # 11.6.2 and newer refuses the second's UPDATE (error 1020).
        self.mariadb = mariadb.MariaDB(
            state, ['--innodb-snapshot-isolation=OFF'])
        self.glance = Glance(state)
        self.hosts = {name: Host(state, name, *given)
                      for name, given in cloud.HOSTS.items()}

    def _nova_api(self) -> nova.NovaAPI:
        return NovaAPI(self.state)
