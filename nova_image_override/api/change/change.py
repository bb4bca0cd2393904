"""The overrides that a server has are to become others."""
from __future__ import annotations

import dataclasses

from nova_image_override import override
from nova_image_override import override_record as record
from nova_image_override.authorization.presets import Preset
from nova_image_override.properties.catalog import Catalog


@dataclasses.dataclass(frozen=True)
class Change:
    """One change of a server's overrides.

    :ivar before: the overrides in force; none for a server that is created
    :ivar after: those that are to be in force
    :ivar preset: the preset that they come with
    :ivar named: the same, if it is the request that names it
    """

    before: override.Overrides
    after: override.Overrides
    preset: record.UsedPreset | None = None
    named: Preset | None = None

    @classmethod
    def of(
        cls, system_metadata: record.SystemMetadata,
        asked: override.Overrides | None, named: Preset | None = None,
    ) -> Change:
        """Return the change of a server that exists.

        :param asked: the request's overrides; None without the parameter,
            which keeps those in force
        :param named: the preset that the request names
        """
        before = record.in_force(system_metadata)
        if asked is None:
            return cls(before, before, record.preset(system_metadata))
        return cls(before, asked, named.used if named else None, named)

    def on(
        self, catalog: Catalog, base: override.ImageProperties,
    ) -> Change:
        """Return the change of a server whose image has the properties BASE.

        To remove what only the preset would set is to take it out of the
        preset.
        """
        if self.named is None:
            return self
        after = {
            name: value for name, value in self.after.items()
            if value is not None or self.named.properties.get(name) is None
            or override.image_value(catalog, base, name) is not None}
        return dataclasses.replace(
            self, after=after, preset=self.preset if after else None)

    @property
    def names(self) -> set[str]:
        """Names of the overrides before and after it."""
        return {*self.before, *self.after}

    @property
    def differing(self) -> list[str]:
        """Names of the overrides that are added, removed or changed."""
        return sorted({
            name for name, _ in self.before.items() ^ self.after.items()})

    def new(
        self, catalog: Catalog, base: override.ImageProperties,
    ) -> override.Overrides:
        """Return what is new over an image that stays the same.

        An override is new when what it writes is: dropping one can change
        what another one writes. Going back to the image's own value is not.

        :param base: the image's own properties
        """
        return {
            name: value for name, value in self.after.items()
            if name not in self.before
            or override.written(catalog, base, self.before, name)
            != override.written(catalog, base, self.after, name)}
