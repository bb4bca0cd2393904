"""A server as its system metadata has it: its overrides and its image.

:mod:`nova_image_override.metadata_keys` says how it is stored.
"""
from __future__ import annotations

from collections.abc import Collection, Mapping
import dataclasses
import functools
from typing import Any, Optional

from nova import utils as nova_utils

from nova_image_override import metadata_keys as keys
from nova_image_override.override import Override, Overrides, UsedPreset, Values
from nova_image_override.properties import book
from nova_image_override.properties import catalog

#: A server's system metadata, as ``Instance.system_metadata`` holds it.
SystemMetadata = Mapping[str, Optional[str]]

#: Stored by Nova of an image besides its properties, with the same prefix
#: (nova/utils.py SM_INHERITABLE_KEYS).
_NO_PROPERTIES = frozenset((
    'base_image_ref', 'container_format', 'disk_format', 'min_disk', 'min_ram'))

_ARCHITECTURE = frozenset({'hw_architecture', 'hw_emulation_architecture'})

#: Properties that nova-compute stores a default of, with the server alone
#: (LibvirtDriver.REGISTER_IMAGE_PROPERTY_DEFAULTS) -> those that it follows
#: from (blockinfo.get_disk_bus_for_device_type, utils.get_machine_type). The
#: disks have been given their bus, which stays.
DEFAULTS = {
    'hw_cdrom_bus': _ARCHITECTURE | {'hw_machine_type'},
    'hw_disk_bus': frozenset(),
    **dict.fromkeys(
        ('hw_input_bus', 'hw_machine_type', 'hw_pointer_model',
         'hw_video_model', 'hw_vif_model'), _ARCHITECTURE)}


@dataclasses.dataclass(frozen=True)
class ServerRecord:
    """What is stored of a server's overrides, read once.

    :ivar metadata: the server's system metadata
    :ivar rows: the properties that record overrides, in the order in which
        they are stored: name -> whether it was removed, and the image's own
        value as it is stored
    :ivar preset: the preset that the overrides came with
    :ivar unfinished: what has not been stored everywhere, as far as is known:
        field -> the bus that disks come from, or ''; the field '' stands for
        the whole image
    :ivar shelved_image: the ID of the shelved image that has properties of
        before a change
    """

    metadata: SystemMetadata
    rows: Mapping[str, tuple[bool, str]]
    preset: UsedPreset | None = None
    unfinished: Mapping[str, str] = dataclasses.field(default_factory=dict)
    shelved_image: str | None = None

    @classmethod
    def of(cls, instance: Any) -> ServerRecord:
        """Return the record of ``nova.objects.Instance``."""
        return cls.read(instance.system_metadata)

    @classmethod
    def read(cls, metadata: SystemMetadata) -> ServerRecord:
        """Return the record in METADATA."""
        was_set: dict[str, tuple[bool, str]] = {}
        removed: dict[str, tuple[bool, str]] = {}
        presets: list[UsedPreset] = []
        unfinished: dict[str, str] = {}
        shelved_image = None
        for key, stored in metadata.items():
            name, value = key.removeprefix(keys.IMAGE_PREFIX), stored or ''
            if name == key or not keys.is_property(name):
                continue
            if name == keys.OFFLOADED:
                shelved_image = value
            elif name.startswith(keys.UNFINISHED):
                unfinished[name.removeprefix(keys.UNFINISHED)[1:]] = value
            elif name.startswith(keys.PRESET_PREFIX):
                presets.append(UsedPreset(
                    name.removeprefix(keys.PRESET_PREFIX), value))
            elif name.startswith(keys.SET_PREFIX):
                was_set[name.removeprefix(keys.SET_PREFIX)] = False, value
            else:
                removed[name.removeprefix(keys.REMOVED_PREFIX)] = True, value
        return cls(metadata, {**was_set, **removed},
                   min(presets, default=None), unfinished, shelved_image)

    @property
    def counts(self) -> bool:
        """Whether the stored properties take precedence over the image's.

        So they do if the server has overrides, or had some when it was shelved.
        """
        return bool(self.rows or self.preset or self.unfinished
                    or self.shelved_image is not None)

    @property
    def shelved_image_is_older(self) -> bool:
        """Whether the server was changed since its shelved image was made."""
        return self.shelved_image is not None and (
            self.shelved_image == self.metadata.get('shelved_image_id'))

    # --- its overrides ------------------------------------------------------

    @functools.cached_property
    def in_force(self) -> Values:
        """The overrides by name: the requested ones, with values in force.

        A later ``nova-manage image_property set`` by an operator shows. A
        removed property is None even where nova-compute has filled in its
        default since, as it does for the machine type and device models that
        an image does not set
        (LibvirtDriver._register_undefined_instance_details). One that was set
        and whose value is gone all the same is not among them.
        """
        return {name: None if is_removed else self._stored(name)
                for name, (is_removed, _) in self.rows.items()
                if is_removed or self._stored(name) is not None}

    @functools.cached_property
    def overrides(self) -> Overrides:
        """The overrides in force; errors.Invalid if this Nova lacks one.

        :raises nova_image_override.errors.Invalid: this Nova has no such
            property
        """
        return Overrides(tuple(
            Override(catalog.running().resolve(name), name, value)
            for name, value in self.in_force.items()),
            self.preset, is_kept=True)

    @property
    def image_values(self) -> Values:
        """The image's own value of each property that is overridden."""
        return {name: own.removeprefix('=') if own else None
                for name, (_, own) in self.rows.items()}

    def set_after_removal(self, among: Collection[str]) -> dict[str, str]:
        """Return those AMONG the removed that have a value all the same.

        The value is nova-compute's default (see :attr:`in_force`), or an
        operator has set it with ``nova-manage image_property set``.
        """
        return {
            name: value for name, (is_removed, _) in self.rows.items()
            if is_removed and name in among
            and (value := self._stored(name)) is not None}

    def _stored(self, name: str) -> str | None:
        return self.metadata.get(keys.IMAGE_PREFIX + name)

    # --- its image ----------------------------------------------------------

    @functools.cached_property
    def stored(self) -> dict[str, Any]:
        """The image properties that are stored, with the record."""
        return {
            name: value for key, value in self.metadata.items()
            if (name := key.removeprefix(keys.IMAGE_PREFIX)) != key
            and name not in _NO_PROPERTIES}

    @functools.cached_property
    def image(self) -> dict[str, Any]:
        """Metadata of the server's image, as its hard reboot reads it."""
        image: dict[str, Any] = nova_utils.get_image_from_system_metadata({
            key: value for key, value in self.metadata.items()
            if key.startswith(keys.IMAGE_PREFIX) and not keys.is_property(
                key.removeprefix(keys.IMAGE_PREFIX))})
        return image

    @property
    def properties(self) -> dict[str, Any]:
        """The image properties, as its hard reboot reads them."""
        return dict(self.image['properties'])

    @functools.cached_property
    def own_properties(self) -> dict[str, Any]:
        """The image properties as its image has them, without overrides."""
        result = self.properties
        for name, value in self.image_values.items():
            result.pop(name, None)
            record = book.RECORDS.get(name)
            if record and record.read_as:
                result.pop(record.read_as, None)
            if value is not None:
                result[name] = value
        return result

    def over(self, boot_image: dict[str, Any]) -> dict[str, Any]:
        """Return BOOT_IMAGE as a server with overrides was built from it."""
        return {**boot_image, 'properties': self.properties} \
            if self.counts else boot_image

    def over_snapshot(self, snapshot: dict[str, Any]) -> dict[str, Any]:
        """Return SNAPSHOT as a server with overrides is built from it.

        The disk in it has the type that the driver gave it, whatever the type
        of the disk that the server was booted from.
        """
        result = self.over(snapshot)
        # nova/virt/vmwareapi/images.py upload_image_stream_optimized, under
        # the legacy name. Nova reads the current one if there are both.
        written = snapshot['properties'].get('vmware_disktype')
        if written and result is not snapshot:
            result['properties']['hw_disk_type'] = written
        return result

    # --- system metadata to be stored ---------------------------------------

    def with_properties(
        self, properties: Mapping[str, Any],
    ) -> dict[str, str | None]:
        """Return the system metadata with other image properties."""
        gone = {keys.IMAGE_PREFIX + name for name in self.stored}
        return {
            **{key: value for key, value in self.metadata.items()
               if key not in gone},
            **{keys.IMAGE_PREFIX + name: value
               for name, value in properties.items()}}

    def finished(self) -> dict[str, str | None]:
        """Return the system metadata without what is unfinished."""
        prefix = keys.IMAGE_PREFIX + keys.UNFINISHED
        return {key: value for key, value in self.metadata.items()
                if not key.startswith(prefix)}
