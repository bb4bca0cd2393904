"""Waiting for what Nova's services do, without polling."""
from __future__ import annotations

import collections.abc
import threading
import time
import types
import typing

import fixtures
from nova import context as nova_context
from nova.api.openstack import common
from nova.db.main import api as main_db
from nova.db.main import models
from oslo_messaging._drivers import impl_fake
import sqlalchemy
import sqlalchemy.event
import sqlalchemy.orm


class Commits(fixtures.Fixture):
    """Waits for what services write to their databases."""

    #: Seconds after which to give up waiting.
    PATIENCE = 120

    def _setUp(self) -> None:
        self._committed = threading.Condition()
        self._number = 0
        event = (sqlalchemy.orm.Session, 'after_commit', self._count)
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)

    def _count(self, session: sqlalchemy.orm.Session) -> None:
        with self._committed:
            self._number += 1
            self._committed.notify_all()

    def until(
        self, look: collections.abc.Callable[[], object], wanted: object,
    ) -> None:
        """Return when LOOK returns WANTED; look again after each commit.

        :raises AssertionError: when it does not within ``PATIENCE``
        """
        deadline = time.monotonic() + self.PATIENCE
        while True:
            seen = self._number
            found = look()
            if found == wanted:
                return
            with self._committed:
                if not self._committed.wait_for(
                        lambda before=seen: self._number != before,
                        deadline - time.monotonic()):
                    raise AssertionError(
                        f'waited for {wanted}, and still found {found}')


class PromptMessages(fixtures.Fixture):
    """Has services take an RPC message when it is sent.

    oslo.messaging's fake driver looks for one every 50 ms, which is as long as
    the message takes to carry out (impl_fake.py FakeListener.poll).
    """

    def _setUp(self) -> None:
        sent = threading.Condition()
        deliver = impl_fake.FakeExchange.deliver_message

        def delivered(*args: typing.Any, **kwargs: typing.Any) -> None:
            deliver(*args, **kwargs)
            with sent:
                sent.notify_all()

        def pause(seconds: float) -> None:
            with sent:
                sent.wait(seconds)

        for name, value in (('FakeExchange.deliver_message', delivered), (
                'time', types.SimpleNamespace(time=time.time, sleep=pause))):
            self.useFixture(fixtures.MonkeyPatch(
                f'oslo_messaging._drivers.impl_fake.{name}', value))


class Waits:
    """What a test waits for."""

    def wait(self, server_id: str, status: str = 'ACTIVE') -> None:
        """Wait until a server has STATUS, and nova-compute is done with it.

        Status alone does not mean that Nova accepts the next action: a server
        is ACTIVE while its snapshot is made, and before nova-compute has told
        the scheduler about it. If services are stopped in between, Nova
        considers the build failed after a minute, and puts the server in ERROR.
        """
        self.commits.until(lambda: self._state(server_id), (status, None))

    def _state(self, server_id: str) -> tuple[str, str | None] | None:
        """Return a server's status, and its unfinished task or event.

        None if there is no server. Only events of nova-compute count: a move to
        another cell copies the conductor's own while it is unfinished, and
        nothing finishes the copy.
        """
        # A few columns, read after every commit: a whole objects.Instance
        # would cost more than what is waited for.
        instance, action, event = (
            models.Instance, models.InstanceAction, models.InstanceActionEvent)
        for mapping in self.cell_mappings.values():
            with nova_context.target_cell(
                    nova_context.get_admin_context(), mapping) as cell, \
                    main_db.get_engine(context=cell).connect() as connection:
                row = connection.execute(sqlalchemy.select(
                    instance.vm_state, instance.task_state,
                ).filter_by(uuid=server_id, deleted=0, hidden=False)).first()
                if not row:
                    continue
                unfinished = connection.scalar(
                    sqlalchemy.select(event.event).join(
                        action, action.id == event.action_id,
                    ).where(action.instance_uuid == server_id,
                            event.event.startswith('compute_'),
                            event.finish_time.is_(None)))
                break
        else:
            return None
        status = common.status_from_state(*row)
        if status == 'ERROR' and self.instance(server_id).fault is None:
            # Nova stores the fault after the state.
            return status, 'storing the fault'
        return status, row.task_state or unfinished

    def _wait_until_deleted(self, server: dict[str, typing.Any]) -> None:
        # In place of the harness's own, which sleeps.
        self.commits.until(
            lambda: self.http('GET', f'/servers/{server["id"]}').status, 404)
