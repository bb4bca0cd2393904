"""Connections to SQLite that are kept."""

import typing

import fixtures
from sqlalchemy import pool


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
