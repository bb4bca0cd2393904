"""For each property, the values to try: all allowed ones, and the boundaries.
"""

import collections.abc
import dataclasses
import hashlib

from nova_image_override import metadata_keys
from nova_image_override.properties import book
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module
from nova_image_override.properties.book import vocabulary

CATALOG = catalog_module.running()

#: Values of free text: those that are accepted, and those that are not.
TEXTS: collections.abc.Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    'hw_auto_disk_config': (('true', 'false', 'disabled'), ('auto',)),
    'hw_cpu_realtime_mask': (('0', '^0', '0-1', '^0,1'),
                             ('x', '0-', '1-0', '0-4096', '0 ,1')),
    'hw_disk_type': (('sparse', 'preallocated'), ('a b', '-a')),
    'hw_machine_type': (('q35', 'pc'), ('q 35', '')),
    'hw_mem_page_size': (('small', 'large', 'any', '4', '2048', '2MB'),
                         ('tiny', '0', '2TB', '2 MB')),
    'hw_numa_cpus': (('0', '0-1', '0,1'), ('', '0-4096', '1-0', 'a')),
    'img_hv_requested_version': (('>=1.0', '>=1.0,<99.0'),
                                 ('1.0', '=>1', '>=1.0;<2')),
    'os_admin_user': (('root', 'Administrator'), ('', 'a\nb')),
    'os_command_line': (('console=ttyS0', 'a' * 255), ('', 'a' * 256)),
    'os_distro': (('ubuntu22.04', 'é' * 127), ('', 'é' * 128)),
}


def taken(prop: property_module.Property) -> list[str]:
    """Return values of PROP that requests may send: all, or the ends."""
    if isinstance(prop, property_module.Integer):
        low, high = prop.record.limits.minimum, prop.record.limits.maximum
        return list(dict.fromkeys(
            str(number) for number in (low, low + 1, high)))
    if prop.values:
        return list(prop.values)
    return list(TEXTS[prop.field][0])


def wrong(prop: property_module.Property) -> list[str]:
    """Return values of PROP just beyond what is accepted."""
    if isinstance(prop, property_module.Integer):
        low, high = prop.record.limits.minimum, prop.record.limits.maximum
        return [str(low - 1), str(high + 1), '', '1.0', '0x1', ' 1']
    if isinstance(prop, property_module.Boolean):
        return ['', 'maybe', '2', 'true ']
    if prop.values:
        return ['', 'bogus', prop.values[0] + 'x']
    return list(TEXTS[prop.field][1])


def names(prop: property_module.Property) -> list[str]:
    """Return the names under which requests set PROP, a family's ends."""
    if prop.spelling.endswith('.N'):
        return [f'{prop.field}.{n}'
                for n in (0, 1, families.NUMA_NODES_MAX - 1)]
    if prop.spelling == 'trait:NAME':
        return ['trait:CUSTOM_GOLD', 'trait:HW_CPU_X86_AVX2', 'trait:'
                + 'A' * (metadata_keys.NAME_LENGTH_MAX - len('trait:'))]
    return [prop.field]


def misspelt() -> dict[str, str]:
    """Return names that no request may use, with the code that says so."""
    found = dict.fromkeys(CATALOG.legacy, 'legacy_name')
    for prop in CATALOG.values():
        if prop.family:
            found[prop.field] = 'list_field'
        else:
            for spoilt in (prop.field.upper(), prop.field + ' ',
                           prop.field + '\0', 'image_' + prop.field,
                           prop.field.replace('_', '-'),
                           # A look-alike, and what NFKC would make of it.
                           prop.field.replace('_', '\uff3f')):
                found[spoilt] = 'unknown'
    for family in ('hw_numa_cpus', 'hw_numa_mem'):
        for index in ('00', '01', '128', '-1', '+1', ' 1', '１', 'x', '',
                      '1.0'):
            found[f'{family}.{index}'] = 'unknown'
    for trait in ('', 'lower', 'A B', 'CUSTOM_é', 'A\n', 'A' * 300):
        found[f'trait:{trait}'] = 'unknown'
    return found


def book_digest() -> str:
    """Return what changes with any row of the book about libvirt's guests.

    Words of a row can change: only what it decides counts.
    """
    return hashlib.sha256(repr([
        (record.name, record.reader('libvirt'), record.hosts, [
            dataclasses.replace(row, says='', advice='')
            for row in record.excludes
            if row.outcome != vocabulary.UNSCHEDULED])
        for record in book.RECORDS.values()]).encode()).hexdigest()[:16]
