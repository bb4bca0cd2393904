"""A server that an operation of Nova takes only as it has read it.

Nova reads a server, checks it, and only then takes its task state. What it has
checked, and what it passes on to nova-compute, may be older than that. So the
server is read again once the state is taken, before anything else is done.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
import types
from typing import Any

from nova.objects import instance as nova_instance
from oslo_utils import timeutils

from nova_image_override.api.change import store
from nova_image_override.nova_interfaces import interface
from nova_image_override.server_record import ServerRecord

#: Fields that Nova does not read with a server, but that a rebuild replaces.
_UNREAD = ('keypairs', 'trusted_certs')

#: Seconds within which a host saves a server that it has resized once more.
_SAVED = 10

#: Called once the task state is held, with the fields that Nova has changed
#: so far, as they were before, and with the system metadata that is stored.
Held = Callable[[dict[str, Any], Mapping[str, Any]], None]


class Instance(nova_instance.Instance):
    """A server, which is compared with what is stored once its state is held.

    The class has the name of Nova's, because that is the name on the wire:
    ``VersionedObject.obj_name`` is the class's name, and nova-conductor and
    nova-compute know no other
    (``nova.objects.base.NovaObjectSerializer.deserialize_entity``).

    :ivar before: the server as it was read, until its state is held
    :ivar keeps_others: whether it stores, of system metadata, only the keys
        that have changed: Nova's lock, unlock, shelve and resize have read the
        others before, and would take a change of them back
    """

    before: nova_instance.Instance | None = None
    keeps_others = False
    _concerns_overrides = False
    _then: Held | None = None
    _instead: Callable[[], object] | None = None
    _read: Mapping[str, Any] = types.MappingProxyType({})

    @classmethod
    def of(
        cls, read: nova_instance.Instance, asks: bool = False,
        then: Held | None = None, keeps_others: bool = False,
        instead: Callable[[], object] | None = None,
    ) -> Instance:
        """Return the server READ for an operation of Nova.

        :param asks: whether the request asks for overrides
        :param then: called once the task state is held
        :param instead: raises, where the task state would be taken
        """
        result = cls()
        result.__dict__.update(vars(read))
        result.before = read.obj_clone()
        result._concerns_overrides = asks or ServerRecord.of(read).counts
        result._then = then
        result._instead = instead
        result.keeps_others = keeps_others
        result._read = dict(read.system_metadata)
        return result

    @interface.overrides
    def save(
        self, *args: Any, expected_task_state: Any = None, **kwargs: Any,
    ) -> None:
        """Save what has changed.

        :raises errors.Conflict: this takes the server's task state, and
            something else has changed the server
        """
        # Flavors are stored as Nova stores them in its own operations.
        store.keep_what_was_read(self, ['numa_topology'])
        changed = self.obj_what_changed()
        before = self.before
        if (before is None or expected_task_state is None
                or 'task_state' not in changed):
            self._save(*args, expected_task_state=expected_task_state, **kwargs)
            return
        if self._instead is not None:
            self._instead()
        self.before = None
        # Nova's shelve also stores which image the server is of.
        before.system_metadata = wanted = dict(self.system_metadata)
        taken_back = {key: value for key, value in self._read.items()
                      if wanted.get(key) != value}
        former = {
            name: getattr(before, name) for name in changed
            if name != 'system_metadata' and (
                before.obj_attr_is_set(name) or name in _UNREAD)}
        self._save(*args, expected_task_state=expected_task_state, **kwargs)
        metadata = wanted
        # A server that was read without overrides may have been given some:
        # one statement more than Nova's own.
        if self._concerns_overrides or store.has_record(self):
            metadata = store.confirmed(
                self, store.state(before), self.task_state,
                lambda present: {**former, 'system_metadata': {
                    **present.system_metadata, **taken_back}},
            ).system_metadata
        if self._then is not None:
            self._then(former, dict(metadata))

    def _save(self, *args: Any, **kwargs: Any) -> None:
        save = functools.partial(super().save, *args, **kwargs)
        if not (self.keeps_others
                and 'system_metadata' in self.obj_what_changed()):
            save()
            return
        read, wanted = self._read, self['system_metadata']
        store.save_keys(
            self._context, self,
            {key: value for key, value in wanted.items()
             if read.get(key) != value}, read.keys() - wanted.keys(), save)


def is_resize_ending(instance: Any) -> bool:
    """Return whether a host has yet to save a server that it has resized.

    It does so with the system metadata that the server had then
    (ComputeManager._delete_stashed_flavor_info).
    """
    # The key may stay, for example of a server that was suspended before it
    # was shelved.
    return instance.old_flavor is not None or (
        'old_vm_state' in instance.system_metadata
        and not timeutils.is_older_than(
            instance.updated_at.replace(tzinfo=None), _SAVED))
