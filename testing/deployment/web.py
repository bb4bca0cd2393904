"""The services that are WSGI applications."""
from __future__ import annotations

import pathlib
import urllib.error
import urllib.request

from testing.deployment import installation
from testing.deployment import mariadb
from testing.deployment import processes
from testing.deployment import state as state_module


class Application(processes.Process):
    """One service, and how it is set up.

    :param name: of the process, its port and its folder
    :cvar NAME: the same where there is one of it
    :cvar MODULE: the WSGI module
    :cvar PATH: where the service's API begins
    :ivar installation: the one that runs when it is started next
    """

    NAME: str
    MODULE: str
    PATH = ''
    WORKERS = 1

    def __init__(
        self, state: state_module.State, name: str | None = None,
    ) -> None:
        super().__init__(state, name or self.NAME)
        self.state = state
        self.installation = installation.OWN

    @property
    def folder(self) -> pathlib.Path:
        """Where its configuration files are."""
        return self.state.subfolder(self.name)

    def configure(self) -> None:
        """Write the configuration files."""
        raise NotImplementedError

    def setup(self, database: mariadb.MariaDB) -> None:
        """Fill the service's databases, unless that was done."""
        raise NotImplementedError

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
        """Start it, and wait until it answers."""
        self.start(self.command(), self.environment())
        self.wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(  # noqa: S310
                state_module.url(self.name), timeout=10)
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
