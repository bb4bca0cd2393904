"""Every image property that can be named, made from the running Nova.

Names, types and allowed values come from ``ImageMetaProps.fields`` of the
Nova beside which this package runs, so a new release needs no edit here;
ranges, units and descriptions come from
:mod:`nova_image_override.descriptions`. Everything that has to know a property
(validator, JSON Schema, discovery, rules, documentation) asks this module.
"""

import collections.abc
import dataclasses
import difflib
import functools
import heapq
import itertools
import re
import types
import typing

from nova.objects import image_meta
from oslo_utils import strutils

from nova_image_override import cpu_lists
from nova_image_override import descriptions
from nova_image_override import errors

#: Nova stores a property's value in a String(255) and cuts longer ones in
#: silence (nova/utils.py get_system_metadata_from_image).
VALUE_BYTES_MAX = 255

#: Prefixes of the rows that say which properties were overridden, and which
#: were removed. Unmodified Nova leaves keys that begin with "os_glance" out
#: of snapshots (nova/compute/utils.py NON_INHERITABLE_IMAGE_NAMESPACES).
RECORD_PREFIX = 'os_glance_override:'
REMOVED_PREFIX = 'os_glance_override_removed:'

#: A name must fit with its prefix into the String(255) key of a row.
NAME_LENGTH_MAX = 255 - len(REMOVED_PREFIX)

#: ImageMetaProps.NUMA_NODES_MAX: from_dict reads no further index.
NUMA_NODES_MAX: int = image_meta.ImageMetaProps.NUMA_NODES_MAX

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

#: Legacy names that Nova still reads past ImageMetaProps, straight from the
#: image's properties (nova/compute/api.py _inherit_properties_from_image):
#: an override must reach them too.
TWINS: collections.abc.Mapping[str, str] = types.MappingProxyType({
    'hw_architecture': 'architecture',
    'hw_auto_disk_config': 'auto_disk_config',
    'hw_vm_mode': 'vm_mode',
})

#: Legacy names that feed more than one field, which is why they are not in
#: ImageMetaProps._legacy_property_map (see _set_attr_from_legacy_names).
_MANY_TO_ONE = {'vmware_adaptertype': ('hw_disk_bus', 'hw_scsi_model')}

BOOLEAN = 'boolean'
INTEGER = 'integer'
ENUM = 'enum'
STRING = 'string'

# An index as ImageMetaProps._set_numa_cpus spells it ("%d"), below 128.
INDEX = '(?:0|[1-9][0-9]?|1[01][0-9]|12[0-7])'
_TRAIT_CHARS = NAME_LENGTH_MAX - len('trait:')


@dataclasses.dataclass(frozen=True)
class Property:
    """One image property, or one family of them.

    :ivar field: the field of ``ImageMetaProps``: the canonical name under
        which rules judge it
    :ivar kind: one of BOOLEAN, INTEGER, ENUM, STRING
    :ivar values: allowed values, where they can be listed
    :ivar row: description, range and grammar
    :ivar spelling: how requests name it: the field, or a family such as
        ``hw_numa_cpus.N`` and ``trait:NAME``
    :ivar name_pattern: regular expression of the family's names, or None
    :ivar legacy_names: other names under which Nova reads the same field
    :ivar never: no deployment can permit it to be overridden
    """

    field: str
    kind: str
    values: tuple[str, ...]
    row: descriptions.Row
    spelling: str
    name_pattern: str | None = None
    legacy_names: tuple[str, ...] = ()
    never: bool = False
    nova_field: typing.Any = dataclasses.field(
        default=None, compare=False, repr=False)

    @property
    def expects(self) -> str:
        """What a right value looks like, in words."""
        if self.kind == BOOLEAN:
            return 'true or false'
        if self.kind == INTEGER:
            return f'an integer from {self.row.minimum} to {self.row.maximum}'
        if self.values:
            return 'one of ' + ', '.join(self.values)
        return self.row.expects or 'text'

    def canonical(self, value: str) -> str:
        """Return the spelling of VALUE that is stored.

        Folds only what Nova reads as the same value: spellings of booleans
        (oslo.utils' strict ones), leading zeros, case and aliases of
        enumerations (``amd64`` is ``x86_64``), units of sizes. A value that
        cannot be folded comes back as it is, for the schema to refuse.
        """
        if not value.isascii():
            # Lower case would fold look-alikes: the Kelvin sign is a "k".
            return value
        if self.kind == BOOLEAN:
            folded = value.lower()
            if folded in strutils.TRUE_STRINGS:
                return 'true'
            if folded in strutils.FALSE_STRINGS:
                return 'false'
        elif self.kind == INTEGER:
            if re.fullmatch('0+[1-9][0-9]*|00+', value):
                return value.lstrip('0') or '0'
        elif self.kind == ENUM and self.nova_field is not None:
            try:
                return str(self.nova_field.coerce(None, self.field, value))
            except ValueError:
                pass
        elif self.row.size:
            # nova/virt/hardware.py _get_numa_pagesize_constraint: units are
            # powers of 1024 with or without the "i".
            size = re.fullmatch('([1-9][0-9]{0,5})([KMG])i?B', value)
            if size:
                return str(int(size[1]) << 10 * 'KMG'.index(size[2]))
        return value

    def check(self, value: str) -> str | None:
        """Judge what a JSON Schema cannot say of the canonical VALUE.

        :returns: the reason why VALUE is wrong, or None
        """
        if self.kind == INTEGER:
            # The schema's pattern has bounded the number of digits.
            if not (self.row.minimum or 0) <= int(value) <= (
                    self.row.maximum or 0):
                return f'must be {self.expects}'
        elif self.row.cpu_list:
            return _check_cpu_list(value, self.row)
        elif self.kind == STRING and self.nova_field is not None:
            # VersionPredicate is the one string type with a grammar of its
            # own; it is judged by Nova's.
            try:
                self.nova_field.coerce(None, self.field, value)
            except ValueError:
                return f'must be {self.expects}'
        return None


def bounded(cpu_list: str) -> bool:
    """Say whether a CPU list, of whatever form, can be expanded safely."""
    # Nova reads "1_0" as 10.
    return all(len(digits) <= 4 and int(digits) <= descriptions.CPU_ID_MAX
               for digits in re.findall(r'0*(\d+)', cpu_list)) and (
        cpu_lists.highest(cpu_list) <= descriptions.CPU_ID_MAX)


def _check_cpu_list(value: str, row: descriptions.Row) -> str | None:
    """Judge a CPU list without expanding it."""
    if not bounded(value):
        return f'must be {row.expects}'
    for item in value.split(','):
        first, _, last = item.removeprefix('^').partition('-')
        if int(first) > int(last or first):
            return f'range {item} ends before it begins'
    return None


class Catalog(collections.abc.Mapping[str, Property]):
    """The properties of one release of ``ImageMetaProps``, by field name.

    :param props: the class to read; the running Nova's by default
    """

    def __init__(self, props: typing.Any = image_meta.ImageMetaProps) -> None:
        #: legacy name -> the fields that Nova fills from it
        self.legacy: dict[str, tuple[str, ...]] = {
            name: (field,)
            for name, field in props._legacy_property_map.items()}
        self.legacy.update(_MANY_TO_ONE)
        self._fields: dict[str, Property] = {
            field: self._property(field, nova_field)
            for field, nova_field in sorted(props.fields.items())}
        self._families = {
            field: re.compile(prop.name_pattern)
            for field, prop in self._fields.items() if prop.name_pattern}

    def __getitem__(self, field: str) -> Property:
        return self._fields[field]

    def __iter__(self) -> collections.abc.Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def _property(self, field: str, nova_field: typing.Any) -> Property:
        row = descriptions.ROWS.get(
            field, descriptions.Row('', minimum=0, maximum=2**31 - 1))
        spelling, pattern = field, None
        kind, keep = STRING, None
        values: tuple[str, ...] = ()
        never = field in NEVER
        # Told by behaviour and class name rather than by importing Nova's
        # field classes: valid_values is what makes an enumeration.
        type_name = type(nova_field).__name__
        if field in ('hw_numa_cpus', 'hw_numa_mem'):
            spelling, pattern = f'{field}.N', rf'^{field}\.{INDEX}$'
            kind = STRING if field == 'hw_numa_cpus' else INTEGER
        elif field == 'traits_required':
            spelling = 'trait:NAME'
            pattern = rf'^trait:[A-Z0-9_]{{1,{_TRAIT_CHARS}}}$'
            kind, values = ENUM, ('required',)
        elif type_name == 'FlexibleBooleanField':
            kind, values = BOOLEAN, ('true', 'false')
        elif type_name == 'IntegerField':
            kind = INTEGER
        elif hasattr(nova_field, 'valid_values'):
            kind, values, keep = ENUM, tuple(nova_field.valid_values), \
                nova_field
        elif type_name == 'VersionPredicateField':
            keep = nova_field
        elif type_name != 'StringField':
            # A type that this module cannot spell as text (a list, an
            # object): a later Nova's new field stays closed until it can.
            never = True
        return Property(
            field=field, kind=kind, values=values, row=row, spelling=spelling,
            name_pattern=pattern, never=never, nova_field=keep,
            legacy_names=tuple(sorted(
                name for name, fields in self.legacy.items()
                if field in fields)))

    def field_of(self, name: str) -> str | None:
        """Return the field that the property called NAME sets, if any.

        NAME is a spelling that requests use. Legacy names and the bare names
        of list fields are none: see :meth:`resolve`.
        """
        if name in self._fields:
            return None if name in self._families else name
        for field, pattern in self._families.items():
            if pattern.fullmatch(name):
                return field
        return None

    def resolve(self, name: str) -> Property:
        """Return the property that a request calls NAME.

        :raises errors.Invalid: NAME is not a property, or not the name to
            use; the reason says which one is
        """
        field = self.field_of(name)
        if field is not None:
            return self._fields[field]
        raise errors.Invalid([self._misnamed(name)])

    def _misnamed(self, name: str) -> errors.Problem:
        if name in self._families:
            spelling = self._fields[name].spelling
            return errors.Problem(
                name, errors.LIST_FIELD,
                f'use {spelling}, one entry each'
                + (f', N from 0 to {NUMA_NODES_MAX - 1}'
                   if spelling.endswith('.N') else ''))
        if name in self.legacy:
            return errors.Problem(
                name, errors.LEGACY_NAME,
                'legacy name, use ' + ' or '.join(self.legacy[name]))
        return errors.Problem(
            name, errors.UNKNOWN,
            'not an image property that Nova reads' + self._suggestion(name))

    def _suggestion(self, name: str) -> str:
        lowered = name.strip().lower()
        for prop in self._fields.values():
            stem = prop.spelling.removesuffix('NAME').removesuffix('N')
            if prop.name_pattern and lowered.startswith(stem):
                return f', the names are {prop.spelling}' + (
                    f' with N from 0 to {NUMA_NODES_MAX - 1}, no leading zeros'
                    if prop.spelling.endswith('.N') else
                    f' with up to {_TRAIT_CHARS} of A-Z, 0-9 and _')
        # Only names a person could have meant; bounds the time spent.
        near = _nearest(lowered, tuple(
            field for field, prop in self._fields.items()
            if not prop.never and not prop.name_pattern)) \
            if len(name) <= 64 else None
        return f', did you mean {near}?' if near else ''


@functools.lru_cache(maxsize=1024)
def _nearest(name: str, names: tuple[str, ...]) -> str | None:
    # difflib takes half a millisecond for all names, and a request can have
    # 128 wrong ones: it judges those alone that share most with NAME.
    pairs = _pairs(name)
    likely = heapq.nlargest(4, [
        (len(pairs & others) / (len(pairs) + len(others)), other)
        for other, others in _pairs_of(names)])
    found = difflib.get_close_matches(
        name, [other for _, other in likely], n=1, cutoff=0.75)
    return found[0] if found else None


def _pairs(name: str) -> frozenset[str]:
    """Return each two characters that stand side by side in NAME."""
    return frozenset(map(''.join, itertools.pairwise(name)))


@functools.lru_cache(maxsize=1)
def _pairs_of(names: tuple[str, ...]) -> list[tuple[str, frozenset[str]]]:
    return [(name, _pairs(name)) for name in names]


@functools.lru_cache(maxsize=1)
def running() -> Catalog:
    """Return the catalogue of the running Nova, made once."""
    return Catalog()
