"""nova-api as clouds have it: two of them, behind Debian's HAProxy."""

import collections.abc
import contextlib
import csv
import pathlib
import socket

from testing.deployment import mariadb
from testing.deployment import nova
from testing.deployment import processes
from testing.deployment import state as state_module

# A request goes to either of them, and no request is sent twice.
_CONFIG = '''
global
    stats socket {socket} level admin
defaults
    mode http
    timeout connect 5s
    timeout client 5m
    timeout server 5m
frontend nova-api
    bind 127.0.0.1:{port}
    default_backend nova-api
backend nova-api
    balance roundrobin
    option httpchk GET /
'''

_MEMBER = '    server {name} 127.0.0.1:{port} check inter 500ms\n'


class Balanced(nova.NovaAPI):
    """The cloud's nova-api; the process is that of HAProxy.

    :ivar members: the two nova-api
    """

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        self.members = [nova.NovaAPI(state, f'nova-api-{number}')
                        for number in (1, 2)]
        self._socket = state.file('balancer', 'socket')

    @property
    def folder(self) -> pathlib.Path:
        """Where Nova's other services find its files: those of the first."""
        return self.members[0].folder

    def configure(self) -> None:
        """Write the files of both, and HAProxy's."""
        for member in self.members:
            member.configure()
        self.state.write(
            _CONFIG.format(socket=self._socket,
                           port=state_module.PORTS[self.name])
            + ''.join(_MEMBER.format(name=member.name,
                                     port=state_module.PORTS[member.name])
                      for member in self.members),
            'balancer', 'haproxy.cfg')

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make Nova's tables and its one cell, from the first member."""
        self.members[0].setup(database)

    def up(self) -> None:
        """Start all three."""
        for member in self.members:
            member.up()
        self.start(['haproxy', '-db', '-f',
                    self.state.file('balancer', 'haproxy.cfg')])
        self.wait_until(self._answers)

    @contextlib.contextmanager
    def without(
        self, member: nova.NovaAPI,
    ) -> collections.abc.Iterator[None]:
        """Keep requests away from a member.

        Begins when it has answered those that it had, and ends when it gets
        requests again.
        """
        self._tell(f'set server nova-api/{member.name} state drain')
        processes.wait_for(
            lambda: self._look(member)['scur'] == '0',
            f'the last request of {member.name}')
        yield
        self._tell(f'set server nova-api/{member.name} state ready')
        processes.wait_for(
            lambda: self._look(member)['status'] == 'UP', member.name)

    def _look(self, member: nova.NovaAPI) -> dict[str, str]:
        """Return HAProxy's statistics for a member (management.txt, 9.1)."""
        shown = csv.DictReader(
            self._tell('show stat').removeprefix('# ').splitlines())
        return next(line for line in shown if line['svname'] == member.name)

    def _tell(self, command: str) -> str:
        """Send HAProxy a command, and return its answer."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._socket))
            connection.sendall(command.encode() + b'\n')
            with connection.makefile() as answer:
                return answer.read()
