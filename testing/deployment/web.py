"""The services that are WSGI applications."""

import pathlib
import sys
import sysconfig
import urllib.error
import urllib.request

from testing.deployment import mariadb
from testing.deployment import processes
from testing.deployment import state as state_module

#: Where the environment keeps its commands, and the files that services ship.
BIN = pathlib.Path(sysconfig.get_path('scripts'))
ETC = pathlib.Path(sys.prefix) / 'etc'


class Application(processes.Process):
    """One service, and how it is set up.

    :cvar NAME: of the process, and of its port
    :cvar MODULE: the WSGI module
    :cvar PATH: where the service's API begins
    """

    NAME: str
    MODULE: str
    PATH = ''
    WORKERS = 1

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state, self.NAME)
        self.state = state

    @property
    def folder(self) -> pathlib.Path:
        """Where its configuration files are."""
        return self.state.subfolder(self.NAME)

    def configure(self) -> None:
        """Write the configuration files."""
        raise NotImplementedError

    def setup(self, database: mariadb.MariaDB) -> None:
        """Fill the service's databases, unless that was done."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Return what tells the application where its files are."""
        service = self.MODULE.partition('.')[0].upper()
        return {f'OS_{service}_CONFIG_DIR': str(self.folder)}

    def up(self) -> None:
        """Start it, and wait until it answers."""
        self.start(
            [sys.executable, '-W', 'ignore', '-m',
             'testing.deployment.serve', str(state_module.PORTS[self.NAME]),
             str(self.WORKERS), self.MODULE], self.environment())
        self.wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(  # noqa: S310
                state_module.url(self.NAME), timeout=10)
        except urllib.error.HTTPError as exc:
            return exc.code < 500
        except OSError:
            return False
        return True

    def restart(self) -> None:
        """End it at once and start it again, with its files written anew."""
        self.kill()
        self.configure()
        self.up()
