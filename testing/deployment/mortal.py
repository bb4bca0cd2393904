"""A nova-api that is killed, or whose database is, before a statement.

``python -m testing.deployment.mortal PORT``: as :mod:`.serve`, but the process
that has loaded nova-api serves nothing: it forks the one that does, and
another when that is gone, as uWSGI does. The header ``X-Fault: nova-api 7`` of
a request ends the process with SIGKILL before its seventh statement, a commit
being one, ``mariadb 7`` ends mariadbd, and with ``restart 7`` it is there
again at once. The answer's ``X-Statements`` says how many statements there
were. Such a request is to be the only one.
"""

import importlib
import itertools
import os
import signal
import socket
import sys

from sqlalchemy import engine
from sqlalchemy import event
import waitress

from testing.deployment import mariadb
from testing.deployment import nova
from testing.deployment import state

HEADER = 'X-Fault'
COUNT = 'X-Statements'


class NovaAPI(nova.NovaAPI):
    """It, in the same cloud as the cloud's own."""

    def launcher(self) -> list[str]:
        """Return this module."""
        return ['-m', 'testing.deployment.mortal']


class Statements:
    """Counts the statements of the request that names a fault."""

    def __init__(self) -> None:
        self.fault, self.number = '', 0
        self.numbers = itertools.count(1)
        for name in ('before_cursor_execute', 'commit'):
            event.listen(engine.Engine, name, self.before)

    def begin(self, fault: str) -> None:
        """Count from one; FAULT says what is to be killed before which."""
        self.fault, _, number = fault.partition(' ')
        self.number = int(number or 0)
        self.numbers = itertools.count(1)

    def before(self, *args: object) -> None:
        """Count one, and kill."""
        if not self.fault or next(self.numbers) != self.number:
            return
        if self.fault == 'nova-api':
            os.kill(os.getpid(), signal.SIGKILL)
        database = mariadb.MariaDB(state.State.default())
        database.kill()
        if self.fault == 'restart':
            database.up()


def main(port: str, _: str, module: str) -> None:
    """Serve until a signal ends the first process."""
    listener = socket.create_server(('127.0.0.1', int(port)), backlog=128)
    sys.argv[1:] = []
    application = importlib.import_module(module).application
    statements = Statements()

    def counted(environ, start_response):
        statements.begin(environ.get('HTTP_X_FAULT', ''))

        def start(status, headers, *rest):
            number = next(statements.numbers) - 1
            statements.fault = ''
            return start_response(
                status, [*headers, (COUNT, str(number))], *rest)

        return application(environ, start)

    while os.fork():
        os.wait()
    waitress.serve(counted, sockets=[listener], threads=8)


if __name__ == '__main__':
    main(*sys.argv[1:])
