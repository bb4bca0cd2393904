"""An operation of Nova on a server, from its checks until it is sent."""

from typing import Any

from nova_image_override.api.change import store
from nova_image_override.api.change.change import Change
from nova_image_override.api.change.disks import Places
from nova_image_override.api.change.rebuild import Rebuild
from nova_image_override.override import Overrides
from nova_image_override.override_record import SystemMetadata


class Operation:
    """One operation, which Nova begins with a server that it read before.

    :param instance: the server
    :param asked: the request's overrides; None without the parameter
    :ivar before: the server as it was read
    :ivar change: what becomes of its overrides
    :ivar stored: its system metadata when its task state was taken, if known
    :ivar rebuild: the rebuild, once it has been checked
    :ivar places: where its disks were when they were about to be moved
    :ivar is_sent: whether it has been handed to Nova's conductor
    """

    rebuild: Rebuild | None = None
    is_sent = False

    def __init__(self, instance: Any, asked: Overrides | None = None) -> None:
        self.instance = instance
        self.asked = asked
        self.before = instance.obj_clone()
        self.stored = dict(instance.system_metadata)
        self.places: Places = []
        self.change = Change.of(instance.system_metadata, asked)

    @property
    def holds(self) -> bool:
        """True if the operation has given the server its task state."""
        return (self.instance.task_state != self.before.task_state
                and 'task_state' not in self.instance.obj_what_changed())

    def require_unchanged(self, metadata: SystemMetadata) -> None:
        """Require that the server is still as it was read.

        :param metadata: its system metadata, read while its task state was
            held
        :raises errors.Conflict: it is not
        """
        self.stored = dict(metadata)
        if self.is_overtaken:
            raise store.changed_meanwhile()

    @property
    def is_overtaken(self) -> bool:
        """True if something else has changed the server since it was read."""
        return (store.rows(self.stored)
                != store.rows(self.before.system_metadata))
