"""An operation that stops at one of its statements, while another is made.

Where it stops, nothing of it is in a database that could still be undone: in
front of the first statement of a transaction that begins with a table of TABLES
(the others neither read nor write what an update of overrides does), and
between what a transaction has read of a server and what it writes, which then
goes on with what it has read, as on MariaDB. SQLite lets nobody write while a
transaction has read or written anything, so it stops nowhere else. It does not
stop nova-scheduler, which only reads, and takes one request after the other.
"""
from __future__ import annotations

import collections
import collections.abc
import contextlib
import math
import re
import threading
import traceback
import typing
from unittest import mock

from nova.db.main import api as db_api
from nova.tests import fixtures as nova_fixtures
import sqlalchemy
import sqlalchemy.event

from tests.functional import at_once

#: What is stored of a server, and its overrides with it.
TABLES = re.compile(
    r'\b(instances|instance_system_metadata|instance_extra|request_specs|'
    r'block_device_mapping)\b')

#: Seconds after which the other one counts as waiting for the one that stops.
PATIENCE = 60


class _Thread(threading.local):
    """What one thread does.

    :ivar quiet: whether it only looks
    :ivar used: connection -> whether its transaction has read or written
    :ivar held: database -> how often the thread may write to it now
    """

    quiet = False

    def __init__(self) -> None:
        self.used: dict[typing.Any, bool] = {}
        self.held: collections.Counter[typing.Any] = collections.Counter()


def _is_scheduler() -> bool:
    """Return whether this thread is one of nova-scheduler's."""
    return any(frame.f_globals['__name__'] in (
        'nova.scheduler.manager', 'nova.scheduler.host_manager')
        for frame, _ in traceback.walk_stack(None))


class Stop:
    """Calls ACT in another thread where it stops.

    :param number: of the places at which it could, this one
    """

    def __init__(
        self, number: int, act: collections.abc.Callable[[], object],
    ) -> None:
        self._left: float = number
        self._act = act
        #: Whether it has stopped, and what ACT has returned.
        self.made = False
        self.result: typing.Any = None
        self._over = threading.Event()
        self._thread = _Thread()
        self._locks = collections.defaultdict(threading.RLock)

    @contextlib.contextmanager
    def listening(self) -> collections.abc.Iterator[Stop]:
        """Stop whatever is done in the context, in any thread."""
        events = [(sqlalchemy.engine.Engine, name, heard) for name, heard in (
            ('before_cursor_execute', self._executed),
            ('commit', self._ended), ('rollback', self._ended))]
        for event in events:
            sqlalchemy.event.listen(*event)
        try:
            with mock.patch.object(
                    db_api, 'instance_update_and_get_original', self._update), \
                    mock.patch.object(
                        nova_fixtures.DatabaseWriteLock, '_get_lock',
                        lambda fixture, url: self._lock(url)):
                yield self
        finally:
            for event in events:
                sqlalchemy.event.remove(*event)

    def end(self) -> None:
        """Stop no more, and wait until ACT, if it was called, has returned.

        What stops may be a thread that nobody waits for: nova-compute goes on
        after a server has been migrated.
        """
        self._left = math.inf
        assert not self.made or self._over.wait(2 * PATIENCE)

    @contextlib.contextmanager
    def quiet(self) -> collections.abc.Iterator[None]:
        """Leave alone what this thread does: it only looks."""
        was, self._thread.quiet = self._thread.quiet, True
        try:
            yield
        finally:
            self._thread.quiet = was

    @contextlib.contextmanager
    def _lock(self, url: typing.Any) -> collections.abc.Iterator[None]:
        """Let one thread write to a database, as Nova's harness does."""
        held = self._thread.held
        with self._locks[url]:
            held[url] += 1
            yield
            held[url] -= 1

    def _executed(
        self, connection: sqlalchemy.engine.Connection, cursor: typing.Any,
        statement: str, *args: typing.Any,
    ) -> None:
        used = self._thread.used
        is_first = used.get(connection) is False
        used[connection] = not statement.startswith('BEGIN')
        if is_first and TABLES.search(statement):
            used[connection] = False
            if self._is_here():
                self._stop()
            used[connection] = True

    def _ended(self, connection: sqlalchemy.engine.Connection) -> None:
        self._thread.used.pop(connection, None)

    def _update(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        if self._is_here():
            return at_once.overtaken(self._stop, *args, **kwargs)
        return at_once.update(*args, **kwargs)

    def _is_here(self) -> bool:
        """Return whether it stops at this place, where it can."""
        if self.made or self._thread.quiet or any(
                self._thread.used.values()) or _is_scheduler():
            return False
        self._left -= 1
        self.made = self._left < 0
        return self.made

    def _stop(self) -> None:
        def act() -> None:
            self.result = self._act()

        held = [self._locks[url] for url in self._thread.held.elements()]
        for lock in held:
            lock.release()
        other = threading.Thread(target=act)
        other.start()
        other.join(PATIENCE)
        for lock in held:
            lock.acquire()
        assert not other.is_alive()
        self._over.set()
