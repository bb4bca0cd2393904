"""Every image property that can be named: the book, and the running Nova.

Names, types and allowed values come from ``ImageMetaProps.fields`` of the
Nova with which this package runs; all else comes from
:mod:`nova_image_override.properties.book`. A field without a record there, of
a Nova that is newer than this package, can never be overridden. Validation,
JSON Schemas, discovery, rules and documentation all take properties from here.
"""
from __future__ import annotations

from collections.abc import Mapping
import functools
from typing import Any

from nova.objects import image_meta

from nova_image_override import errors
from nova_image_override.properties import book
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module
from nova_image_override.properties.book.vocabulary import Record
from nova_image_override.properties.property import Property

#: Legacy names that feed more than one field, which is why they are not in
#: ImageMetaProps._legacy_property_map (see _set_attr_from_legacy_names).
_MANY_TO_ONE = {'vmware_adaptertype': ('hw_disk_bus', 'hw_scsi_model')}

_IMAGES = 'the image\'s own, which no override replaces: '
_UNREAD = 'not an image property that Nova reads'

#: Names that users type and no property has, which Nova reads of the image
#: itself, or the host decides on -> the reason of a refusal.
REASONS: Mapping[str, str] = {
    'kernel_id': _IMAGES + 'boot from an image that has this kernel; its '
                 'arguments are os_command_line',
    'ramdisk_id': _IMAGES + 'boot from an image that has this ramdisk',
    'os_shutdown_timeout': _IMAGES + 'set it on the image',
    'cinder_encryption_key_id': _IMAGES + 'Cinder writes it',
    'cinder_img_volume_type': _UNREAD + ': name the volume type in the request '
                              '(block_device_mapping_v2)',
    **dict.fromkeys(('hw_gpu', 'hw_vgpu'),
                    _UNREAD + ': it is the flavor that asks for GPUs'),
    **dict.fromkeys(
        ('container_format', 'disk_format', 'min_disk', 'min_ram'),
        'an attribute of the image, not a property: no override replaces it'),
    **dict.fromkeys(
        ('cpu_mode', 'cpu_model', 'hw_cpu_mode', 'hw_cpu_model'),
        _UNREAD + ': the host decides on the CPU model ([libvirt] cpu_mode); '
        'require what the CPU can do with trait:NAME'),
}

#: The same -> the properties that are meant. A table, because a name that looks
#: alike can mean something else (hw_tpm is not hw_pmu).
MEANT: Mapping[str, str] = {
    misnomer: meant for meant, misnomers in {
        'hw_cdrom_bus': 'hw_cdrom',
        'hw_cpu_max_cores': 'hw_cpu_cores_max',
        'hw_cpu_max_sockets': 'hw_cpu_sockets_max',
        'hw_cpu_max_threads': 'hw_cpu_threads_max',
        'hw_disk_bus': 'hw_disk',
        'hw_firmware_type': 'boot_mode hw_boot_mode hw_firmware hw_uefi',
        'hw_machine_type': 'hw_machine machine_type',
        'hw_qemu_guest_agent': 'hw_guest_agent',
        'hw_rng_model': 'hw_rng',
        'hw_scsi_model': 'hw_scsi',
        'hw_sound_model': 'hw_sound',
        'hw_time_hpet': 'hw_hpet hw_time_hpet_enabled',
        'hw_tpm_model hw_tpm_version': 'hw_tpm hw_vtpm',
        'hw_usb_model': 'hw_usb',
        'hw_video_model hw_video_ram': 'hw_video',
        'hw_vif_model': 'hw_net_model hw_network_model hw_vif_type',
        'hw_vif_multiqueue_enabled': 'hw_multiqueue',
        'hw_viommu_model': 'hw_viommu',
        'hw_watchdog_action': 'hw_watchdog',
        'img_config_drive': 'config_drive hw_config_drive',
        'img_hide_hypervisor_id': 'hw_hide_hypervisor_id',
        'os_distro': 'os_distribution',
        'os_distro os_type': 'os_name',
        'os_secure_boot': 'hw_secure_boot hw_secureboot secure_boot',
    }.items() for misnomer in misnomers.split()}

#: How much alike a name and its misspelling are: less, and they are two words
#: (os_version, img_version).
_ALIKE = 0.83


class Catalog(dict[str, Property]):
    """The properties of one release of ``ImageMetaProps``, by field name.

    :param props: the class to read; the running Nova's by default
    """

    def __init__(self, props: Any = image_meta.ImageMetaProps) -> None:
        #: legacy name -> the fields that Nova fills from it
        self.legacy: dict[str, tuple[str, ...]] = {
            name: (field,)
            for name, field in props._legacy_property_map.items()}
        self.legacy.update(_MANY_TO_ONE)
        super().__init__({
            field: property_module.make(
                nova_field, field=field,
                record=book.RECORDS.get(field) or Record(
                    field, '', readers=(), never=True),
                family=families.FAMILIES.get(field),
                legacy={name: fields
                        for name, fields in sorted(self.legacy.items())
                        if field in fields})
            for field, nova_field in sorted(props.fields.items())})
        #: fields that the book does not know
        self.unknown = sorted(self.keys() - book.RECORDS.keys())

    def field_of(self, name: str) -> str | None:
        """Return the field that the property called NAME sets, if any.

        NAME is a spelling that requests use. Legacy names and the bare names
        of list fields are not: see :meth:`resolve`.
        """
        prop = self.get(name)
        if prop is not None:
            return None if prop.family else name
        return next((field for field, family in families.FAMILIES.items()
                     if field in self and family.has(name)), None)

    def resolve(self, name: str) -> Property:
        """Return the property that a request calls NAME.

        :raises errors.Invalid: NAME is not a property, or not the name to
            use; the reason says which one to use
        """
        field = self.field_of(name)
        if field is not None:
            return self[field]
        raise errors.Invalid([self._misnamed(name)])

    def _misnamed(self, name: str) -> errors.Problem:
        family = self[name].family if name in self else None
        if family:
            return errors.Problem(
                name, errors.LIST_FIELD,
                f'use {family.spelling}, one entry each, {family.limits}')
        if name in self.legacy:
            return errors.Problem(
                name, errors.LEGACY_NAME,
                'legacy name, use ' + ' or '.join(self.legacy[name]))
        return errors.Problem(
            name, errors.UNKNOWN,
            REASONS.get(name) or _UNREAD + self._suggestion(name))

    def _suggestion(self, name: str) -> str:
        lowered = name.strip().lower()
        for field, family in families.FAMILIES.items():
            if field in self and lowered.startswith((
                    family.prefix, family.prefix.replace(':', 's:'))):
                return f', the names are {family.spelling} with {family.limits}'
        # Only names that a person could have meant.
        if len(name) > 64:
            return ''
        meant = [each for each in MEANT.get(lowered, '').split()
                 if each in self]
        if meant:
            return f', did you mean {" or ".join(meant)}?'
        # Takes a second, which nova-api has already spent.
        from nova.api.validation.extra_specs import validators
        for at, char in enumerate(lowered):
            spec = f'{lowered[:at]}:{lowered[at + 1:]}'
            if char in ':_' and spec in validators.VALIDATORS and (
                    spec.replace(':', '_', 1) not in self):
                return f', only a flavor can have it: extra spec {spec}'
        return errors.did_you_mean(lowered, [
            prop.spelling for prop in self.values()
            if not prop.record.never], _ALIKE)


@functools.lru_cache(maxsize=1)
def running() -> Catalog:
    """Return the catalogue of the running Nova, made once."""
    return Catalog()
