"""What the documentation takes from the code, so that it cannot drift.

Directives ``property-table``, ``seen-table``, ``driver-table``,
``reader-table``, ``error-codes``, ``version-history``, ``seam-table``,
``override-table``, ``proof-figures``, ``exchange`` and ``package-notes``, and
the role ``test``.
"""
from __future__ import annotations

import importlib
import inspect
import json
import pathlib
import re
import typing

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.parsers.rst import roles
from reno import sphinxext as reno
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import docutils

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.nova_interfaces import interface
from nova_image_override.properties import book
from nova_image_override.properties import catalog
from nova_image_override.properties import property as property_module
from nova_image_override.properties.book import vocabulary

_SECTION = re.compile(r'# --- (\d{3}): ')
_CONSTANT = re.compile(r"([A-Z_]+) = '(\w+)'")


class CodeDirective(docutils.SphinxDirective):
    """Writes reStructuredText made from the code where it stands."""

    def rst(self) -> list[str]:
        """Return the lines to write."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Parse the lines in place."""
        return self.parse_text_to_nodes('\n'.join(self.rst()))


def table(head: list[str], rows: typing.Iterable[list[str]],
          widths: str) -> list[str]:
    """Return a list-table."""
    lines = ['.. list-table::', '   :header-rows: 1', f'   :widths: {widths}',
             '']
    for row in [head, *rows]:
        for place, cell in enumerate(row):
            lines.append(f'   {" " if place else "*"} - {cell}')
    return [*lines, '']


class PropertyTable(CodeDirective):
    """Every property that can be permitted, from the running Nova."""

    def rst(self) -> list[str]:
        """Return tables of the catalogue, by purpose."""
        runs = _runs()
        lines: list[str] = []
        for title, purpose in book.PURPOSES.items():
            rows = [
                # An anchor: #hw-disk-bus.
                [f'_`{prop.spelling}`', _folded(prop), prop.record.description,
                 ', '.join(prop.record.acting) or '\u2013',
                 _best_seen(runs, prop.field)]
                for prop in catalog.running().values()
                if not prop.never and prop.field in purpose]
            if rows:
                lines += [f'.. rubric:: {title}', '', *table(
                    ['Property', 'Value', 'Meaning', 'Acts with', 'Seen in'],
                    rows, '20 28 30 13 9')]
        return lines


#: So many values are shown at once, more on request.
_VALUES_MAX = 8


def _folded(prop: property_module.Property) -> str:
    """Return the values of a cell; a long list of them folded."""
    text = _literal_values(prop)
    if len(prop.values) <= _VALUES_MAX:
        return text
    return '\n       '.join([
        '.. raw:: html', '',
        f'   <details><summary>{len(prop.values)} values</summary>', '',
        text, '', '.. raw:: html', '', '   </details>'])


class DriverTable(CodeDirective):
    """What each driver and the scheduler do with each property."""

    def rst(self) -> list[str]:
        """Return the matrix."""
        columns = [name for name in vocabulary.PARTS
                   if name != vocabulary.API]
        return table(
            ['Property', *columns],
            ([f'``{prop.spelling}``', *(
                _cell(prop.record.reader(part))
                for part in columns)]
             for prop in catalog.running().values() if not prop.never),
            '22 13 25 10 10 8 12')


def _cell(cell: vocabulary.Reader | None) -> str:
    """Return the outcome of a cell, with its limits in words."""
    if cell is None:
        return vocabulary.IGNORED
    limits = []
    if cell.values is not None:
        limits.append(', '.join(f'``{value}``' for value in cell.values)
                      + f'; any other: {cell.otherwise}')
    limits += [
        f'{f"``{value}`` " if value else ""}needs ``{name}'
        f'{f"={wanted}" if wanted else ""}``'
        for value, (name, wanted) in cell.needs.items()]
    if cell.note:
        limits.append(cell.note)
    return f'{cell.outcome}{": " if limits else ""}{"; ".join(limits)}'


class ReaderTable(CodeDirective):
    """Nova's functions that read each property, and when."""

    def rst(self) -> list[str]:
        """Return a table with a row for each cell of the matrix."""
        return table(
            ['Property', 'Part', 'Function of Nova', 'At'],
            ([f'``{prop.spelling}``', cell.part, f'``{cell.function}``',
              ', '.join(cell.at)]
             for prop in catalog.running().values() if not prop.never
             for cell in prop.record.readers),
            '24 12 34 30')


#: What long runs of the proofs have counted (testing/figures.py).
FIGURES = pathlib.Path(__file__).parents[1] / 'contributor' / 'figures'


class SeenTable(CodeDirective):
    """What became of each value on the real cloud."""

    def rst(self) -> list[str]:
        """Return a table with a column for each run."""
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
        return table(['Property', 'Value', *heads], rows,
                     ' '.join(['24', '32', *['24'] * len(runs)]))


#: Where a value can be seen, the best first.
_PLACES = ('guest', 'process', 'XML', 'outcome')


def _runs() -> list[dict[str, typing.Any]]:
    """Return the runs of tests/integration/properties.py."""
    runs = []
    for path in sorted(FIGURES.glob('properties-*.jsonl')):
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


class ProofFigures(CodeDirective):
    """What the last recorded run of one proof has counted."""

    required_arguments = 1

    def rst(self) -> list[str]:
        """Return the run, and a table of its counts."""
        (path,) = FIGURES.glob(f'{self.arguments[0]}-*.json')
        run = json.loads(path.read_text())
        of = ', '.join(str(run.pop(name)) for name in ('date', 'commit'))
        return [f'Nova {run.pop("nova")}, {of}:', '', *table(
            ['', 'Number'], ([name, str(n)] for name, n in run.items()),
            '70 30')]


def _literal_values(prop: property_module.Property) -> str:
    if prop.kind == property_module.ENUM:
        return ', '.join(f'``{value}``' for value in prop.values)
    return prop.expects


class NeverTable(CodeDirective):
    """The properties that nobody may override."""

    def rst(self) -> list[str]:
        """Return a table of them."""
        return table(
            ['Property', 'Meaning'],
            ([f'``{prop.field}``', prop.record.description]
             for prop in catalog.running().values() if prop.never), '40 60')


def error_codes() -> list[tuple[int, str, str]]:
    """Return status, code and comment of each code, from errors.py itself."""
    path = pathlib.Path(errors.__file__ or '')
    found, status, comment = [], 0, ''
    for line in path.read_text().splitlines():
        if section := _SECTION.match(line):
            status = int(section[1])
        elif line.startswith('#: '):
            comment = f'{comment} {line[3:]}'.strip()
        elif constant := _CONSTANT.fullmatch(line):
            # PARAMETER is a name, not a code.
            if constant[1].lower() == constant[2]:
                found.append((status, constant[2], comment))
            comment = ''
    if not found:
        raise ExtensionError(f'no error codes found in {path}')
    return found


class ErrorCodes(CodeDirective):
    """The codes of refusals of one status."""

    required_arguments = 1

    def rst(self) -> list[str]:
        """Return a table of the codes of the status that is named."""
        wanted = int(self.arguments[0])
        return table(
            ['Code', 'Meaning'],
            ([f'``{code}``', comment]
             for status, code, comment in error_codes() if status == wanted),
            '25 75')


class VersionHistory(CodeDirective):
    """The extension's microversions."""

    def rst(self) -> list[str]:
        """Return a section-less list of versions."""
        return table(['Version', 'What it brought'],
                     ([version, text]
                      for version, text in versions.HISTORY.items()), '15 85')


class SeamTable(CodeDirective):
    """The names of Nova that are used, and what is asked of each."""

    required_arguments = 1

    def rst(self) -> list[str]:
        """Return a table of the list that is named, ``module:list``."""
        module, _, name = self.arguments[0].partition(':')
        interfaces = getattr(importlib.import_module(module), name)
        return table(
            ['Name of Nova', 'Expected'],
            ([f'``{each}``', each.expected
              + (f'; came with {each.image_property}'
                 if getattr(each, 'image_property', None) else '')]
             for each in interfaces), '60 40')


class OverrideTable(CodeDirective):
    """The methods of Nova that a module overrides."""

    required_arguments = 1

    def rst(self) -> list[str]:
        """Return a table of the module that is named."""
        return table(
            ['Method of Nova', 'Parameters of ours'],
            ([f'``{base.__module__}.{base.__qualname__}.{name}``',
              f'``{_without_types(signature)}``']
             for base, name, signature in overridden(self.arguments[0])),
            '60 40')


def overridden(
    module: str,
) -> typing.Iterator[tuple[type, str, inspect.Signature]]:
    """Yield class of Nova, name, and our signature of what MODULE overrides."""
    interface.verify([])
    for owner in vars(interface.load(module)).values():
        if inspect.isclass(owner) and owner.__module__ == module:
            for name, signature in interface.overridden(owner):
                yield owner.__mro__[1], name, signature


def _without_types(signature: inspect.Signature) -> inspect.Signature:
    return inspect.Signature([
        each.replace(annotation=each.empty)
        for each in signature.parameters.values()])


class Exchange(docutils.SphinxDirective):
    """A request and its answer, as a test of the API received it.

    The files are made and compared by tests/functional/test_samples.py.
    """

    required_arguments = 1
    option_spec: typing.ClassVar = {'answer-only': directives.flag}

    def run(self) -> list[nodes.Node]:
        """Show the files of the sample."""
        parts = ['request', 'answer']
        if 'answer-only' in self.options:
            parts.remove('request')
        lines: list[str] = []
        for part in parts:
            name = f'/samples/{self.arguments[0]}-{part}.http'
            lines += [f'.. literalinclude:: {name}', '   :language: http',
                      f'   :caption: {part.capitalize()}', '']
        return self.parse_text_to_nodes('\n'.join(lines))


class PackageNotes(reno.ReleaseNotesDirective):
    """reno's release notes, with those of no tag under the next version.

    reno calls them 0.0.0 where there is no tag at all
    (reno/scanner.py Scanner._get_current_version).
    """

    def run(self) -> list[nodes.Node]:
        """Show the notes by the versions of the package."""
        version = self.state.document.settings.env.config.release
        self.options['unreleased-version-title'] = version
        result = super().run()
        for node in result:
            for title in node.findall(nodes.title):
                if title.astext() == '0.0.0':
                    title.clear()
                    title += nodes.Text(version)
        return result


def setup(app: Sphinx) -> dict[str, typing.Any]:
    """Register the directives and the role."""
    app.add_directive('property-table', PropertyTable)
    app.add_directive('seen-table', SeenTable)
    app.add_directive('driver-table', DriverTable)
    app.add_directive('reader-table', ReaderTable)
    app.add_directive('never-table', NeverTable)
    app.add_directive('error-codes', ErrorCodes)
    app.add_directive('version-history', VersionHistory)
    app.add_directive('seam-table', SeamTable)
    app.add_directive('override-table', OverrideTable)
    app.add_directive('proof-figures', ProofFigures)
    app.add_directive('exchange', Exchange)
    app.add_directive('package-notes', PackageNotes)
    # A test's name, checked by tests/unit/test_docs.py.
    app.add_role('test', roles.GenericRole('test', nodes.literal))
    return {'parallel_read_safe': True}
