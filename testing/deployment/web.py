"""The services that are WSGI applications."""
from __future__ import annotations

import pathlib
import signal

import requests

from testing.deployment import installation
from testing.deployment import mariadb
from testing.deployment import processes
from testing.deployment import state as state_module
from testing.deployment import tenants


class Application(processes.Process):
    """One service, and how it is set up.

    :param name: of the process, its port and its folder
    :cvar NAME: the same where there is one of it
    :cvar MODULE: the WSGI module
    :cvar CONFIG: the file that daemons and commands read, if not NAME's
    :cvar DAEMONS: commands that run beside it
    :cvar SYNC: what makes its tables: a command, and its arguments after
        ``--config-file``
    :ivar installation: the one that runs when it is started next
    """

    NAME: str
    MODULE: str
    CONFIG = ''
    DAEMONS: tuple[str, ...] = ()
    SYNC: tuple[str, ...]
    WORKERS = 1

    def __init__(
        self, state: state_module.State, name: str | None = None,
    ) -> None:
        super().__init__(state, name or self.NAME)
        self.state = state
        self.installation = installation.OWN
        self.daemons = [processes.Process(state, each)
                        for each in self.DAEMONS]

    @property
    def folder(self) -> pathlib.Path:
        """Where its configuration files are."""
        return self.state.subfolder(self.name)

    @property
    def config(self) -> pathlib.Path:
        """That file."""
        return self.folder / (self.CONFIG or f'{self.NAME}.conf')

    def configure(self) -> None:
        """Write the configuration files."""
        raise NotImplementedError

    def setup(self, database: mariadb.MariaDB) -> None:
        """Fill the service's databases, unless that was done."""
        command, *words = self.SYNC
        database.fill([self.NAME], [
            [self.installation.bin / command, '--config-file', self.config,
             *words]], self.NAME)

    def environment(self) -> dict[str, str]:
        """Return the variables that name the application's files."""
        service = self.MODULE.partition('.')[0].upper()
        return {f'OS_{service}_CONFIG_DIR': str(self.folder)}

    def launcher(self) -> list[str]:
        """Return Python's options and the program that serves it."""
        return ['-m', 'testing.deployment.serve']

    def command(self) -> list[str | pathlib.Path]:
        """Return what serves it."""
        return [self.installation.python, '-W', 'ignore', *self.launcher(),
                str(state_module.PORTS[self.name]), str(self.WORKERS),
                self.MODULE]

    def up(self) -> None:
        """Start all of it, and wait until it answers."""
        for daemon in self.daemons:
            daemon.start([
                self.installation.python, '-W', 'ignore',
                self.installation.bin / daemon.name,
                '--config-file', self.config])
        self.start(self.command(), self.environment())
        self.wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            return requests.get(
                state_module.url(self.name), timeout=10).status_code < 500
        except requests.RequestException:
            return False

    def stop(
        self, number: signal.Signals = signal.SIGTERM, seconds: float = 20,
    ) -> None:
        """End all of it."""
        for daemon in self.daemons:
            daemon.kill()
        super().stop(number, seconds)

    def restart(self) -> None:
        """End it at once and start it again, with its files written anew."""
        self.kill()
        self.configure()
        self.up()


class Extra(Application):
    """One that is not a part of the cloud: whoever needs it starts it.

    :cvar TYPE: its type in the catalogue
    :cvar PATH: where its API begins
    """

    TYPE: str
    PATH = ''

    @property
    def folder(self) -> pathlib.Path:
        """Where each of its modules looks, if that is in its home."""
        return self.state.subfolder(self.name, f'.{self.name}')

    def environment(self) -> dict[str, str]:
        """Name its home."""
        return {'HOME': str(self.folder.parent)}

    def up(self) -> None:
        """Configure it, enter it in the catalogue, start it."""
        self.stop()
        self.configure()
        self.setup(mariadb.MariaDB(self.state))
        tenants.enter(
            tenants.connect(self.state, 'operator').identity, self.TYPE,
            state_module.url(self.NAME, self.PATH))
        super().up()
