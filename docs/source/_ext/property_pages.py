"""Image properties on pages: each is an object that search finds first."""
from __future__ import annotations

import json
import typing

import generated
import readers
from sphinx import addnodes
from sphinx.application import Sphinx

from nova_image_override.properties import book
from nova_image_override.properties import catalog
from nova_image_override.properties import property as property_module
from nova_image_override.properties.book import vocabulary

#: The type of object that a property is on pages.
OBJECT = 'image-property'


def _open() -> list[property_module.Property]:
    """Return the properties of the running Nova that can be permitted."""
    return [prop for prop in catalog.running().values()
            if not prop.record.never]


@generated.directive('property-list')
def property_list() -> generated.Lines:
    """Every property that can be permitted, by purpose."""
    runs = _runs()
    lines: list[str] = []
    for title, purpose in book.PURPOSES.items():
        entries = [
            line for prop in _open() if prop.field in purpose
            for line in _entry(prop, _best_seen(runs, prop.field))]
        if entries:
            lines += [f'.. rubric:: {title}', '', *entries]
    return lines


def _entry(prop: property_module.Property, seen: str) -> list[str]:
    acting = ', '.join(prop.record.acting) or '\u2013'
    return [
        f'.. {OBJECT}:: {prop.spelling}', '',
        f'   {prop.record.description}', '',
        f'   :Value: {_folded(prop)}',
        f'   :Acts with: {acting}',
        *_excluded(prop.record),
        f'   :Seen in: {seen}', '']


def _excluded(record: vocabulary.Record) -> list[str]:
    """Return why properties exclude each other, from both sides."""
    said = [f'{row.words} ({row.says})' for row in record.excludes] + [
        f'{other.name} {row.words} ({row.says})'
        for other in book.RECORDS.values() for row in other.excludes
        if row.name == record.name]
    return [f'   :Together: {"; ".join(said)}'.replace('*', r'\*')] * bool(said)


#: So many values are shown at once, more on request.
_VALUES_MAX = 8


def _folded(prop: property_module.Property) -> str:
    """Return the values of a field; a long list of them folded."""
    text = _literal_values(prop)
    if len(prop.values) <= _VALUES_MAX:
        return text
    return '\n      '.join([
        '', '.. raw:: html', '',
        f'   <details><summary>{len(prop.values)} values</summary>', '',
        text, '', '.. raw:: html', '', '   </details>'])


@generated.directive('driver-table')
def driver_table() -> generated.Lines:
    """What each driver and the scheduler do with each property."""
    columns = [name for name in vocabulary.PARTS
               if name != vocabulary.API]
    return generated.table(
        ['Property', *columns],
        ([f'``{prop.spelling}``', *(
            _cell(prop.record.reader(part), next(
                (row for row in readers.READERS.get(prop.field, ())
                 if row.part == part), None))
            for part in columns)]
         for prop in _open()), '22 13 25 10 10 8 12')


def _cell(cell: vocabulary.Reader | None, row: readers.Row | None) -> str:
    """Return the outcome of a cell, with its limits in words."""
    if row is None:
        return vocabulary.IGNORED
    limits = []
    if cell and cell.values is not None:
        limits.append(', '.join(f'``{value}``' for value in cell.values)
                      + f'; any other: {cell.otherwise}')
    if cell:
        limits += [
            f'{f"``{value}`` " if value else ""}needs ``{name}'
            f'{f"={wanted}" if wanted else ""}``'
            for value, (name, wanted) in cell.needs.items()]
    limits += filter(None, (cell and cell.note, row.note))
    outcome = cell.outcome if cell else row.outcome
    return f'{outcome}{": " if limits else ""}{"; ".join(limits)}'


@generated.directive('reader-table')
def reader_table() -> generated.Lines:
    """Nova's functions that read each property, and when."""
    return generated.table(
        ['Property', 'Part', 'Function of Nova', 'At'],
        ([f'``{prop.spelling}``', row.part, f'``{row.function}``',
          ', '.join(row.at)]
         for prop in _open()
         for row in readers.READERS.get(prop.field, ())),
        '24 12 34 30')


@generated.directive('seen-table')
def seen_table() -> generated.Lines:
    """What became of each value on the real cloud."""
    runs = _runs()
    rows = []
    for prop in catalog.running().values():
        groups: dict[tuple[str, ...], list[str]] = {}
        for value in _tried(runs, prop.field):
            cells = tuple(_became(run, prop.field, value) for run in runs)
            groups.setdefault(cells, []).append(value)
        rows += [[f'``{prop.spelling}``', ', '.join(
            f'``{_shortened(value)}``' for value in found), *cells]
            for cells, found in groups.items()]
    heads = ['Debian {debian}: {versions} (commit {commit})'.format(**run)
             for run in runs]
    return generated.table(['Property', 'Value', *heads], rows,
                           ' '.join(['24', '32', *['24'] * len(runs)]))


#: Why no value of a property that libvirt's driver acts on was seen to act.
_UNSEEN = {
    'hw_cpu_thread_policy': 'a plain guest is pinned like that where it was '
                            'tried; ``tests/integration/test_nfv.py`` shows '
                            'siblings',
    'hw_ephemeral_encryption': 'Nova 34 encrypts no disk of a libvirt host',
    'hw_floppy_bus': 'the one bus that can be built, ``fdc``, is what a guest '
                     'has anyway',
    'hw_mem_encryption_model': 'needs a processor that encrypts memory',
    'hw_pci_numa_affinity_policy': 'needs a PCI device for guests; what the '
                                   'scheduler is asked for was seen',
    'hw_time_hpet': 'Nova gives timers to guests of KVM only',
    'hw_vif_multiqueue_enabled': 'Nova gives queues to guests of KVM only; '
                                 'its refusal was seen',
    'os_require_quiesce': 'the snapshot of a guest without an agent was '
                          'refused, which is what it asks for'}


@generated.directive('unseen-table')
def unseen_table() -> generated.Lines:
    """What libvirt's driver acts on, and nobody has seen.

    :raises KeyError: there is no reason for one of them
    """
    runs = _runs()
    unseen = [prop for prop in _open() if 'libvirt' in prop.record.acting
              and _best_seen(runs, prop.field) not in _PLACES]
    return generated.table(['Property', 'Why'], (
        [f'``{prop.spelling}``', _UNSEEN[prop.field]] for prop in unseen),
        '30 70')


@generated.directive('together-table')
def together_table() -> generated.Lines:
    """What became of pairs of values, and of drives (testing/pairs)."""
    runs = [json.loads(path.read_text()) for path in sorted(
        generated.FIGURES.glob('*-debian*.json'))]
    return generated.table(['Family', 'With', 'What became of them'], ([
        f'``{run["family"]}``',
        'Debian {debian}: {versions} (commit {commit}, {date})'.format(
            **run),
        '; '.join(f'{name} {number:,}' for name, number in run.items()
                  if ': ' in name) + f'. {run["guests"]:,} guests, '
        f'{run["minutes"]} minutes'] for run in runs), '10 35 55')


@generated.directive('host-table')
def host_table() -> generated.Lines:
    """The values that only some of libvirt's hosts can build, or none."""
    rows = []
    for prop in catalog.running().values():
        hosts = {**prop.record.hosts, **{
            value: 'none' for value in prop.values if prop.record.outcome(
                'libvirt', value, {})[0] == vocabulary.ERROR}}
        groups: dict[str, list[str]] = {}
        for value in filter(hosts.get, prop.values or hosts):
            groups.setdefault(hosts[value], []).append(value)
        rows += [[f'``{prop.spelling}``', ', '.join(
            f'``{value}``' for value in found), told]
            for told, found in groups.items()]
    return generated.table(['Property', 'Values', 'Hosts'], rows,
                           '28 36 36')


#: Where a value can be seen, the best first.
_PLACES = ('guest', 'process', 'XML', 'API', 'outcome')


def _runs() -> list[dict[str, typing.Any]]:
    """Return the runs of tests/integration/properties.py."""
    runs = []
    for path in sorted(generated.FIGURES.glob('properties-*.jsonl')):
        head, *rows = map(json.loads, path.read_text().splitlines())
        runs.append({**head, 'rows': rows})
    return runs


def _groups(
    run: dict[str, typing.Any], field: str,
) -> list[dict[str, typing.Any]]:
    return [row for row in run['rows'] if row['property'] == field]


def _tried(runs: list[dict[str, typing.Any]], field: str) -> list[str]:
    return list(dict.fromkeys(
        value for run in runs for group in _groups(run, field)
        for value in group['values']))


def _became(run: dict[str, typing.Any], field: str, value: str) -> str:
    """Return what became of a value."""
    for group in _groups(run, field):
        if value in group['values']:
            if group['outcome'] == 'ACTIVE':
                return group['seen'] or 'nowhere'
            status, _, rest = group['outcome'].partition(' ')
            return f'{status} ``{rest}``'
    return '\u2013'


def _best_seen(runs: list[dict[str, typing.Any]], field: str) -> str:
    """Return the best place in which some value of a property was seen."""
    seen = {group['seen'] for run in runs for group in _groups(run, field)}
    return next((place for place in _PLACES if place in seen), '\u2013')


def _shortened(value: str) -> str:
    """Return a value that fits in a cell."""
    return value if len(value) < 30 else f'{value[:8]}\u2026'


def _literal_values(prop: property_module.Property) -> str:
    if isinstance(prop, property_module.Enumeration):
        return ', '.join(f'``{value}``' for value in prop.values)
    return prop.expects


@generated.directive('never-table')
def never_table() -> generated.Lines:
    """The properties that nobody may override."""
    return generated.table(
        ['Property', 'Meaning'],
        ([f'``{prop.field}``', prop.record.description]
         for prop in catalog.running().values()
         if prop.record.never), '40 60')


def _signature(
        env: typing.Any, spelling: str, node: addnodes.desc_signature) -> str:
    """Show a name; return what search finds, which takes ``.N`` for a name."""
    node += addnodes.desc_name(spelling, spelling)
    return spelling.removesuffix('.N')


def setup(app: Sphinx) -> dict[str, typing.Any]:
    """Register the type of object, and the directives."""
    app.add_object_type(OBJECT, 'prop', objname='image property',
                        parse_node=_signature)
    generated.add_directives(app)
    return {'parallel_read_safe': True}
