"""What databases are asked to execute."""

import collections.abc
import typing

import fixtures
import sqlalchemy
import sqlalchemy.event


class Statement(typing.NamedTuple):
    """One statement.

    :ivar database: URL; databases in memory share one
    """

    database: str
    text: str
    parameters: typing.Any

    @property
    def changes(self) -> bool:
        """Whether it may change the database."""
        return not self.text.startswith(('SELECT', 'BEGIN'))


def changing(
    heard: collections.abc.Iterable[Statement],
) -> collections.abc.Iterator[str]:
    """Yield the text of statements that may change what is stored.

    Leaves out what a service does at any time: it reports that it is up
    (nova/servicegroup/drivers/db.py DbDriver._report_state).
    """
    for statement in heard:
        if statement.changes and \
                not statement.text.startswith('UPDATE services '):
            yield statement.text


class Statements(fixtures.Fixture):
    """Calls HEAR with each statement, as long as it is in use."""

    def __init__(
        self, hear: collections.abc.Callable[[Statement], object],
    ) -> None:
        self._hear = hear

    def _setUp(self) -> None:
        event = (sqlalchemy.engine.Engine, 'before_cursor_execute',
                 self._executed)
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)

    def _executed(
        self, connection: sqlalchemy.engine.Connection, cursor: typing.Any,
        statement: str, parameters: typing.Any, *args: typing.Any,
    ) -> None:
        self._hear(Statement(
            str(connection.engine.url), statement, parameters))
