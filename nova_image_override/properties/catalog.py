"""Every image property that can be named, made from the running Nova.

Names, types and allowed values come from ``ImageMetaProps.fields`` of the
Nova with which this package runs, so a new release needs no edit here;
ranges, units and descriptions come from
:mod:`nova_image_override.properties.descriptions`. Validation, JSON Schemas,
discovery, rules and documentation all take properties from here.
"""

import collections.abc
import difflib
import functools
import heapq
import itertools
import types
import typing

from nova.objects import image_meta
from oslo_versionedobjects import fields as field_types

from nova_image_override import errors
from nova_image_override.properties import descriptions
from nova_image_override.properties import drivers
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module

#: What the image is, not how the guest is built: never overridable.
NEVER = frozenset({
    'hw_ephemeral_encryption_secret_uuid',
    'img_bdm_v2',
    'img_block_device_mapping',
    'img_mappings',
    'img_owner_id',
    'img_root_device_name',
    'img_signature',
    'img_signature_certificate_uuid',
    'img_signature_hash_method',
    'img_signature_key_type',
})

#: Legacy names that Nova still reads straight from the image's properties, past
#: ImageMetaProps (nova/compute/api.py _inherit_properties_from_image): an
#: override must reach them too.
LEGACY_ALIASES: collections.abc.Mapping[str, str] = types.MappingProxyType({
    'hw_architecture': 'architecture',
    'hw_auto_disk_config': 'auto_disk_config',
    'hw_vm_mode': 'vm_mode',
})

#: Legacy names that feed more than one field, which is why they are not in
#: ImageMetaProps._legacy_property_map (see _set_attr_from_legacy_names).
_MANY_TO_ONE = {'vmware_adaptertype': ('hw_disk_bus', 'hw_scsi_model')}


class Catalog(collections.abc.Mapping[str, property_module.Property]):
    """The properties of one release of ``ImageMetaProps``, by field name.

    :param props: the class to read; the running Nova's by default
    """

    def __init__(self, props: typing.Any = image_meta.ImageMetaProps) -> None:
        #: legacy name -> the fields that Nova fills from it
        self.legacy: dict[str, tuple[str, ...]] = {
            name: (field,)
            for name, field in props._legacy_property_map.items()}
        self.legacy.update(_MANY_TO_ONE)
        self._fields: dict[str, property_module.Property] = {
            field: self._property(field, nova_field)
            for field, nova_field in sorted(props.fields.items())}

    def __getitem__(self, field: str) -> property_module.Property:
        return self._fields[field]

    def __iter__(self) -> collections.abc.Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def _property(
        self, field: str, nova_field: typing.Any,
    ) -> property_module.Property:
        details = descriptions.ROWS.get(
            field, descriptions.Row('', minimum=0, maximum=2**31 - 1))
        common: dict[str, typing.Any] = {
            'field': field, 'description': details.text,
            'family': families.FAMILIES.get(field),
            'legacy_names': tuple(sorted(
                name for name, fields in self.legacy.items()
                if field in fields)),
            'never': field in NEVER,
            'drivers': tuple(drivers.acting(field))}
        integer: dict[str, typing.Any] = {'minimum': details.minimum or 0,
                   'maximum': details.maximum or 0}
        text: dict[str, typing.Any] = {
            'pattern': details.pattern, 'expected': details.expects}
        if field == families.TRAITS.field:
            return property_module.Enumeration(
                **common, values=('required',))
        if isinstance(nova_field, field_types.FlexibleBooleanField):
            return property_module.Boolean(**common)
        if (isinstance(nova_field, field_types.IntegerField)
                or field == families.NUMA_MEM.field):
            return property_module.Integer(**common, **integer)
        if isinstance(nova_field, field_types.BaseEnumField):
            return property_module.Enumeration(
                **common, values=tuple(nova_field.valid_values),
                nova_field=nova_field)
        if isinstance(nova_field, field_types.VersionPredicateField):
            return property_module.Parsed(
                **common, **text, nova_field=nova_field)
        if not (isinstance(nova_field, field_types.StringField)
                or field in families.FAMILIES):
            # A type that this module cannot spell as text (a list, an
            # object): a later Nova's new field stays closed until it can.
            return property_module.Text(**{**common, 'never': True}, **text)
        if details.cpu_list:
            return property_module.CpuList(**common, **text)
        if details.size:
            return property_module.Size(**common, **text)
        return property_module.Text(**common, **text)

    def field_of(self, name: str) -> str | None:
        """Return the field that the property called NAME sets, if any.

        NAME is a spelling that requests use. Legacy names and the bare names
        of list fields are not: see :meth:`resolve`.
        """
        prop = self._fields.get(name)
        if prop is not None:
            return None if prop.family else name
        for field, family in families.FAMILIES.items():
            if field in self._fields and family.has(name):
                return field
        return None

    def resolve(self, name: str) -> property_module.Property:
        """Return the property that a request calls NAME.

        :raises errors.Invalid: NAME is not a property, or not the name to
            use; the reason says which one to use
        """
        field = self.field_of(name)
        if field is not None:
            return self._fields[field]
        raise errors.Invalid([self._misnamed(name)])

    def _misnamed(self, name: str) -> errors.Problem:
        family = self._fields[name].family if name in self._fields else None
        if family:
            return errors.Problem(
                name, errors.LIST_FIELD,
                f'use {family.spelling}, one entry each{family.limits}')
        if name in self.legacy:
            return errors.Problem(
                name, errors.LEGACY_NAME,
                'legacy name, use ' + ' or '.join(self.legacy[name]))
        return errors.Problem(
            name, errors.UNKNOWN,
            'not an image property that Nova reads' + self._suggestion(name))

    def _suggestion(self, name: str) -> str:
        lowered = name.strip().lower()
        for field, family in families.FAMILIES.items():
            if field in self._fields and lowered.startswith(family.prefix):
                return f', the names are {family.spelling} with {family.hint}'
        # Only names a person could have meant; bounds the time spent.
        near = _nearest(lowered, tuple(
            field for field, prop in self._fields.items()
            if not prop.never and not prop.family)) \
            if len(name) <= 64 else None
        return f', did you mean {near}?' if near else ''


@functools.lru_cache(maxsize=1024)
def _nearest(name: str, names: tuple[str, ...]) -> str | None:
    # difflib takes half a millisecond for all names, and a request can have
    # 128 wrong ones, so it checks only those that share most with NAME.
    pairs = _pairs(name)
    likely = heapq.nlargest(4, [
        (len(pairs & others) / (len(pairs) + len(others)), other)
        for other, others in _pairs_of(names)])
    found = difflib.get_close_matches(
        name, [other for _, other in likely], n=1, cutoff=0.75)
    return found[0] if found else None


def _pairs(name: str) -> frozenset[str]:
    """Return each pair of adjacent characters in NAME."""
    return frozenset(map(''.join, itertools.pairwise(name)))


@functools.lru_cache(maxsize=1)
def _pairs_of(names: tuple[str, ...]) -> list[tuple[str, frozenset[str]]]:
    return [(name, _pairs(name)) for name in names]


@functools.lru_cache(maxsize=1)
def running() -> Catalog:
    """Return the catalogue of the running Nova, made once."""
    return Catalog()
