"""MariaDB on a data folder and a socket of its own, without a port."""

import collections.abc
import pathlib
import subprocess

from testing.deployment import processes
from testing.deployment import state as state_module

#: The name of the cloud's own.
NAME = 'mariadb'


class MariaDB(processes.Process):
    """The database server.

    :param options: of mariadbd, besides those that the cloud needs
    :param name: of the process and its folder, where there is another server
    :ivar data: the folder of its data
    """

    def __init__(
        self, state: state_module.State,
        options: collections.abc.Sequence[str] = (), name: str = NAME,
    ) -> None:
        super().__init__(state, name)
        self._options = options
        self._state = state
        self._socket = state.file(name, 'socket')
        self.data = state.subfolder(name, 'data')

    def up(self) -> None:
        """Start it, with the data that it has, or with new data."""
        data = self.data
        stamp = self._state.file(self.name, 'installed')
        if not stamp.exists():
            # Whoever connects as root through the socket is root.
            subprocess.run(
                ['mariadb-install-db', '--no-defaults', f'--datadir={data}',
                 '--user=root', '--auth-root-authentication-method=socket',
                 '--auth-root-socket-user=root', '--skip-test-db'],
                check=True, stdout=subprocess.DEVNULL)
            stamp.touch()
        self.serve()
        self.execute("CREATE OR REPLACE USER cloud@localhost IDENTIFIED BY "
                     f"'{self._state.secret('mariadb')}';"
                     'GRANT ALL ON *.* TO cloud@localhost;')

    def serve(self, *options: str) -> None:
        """Start it with the data that it has, and wait until it answers.

        :param options: for this once
        """
        self.start([
            'mariadbd', '--no-defaults', '--user=root',
            f'--datadir={self.data}', f'--socket={self._socket}',
            '--skip-networking',
            # Another server that starts removes temporary tables from /tmp
            # (sql/sql_base.cc mysql_rm_tmp_tables).
            f'--tmpdir={self._state.subfolder(self.name, "tmp")}',
            f'--pid-file={self._state.file(self.name, "pid")}',
            '--max-connections=500',
            # A crash of the server loses nothing, one of the machine may.
            '--innodb-flush-log-at-trx-commit=2', *self._options, *options])
        self.wait_until(self._answers)

    def _answers(self) -> bool:
        return subprocess.run(
            self._client('SELECT 1'), capture_output=True).returncode == 0

    def _client(self, statements: str) -> list[str]:
        return ['mariadb', '--no-defaults', f'--socket={self._socket}',
                '--user=root', f'--execute={statements}']

    def execute(self, statements: str) -> None:
        """Execute SQL as root."""
        subprocess.run(self._client(statements), check=True,
                       stdout=subprocess.DEVNULL)

    def query(self, statement: str) -> str:
        """Return what SQL selects, one line for each row."""
        return subprocess.run(
            [*self._client(statement), '--silent', '--raw'], check=True,
            capture_output=True, text=True).stdout

    def _stamp(self, owner: str) -> pathlib.Path:
        return self._state.file(self.name, f'filled-{owner}')

    def forget(self, owner: str) -> None:
        """Let the databases of a service be filled anew the next time."""
        self._stamp(owner).unlink(missing_ok=True)

    def fill(
        self, databases: collections.abc.Sequence[str],
        commands: collections.abc.Iterable[collections.abc.Sequence[object]],
        owner: str,
    ) -> None:
        """Make databases and run what fills them, unless that was done.

        If anything interrupts this, the next time begins from nothing.

        :param owner: name of the service that they belong to
        """
        stamp = self._stamp(owner)
        if stamp.exists():
            return
        for name in databases:
            self.execute(f'DROP DATABASE IF EXISTS {name};'
                         f'CREATE DATABASE {name} CHARACTER SET utf8mb3')
        with self._state.file('log', f'{owner}-setup.log').open('w') as log:
            for command in commands:
                done = subprocess.run(
                    [str(word) for word in command], stdout=log, stderr=log,
                    cwd=state_module.ROOT)
                if done.returncode:
                    raise processes.NotReady(
                        f'{" ".join(map(str, command))} fails, see {log.name}')
        stamp.touch()
