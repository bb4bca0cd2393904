"""An operation of Nova on a server that nothing else has changed meanwhile.

Nova reads a server, checks it, and only then takes its task state. What it has
checked, and what it passes on to nova-compute, may be older than that: even
what ``Instance.save`` returns, because its transaction reads first. So the
server is read again once the state is taken, before anything else is done.
"""
from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nova.objects import instance as nova_instance

from nova_image_override import override_record as record
from nova_image_override.api.change import store
from nova_image_override.api.change.change import Change
from nova_image_override.api.change.disks import Places
from nova_image_override.api.change.rebuild import Rebuild
from nova_image_override.authorization.presets import Preset
from nova_image_override.nova_interfaces import interface
from nova_image_override.override import Overrides


class Operation:
    """One operation, which Nova begins with a server that it read before.

    :param read: the server
    :param asked: the request's overrides; None without the parameter
    :param named: the preset that it names
    :ivar instance: the server, for Nova's method
    :ivar before: the server as it was read
    :ivar change: what becomes of its overrides
    :ivar former: what Nova's method has changed, as it was before; None until
        it has the server's task state
    :ivar stored: its system metadata by then
    :ivar rebuild: the rebuild, once it has been checked
    :ivar places: where its disks were when they were about to be moved
    :ivar is_sent: whether it has been handed to Nova's conductor
    """

    rebuild: Rebuild | None = None
    former: dict[str, Any] | None = None
    is_sent = False

    def __init__(
        self, read: Any, asked: Overrides | None = None,
        named: Preset | None = None,
    ) -> None:
        self.asked = asked
        self.before = read.obj_clone()
        self.change = Change.of(read.system_metadata, asked, named)
        self.stored = dict(read.system_metadata)
        self.places: Places = []
        self.instance = Instance()
        self.instance.__dict__.update(vars(read))
        self.instance.operation = self

    def begin(self, changed: Collection[str]) -> None:
        """Go on if the server is still as it was read; else give it back.

        :param changed: the fields with which Nova has stored the task state
        :raises errors.Conflict: something else has changed the server
        """
        former = {name: self.before[name] for name in changed
                  if self.before.obj_attr_is_set(name)
                  and name != 'system_metadata'}
        # No statement more than Nova's own where nobody has asked for any.
        if self.change.names or any(map(record.has_overrides, (
                self.before.system_metadata, self.instance.system_metadata))):
            present = store.stored(self.instance)
            if (store.rows(present.system_metadata)
                    != store.rows(self.before.system_metadata)):
                store.save(present, self.instance.task_state, former)
                raise store.changed_meanwhile()
            self.stored = dict(present.system_metadata)
        self.former = former


class Instance(nova_instance.Instance):
    """A server that an operation takes only as it has read it.

    :ivar operation: the operation, until it has the server's task state
    """

    operation: Operation | None = None

    @interface.overrides
    def save(
        self, *args: Any, expected_task_state: Any = None, **kwargs: Any,
    ) -> None:
        """Save what has changed.

        :raises errors.Conflict: this takes the server's task state, and
            something else has changed the server
        """
        store.keep_topology(self)
        changed = self.obj_what_changed()
        super().save(*args, expected_task_state=expected_task_state, **kwargs)
        if (self.operation is not None and expected_task_state is not None
                and 'task_state' in changed):
            operation, self.operation = self.operation, None
            operation.begin(changed)
