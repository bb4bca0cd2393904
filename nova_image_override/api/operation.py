"""What a request to nova-api does, as far as overrides play a part in it.

Nova's request context carries one :class:`Operation` from our controllers to
the compute API and the view builder, past methods of Nova that know nothing
of it: nova-api makes one context for each request, and
``RequestContext.to_dict`` leaves foreign attributes out, so it reaches neither
another request nor another service.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
import contextlib
import dataclasses
import types
from typing import Any

from nova_image_override import errors
from nova_image_override.api.list_filter import RecordFilter
from nova_image_override.override import Overrides
from nova_image_override.server_record import ServerRecord

_ATTRIBUTE = 'image_props_override_operation'


class Operation:
    """An operation that overrides play no part in: its hooks do nothing.

    :ivar asked: the overrides that the request asks for, those of its preset
        among them; None without the parameters
    :ivar shown: what the answer shows of overrides, by server
    :ivar is_check: whether it ends where it would store anything
    """

    asked: Overrides | None = None
    shown: Mapping[str, dict[str, Any]] = types.MappingProxyType({})
    is_check = False

    # --- servers that are shown ---------------------------------------------

    def attributes(self, expected: list[str] | None) -> list[str] | None:
        """Return the attributes to load beside Nova's EXPECTED ones."""
        return expected

    def listing(self, search_opts: Any) -> dict[str, Any]:
        """Return arguments of API.get_all, with Nova's SEARCH_OPTS."""
        return {'search_opts': search_opts}

    def next_link(self) -> list[tuple[str, str]]:
        """Return our parameters of the query for the next page."""
        return []

    def shows(self, instance: Any) -> None:
        """Note an instance that Nova shows."""

    # --- a server that is created -------------------------------------------

    def before_image(self, auto_disk_config: bool | None) -> bool | None:
        """Return auto_disk_config for Nova's check of the unmerged image."""
        return auto_disk_config

    def image_known(
        self, context: Any, flavor: Any, boot_meta: dict[str, Any],
    ) -> dict[str, Any]:
        """Change the boot metadata of the servers to be created.

        :param boot_meta: metadata of the image or volume that they boot from
        :returns: arguments of API._validate_and_build_base_options
        """
        return {}

    def disks_known(
        self, mappings: Iterable[Any], base_options: dict[str, Any],
    ) -> None:
        """Place and check the disks of each of the servers."""

    def populated(self, instance: Any) -> None:
        """Change an instance that is about to be stored."""

    def validating(self, mappings: Any) -> Any:
        """Return the block device mappings that Nova validates and reserves."""
        return mappings

    def storing(self, context: Any, spec: Any, instance: Any) -> None:
        """Note a server that Nova stores next, and its request spec."""

    # --- a server that is rebuilt -------------------------------------------

    def image_fetched(self, image: dict[str, Any]) -> None:
        """Change the metadata of the image that a server is rebuilt from."""

    def sending(self, instance: Any) -> dict[str, Any]:
        """Store the rest of a rebuild, and return arguments to add to it."""
        return {}


_NOTHING = Operation()


def attach(context: Any, operation: Operation) -> None:
    """Let CONTEXT carry OPERATION."""
    setattr(context, _ATTRIBUTE, operation)


def of(context: Any) -> Operation:
    """Return the operation that CONTEXT carries."""
    operation: Operation = getattr(context, _ATTRIBUTE, _NOTHING)
    return operation


@contextlib.contextmanager
def during(context: Any, operation: Operation) -> Iterator[None]:
    """Let CONTEXT carry OPERATION for a while."""
    former = of(context)
    attach(context, operation)
    try:
        yield
    finally:
        attach(context, former)


@dataclasses.dataclass
class Listing(Operation):
    """A request whose answer shows the overrides of servers.

    :ivar names: the properties that servers have to override to be listed
    :ivar preset: the preset that their overrides have to come with, or ''
    :ivar shown: what the answer is to show, by server. Noted while Nova makes
        the answer and added afterwards, because Nova validates its own
        answers and its schemas forbid unknown keys.
    """

    asked: Overrides | None = None
    names: frozenset[str] = frozenset()
    preset: str = ''
    shown: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    is_check: bool = False

    def attributes(self, expected: list[str] | None) -> list[str] | None:
        """Load system metadata, too.

        From compute 2.73 on, Nova loads it anyway; below that, it costs one
        query for each list, not for each server.
        """
        return None if expected is None else sorted({
            *expected, 'system_metadata'})

    def listing(self, search_opts: Any) -> dict[str, Any]:
        """Filter by overrides, if the request does."""
        if not (self.names or self.preset):
            return super().listing(search_opts)
        return {
            'search_opts': {
                **(search_opts or {}),
                'system_metadata': RecordFilter(self.names, self.preset)},
            # Nothing is known about the servers of a cell that is down, so
            # they are left out, as they are for each of Nova's own filters
            # (ServersController._is_cell_down_supported).
            'cell_down_support': False}

    def next_link(self) -> list[tuple[str, str]]:
        """Return our filters."""
        return [*((errors.PARAMETER, name) for name in sorted(self.names)),
                *([(errors.PRESET, self.preset)] if self.preset else ())]

    def shows(self, instance: Any) -> None:
        """Note the overrides in force."""
        # Servers in a cell that is down have no system metadata.
        if 'system_metadata' in instance:
            record = ServerRecord.of(instance)
            self.shown[instance.uuid] = {
                errors.PARAMETER: record.in_force,
                errors.PRESET: record.preset and record.preset._asdict()}
