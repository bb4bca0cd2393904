"""What the documentation takes from the code, so that it cannot drift.

Functions that are directives; ``exchange``, ``package-notes`` and the role
``test``. Image properties are in ``property_pages``.
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


#: Directives that are still to be given to Sphinx, by name.
_DIRECTIVES: dict[str, type[docutils.SphinxDirective]] = {}

Lines = list[str]
Write = typing.TypeVar('Write', bound=typing.Callable[..., Lines])


def directive(name: str) -> typing.Callable[[Write], Write]:
    """Register a function that writes reStructuredText where NAME stands.

    Its parameters are the directive's arguments.
    """
    def register(write: Write) -> Write:
        class Directive(docutils.SphinxDirective):
            """What Sphinx calls."""

            required_arguments = len(inspect.signature(write).parameters)
            final_argument_whitespace = True

            def run(self) -> list[nodes.Node]:
                """Parse the lines in place."""
                return self.parse_text_to_nodes(
                    '\n'.join(write(*self.arguments)))

        _DIRECTIVES[name] = Directive
        return write
    return register


def add_directives(app: Sphinx) -> None:
    """Give Sphinx the directives of the modules that are imported by now."""
    while _DIRECTIVES:
        app.add_directive(*_DIRECTIVES.popitem())


def table(head: list[str], rows: typing.Iterable[list[str]],
          widths: str) -> Lines:
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


@directive('update-states')
def update_states() -> Lines:
    """The states in which overrides cannot be updated, and the way out."""
    update = interface.load('nova_image_override.api.change.update')
    return table(['In the state', 'do this first'], (
        [f'``{state}``', remedy]
        for state, remedy in update.STATES.items() if remedy), '20 80')


@directive('proof-figures')
def proof_figures(name: str) -> Lines:
    """What the last recorded run of one proof has counted."""
    (path,) = FIGURES.glob(f'{name}-*.json')
    run = json.loads(path.read_text())
    of = ', '.join(str(run.pop(name)) for name in ('date', 'commit'))
    return [f'Nova {run.pop("nova")}, {of}{night.since(path)}:', '', *table(
        ['', 'Number'], ([name, str(n)] for name, n in run.items()), '70 30')]


@directive('night-steps')
def night_steps() -> Lines:
    """When each step of ``make night`` has passed last."""
    rows = []
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        for name in night.STEPS:
            run, changed = night.last(name)
            rows.append([f'``make {name}``', *(
                [run['date'], run['commit'], str(changed)] if run
                else ['', '', ''])])
    return table(['Step', 'Passed on', 'Commit', 'Commits since'], rows,
                 '46 18 18 18')


@directive('dearest')
def dearest() -> Lines:
    """The dearest requests that the last search has found."""
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


@directive('scale')
def scale(name: str) -> Lines:
    """Tables of the last run of ``make bench-scale``, or ``bench-start``."""
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


@directive('platforms')
def platforms() -> Lines:
    """What of the wheel has passed beside each Nova and Python."""
    runs = (json.loads(line) for line in (
        FIGURES / 'platforms.jsonl').read_text().splitlines())
    names = ['nova', 'python', 'unit', 'short', 'date', 'commit']
    return table(
        ['Nova', 'Python', 'Unit tests', 'Short pass', 'Run on', 'Commit'],
        ([run[name] for name in names] for run in runs),
        '10 10 28 24 14 14')


#: The type of object that a code of refusals is on pages.
CODE = 'error-code'


@directive('error-codes')
def error_codes(status: str) -> Lines:
    """The codes of refusals of one status, each an object, from errors.py.

    :raises ExtensionError: there is none
    """
    path = pathlib.Path(errors.__file__ or '')
    lines, section, comment = [], '', ''
    for line in path.read_text().splitlines():
        if begun := _SECTION.match(line):
            section = begun[1]
        elif line.startswith('#: '):
            comment = f'{comment} {line[3:]}'.strip()
        elif constant := _CONSTANT.fullmatch(line):
            # PARAMETER is a name, not a code.
            if section == status and constant[1].lower() == constant[2]:
                lines += [f'.. {CODE}:: {constant[2]}', '', f'   {comment}', '']
            comment = ''
    if not lines:
        raise ExtensionError(f'no error codes of {status} found in {path}')
    return lines


@directive('version-history')
def version_history() -> Lines:
    """The extension's microversions."""
    return table(['Version', 'What it brought'],
                 ([version, text]
                  for version, text in versions.HISTORY.items()), '15 85')


@directive('seam-table')
def seam_table(path: str) -> Lines:
    """The names of Nova that are used, and the use of each."""
    return _reasons(
        (why, [_expectation(each) for each in used])
        for why, used in itertools.groupby(
            interface.resolve(path), lambda each: each.why))


def _expectation(name: interface.Interface) -> str:
    if not isinstance(name, interface.Called):
        return f'``{name}``: {name.shape}'
    return f'``{name}({name.shape})``' + (
        f', for {", ".join(name.image_properties)}'
        if name.image_properties else '')


@directive('override-table')
def override_table(package: str) -> Lines:
    """The methods of Nova that the modules of a package override."""
    interface.verify()
    return _reasons(
        (_description(method), [
            f'``{base.__module__}.{base.__qualname__}.{name}'
            f'{_without_types(inspect.signature(method))}``'])
        for owner in interface.classes(package)
        for name, method in interface.overridden(owner)
        for base in [interface.base_of(owner)])


def _reasons(rows: typing.Iterable[tuple[str, list[str]]]) -> Lines:
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
    add_directives(app)
    app.add_directive('exchange', Exchange)
    app.add_directive('package-notes', PackageNotes)
    # A test's name, checked by tests/unit/test_docs.py.
    app.add_role('test', roles.GenericRole('test', nodes.literal))
    return {'parallel_read_safe': True}
