"""What the documentation takes from the code, so that it cannot drift.

Directives ``error-codes``, ``version-history``, ``seam-table``,
``override-table``, ``update-states``, ``proof-figures``, ``night-steps``,
``dearest``, ``platforms``, ``scale``, ``exchange`` and ``package-notes``, and
the role ``test``. Image properties are in ``property_pages``.
"""
from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import pathlib
import re
import subprocess
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
from testing import night

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
            lines.append(f'   {" " if place else "*"} - ' + cell.replace(
                '\n', '\n' + 7 * ' '))
    return [*lines, '']


#: What long runs of the proofs have counted (testing/figures.py).
FIGURES = pathlib.Path(__file__).parents[1] / 'contributor' / 'figures'


class UpdateStates(CodeDirective):
    """The states in which overrides cannot be updated, and the way out."""

    def rst(self) -> list[str]:
        """Return a table of what to do in each state."""
        update = interface.load('nova_image_override.api.change.update')
        return table(['In the state', 'do this first'], (
            [f'``{state}``', remedy]
            for state, remedy in update.STATES.items() if remedy), '20 80')


class ProofFigures(CodeDirective):
    """What the last recorded run of one proof has counted."""

    required_arguments = 1

    def rst(self) -> list[str]:
        """Return the run, and a table of its counts."""
        (path,) = FIGURES.glob(f'{self.arguments[0]}-*.json')
        run = json.loads(path.read_text())
        of = ', '.join(str(run.pop(name)) for name in ('date', 'commit'))
        return [f'Nova {run.pop("nova")}, {of}{night.since(path)}:', '', *table(
            ['', 'Number'], ([name, str(n)] for name, n in run.items()),
            '70 30')]


class Steps(CodeDirective):
    """When each step of ``make night`` has passed last."""

    def rst(self) -> list[str]:
        """Return a table; without the history of commits an empty one."""
        rows = []
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            for name in night.STEPS:
                run, changed = night.last(name)
                rows.append([f'``make {name}``', *(
                    [run['date'], run['commit'], str(changed)] if run
                    else ['', '', ''])])
        return table(['Step', 'Passed on', 'Commit', 'Commits since'], rows,
                     '46 18 18 18')


class Dearest(CodeDirective):
    """The dearest requests that the last search has found."""

    def rst(self) -> list[str]:
        """Return the run, and a table of what each cost."""
        (path,) = FIGURES.glob('hostile-*.json')
        run = json.loads(path.read_text())
        names = ['kind', 'rules', 'own, ms', 'Nova, ms', 'status',
                 'answer, bytes', 'log, bytes']
        return [
            f'{run["requests"]} requests in {run["minutes"]} minutes, of which '
            f'{run["beyond a bound"]} of the dearest were beyond a bound; Nova '
            f'{run["nova"]}, {run["date"]}, {run["commit"]}, seed '
            f'{run["seed"]}, {run["machine"]}, on which a plain create takes '
            f'{run["plain create, ms"]} ms{night.since(path)}:', '', *table(
                names, ([str(row[name]) for name in names]
                        for row in run['dearest']), '12 24 12 12 12 14 14')]


class Scale(CodeDirective):
    """Tables of the last run of ``make bench-scale``, or ``bench-start``."""

    required_arguments = 1
    final_argument_whitespace = True

    def rst(self) -> list[str]:
        """Return the run, or the table that is named."""
        (name,) = self.arguments
        item = 'start' if name == 'Start' else 'scale'
        (path,) = FIGURES.glob(f'{item}-*.jsonl')
        run, *tables = map(json.loads, path.read_text().splitlines())
        of = (f'edians of {run["rounds"]}; Nova {run["nova"]}, {run["date"]}, '
              f'{run["commit"]}, {run["processors"]} processors'
              f'{night.since(path)}')
        if name == 'run':
            return [f'{run["servers"]:,} servers of {run["projects"]:,} '
                    f'projects in {run["cells"]} cells, m{of}.', '']
        (found,) = (each['rows'] for each in tables if each['table'] == name)
        head, *rows = found
        return [*([f'M{of}:', ''] if item == 'start' else ()), *table(
            head, ([str(cell) for cell in row] for row in rows),
            ' '.join(['30', *['10'] * (len(head) - 1)]))]


class Platforms(CodeDirective):
    """What of the wheel has passed beside each Nova and Python."""

    def rst(self) -> list[str]:
        """Return a table of the last runs (testing/platforms.py)."""
        runs = (json.loads(line) for line in (
            FIGURES / 'platforms.jsonl').read_text().splitlines())
        names = ['nova', 'python', 'unit', 'short', 'date', 'commit']
        return table(
            ['Nova', 'Python', 'Unit tests', 'Short pass', 'Run on', 'Commit'],
            ([run[name] for name in names] for run in runs),
            '10 10 28 24 14 14')


#: The type of object that a code of refusals is on pages.
CODE = 'error-code'


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
    """The codes of refusals of one status, each an object."""

    required_arguments = 1

    def rst(self) -> list[str]:
        """Return an object for each code of the status that is named."""
        return [
            line for status, code, comment in error_codes()
            if status == int(self.arguments[0])
            for line in (f'.. {CODE}:: {code}', '', f'   {comment}', '')]


class VersionHistory(CodeDirective):
    """The extension's microversions."""

    def rst(self) -> list[str]:
        """Return a section-less list of versions."""
        return table(['Version', 'What it brought'],
                     ([version, text]
                      for version, text in versions.HISTORY.items()), '15 85')


class SeamTable(CodeDirective):
    """The names of Nova that are used, and the use of each."""

    required_arguments = 1

    def rst(self) -> list[str]:
        """Return a table of the list that is named, ``module:list``."""
        return _reasons(
            (why, [_expectation(each) for each in used])
            for why, used in itertools.groupby(
                interface.resolve(self.arguments[0]), lambda each: each.why))


def _expectation(name: interface.Interface) -> str:
    if not isinstance(name, interface.Called):
        return f'``{name}``: {name.shape}'
    return f'``{name}({name.shape})``' + (
        f', for {", ".join(name.image_properties)}'
        if name.image_properties else '')


class OverrideTable(CodeDirective):
    """The methods of Nova that the modules of a package override."""

    required_arguments = 1

    def rst(self) -> list[str]:
        """Return a table of the package that is named."""
        interface.verify()
        return _reasons(
            (_description(method), [
                f'``{base.__module__}.{base.__qualname__}.{name}'
                f'{_without_types(inspect.signature(method))}``'])
            for owner in interface.classes(self.arguments[0])
            for name, method in interface.overridden(owner)
            for base in [interface.base_of(owner)])


def _reasons(
    rows: typing.Iterable[tuple[str, list[str]]],
) -> list[str]:
    return table(['Name of Nova', 'Why'], (
        ['\n'.join(f'| {each}' for each in names), why]
        for why, names in rows), '55 45')


def _description(method: typing.Callable[..., object]) -> str:
    """Return what the docstring of a method says before its fields."""
    text = inspect.getdoc(method)
    if not text:
        raise ExtensionError(f'{method.__qualname__} says not why it is there')
    return text.partition('\n:')[0].strip()


def _without_types(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(
        return_annotation=signature.empty,
        parameters=[each.replace(annotation=each.empty)
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
    app.add_object_type(CODE, 'code-of-refusal', objname='error code')
    app.add_directive('error-codes', ErrorCodes)
    app.add_directive('version-history', VersionHistory)
    app.add_directive('seam-table', SeamTable)
    app.add_directive('override-table', OverrideTable)
    app.add_directive('update-states', UpdateStates)
    app.add_directive('proof-figures', ProofFigures)
    app.add_directive('night-steps', Steps)
    app.add_directive('dearest', Dearest)
    app.add_directive('platforms', Platforms)
    app.add_directive('scale', Scale)
    app.add_directive('exchange', Exchange)
    app.add_directive('package-notes', PackageNotes)
    # A test's name, checked by tests/unit/test_docs.py.
    app.add_role('test', roles.GenericRole('test', nodes.literal))
    return {'parallel_read_safe': True}
