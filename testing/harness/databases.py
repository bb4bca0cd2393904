"""SQLite: connections that are kept, and whole databases as SQL."""

import contextlib
import typing

import fixtures
from sqlalchemy import pool
import sqlalchemy.engine


class _Pool(pool.QueuePool):
    """As many connections as a harness has threads."""

    def __init__(self, creator: typing.Any, **kwargs: typing.Any) -> None:
        super().__init__(creator, **{'pool_size': 50, **kwargs})


class KeptConnections(fixtures.Fixture):
    """Have oslo.db keep connections to SQLite files, as SQLAlchemy would.

    oslo.db makes a new one for each transaction
    (oslo_db/sqlalchemy/engines.py _init_connection_args), and SQLite then reads
    the schema of all of Nova's tables: a fifth of the processor time of the
    functional tests. Before Nova 34 the harness has its databases in memory.
    """

    def _setUp(self) -> None:
        self.useFixture(fixtures.MonkeyPatch('sqlalchemy.pool.NullPool', _Pool))


def dumped(engine: sqlalchemy.engine.Engine) -> str:
    """Return a SQLite database as SQL."""
    with contextlib.closing(engine.raw_connection()) as connection:
        return '\n'.join(connection.driver_connection.iterdump())


def replace(engine: sqlalchemy.engine.Engine, text: str) -> None:
    """Put what :func:`dumped` returned in place of a SQLite database."""
    with contextlib.closing(engine.raw_connection()) as connection:
        database = connection.driver_connection
        tables = [name for name, in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' "
            "AND name NOT LIKE 'sqlite_%'")]
        for name in tables:
            database.execute(f'DROP TABLE "{name}"')
        database.commit()
        database.executescript(text)
