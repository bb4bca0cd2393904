"""The overrides that a server has are to become others."""
from __future__ import annotations

import dataclasses

from nova_image_override import override
from nova_image_override import override_record as record

_ABSENT = object()


@dataclasses.dataclass(frozen=True)
class Change:
    """One change of a server's overrides.

    :ivar before: the overrides in force; none for a server that is created
    :ivar after: those that are to be in force
    """

    before: override.Overrides
    after: override.Overrides

    @classmethod
    def of(
        cls, system_metadata: record.SystemMetadata,
        asked: override.Overrides | None,
    ) -> Change:
        """Return the change of a server that exists.

        :param asked: the request's overrides; None without the parameter,
            which keeps those in force
        """
        before = record.in_force(system_metadata)
        return cls(before, before if asked is None else asked)

    @property
    def names(self) -> set[str]:
        """Names of the overrides before and after it."""
        return {*self.before, *self.after}

    @property
    def differing(self) -> list[str]:
        """Names of the overrides that are added, removed or changed."""
        return sorted(name for name in self.names
                      if self.before.get(name, _ABSENT)
                      != self.after.get(name, _ABSENT))

    def new(
        self, merger: override.Merger, base: override.ImageProperties,
    ) -> override.Overrides:
        """Return what is new over an image that stays the same.

        An override is new when what it writes is: dropping one can change
        what another one writes. Going back to the image's own value is not.

        :param base: the image's own properties
        """
        return {
            name: value for name, value in self.after.items()
            if name not in self.before
            or merger.written(base, self.before, name)
            != merger.written(base, self.after, name)}
