"""The tables of :doc:`/reference/nfv`: what came of NFV overrides.

Directive ``nfv-table`` with a topic of the records figures/nfv-NN.json, which
tests/proof/test_nfv.py writes. The newest release is shown; where another
release differs, a note says so.
"""

import string
import textwrap
import typing

import generated
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

Json = dict[str, typing.Any]

#: How what is recorded of a node reads, where it is no "name value".
_UNITS = {'MiB': '{} MiB', 'KiB of a page': 'pages of {} KiB'}


class NfvTable(generated.CodeDirective):
    """What came of the overrides of one topic."""

    required_arguments = 1
    final_argument_whitespace = True

    def rst(self) -> list[str]:
        """Return a table for each set of overrides, with its guests."""
        runs = {release: {ask['name']: ask for ask in run['asks']}
                for release, run in generated.figures('nfv').items()}
        newest = max(runs)
        lines: list[str] = []
        for name, ask in runs[newest].items():
            if ask['topic'] == self.arguments[0]:
                lines += [*_asked(ask), *_table(ask), *_guests(ask), *_notes(
                    {release: _differences(asks[name], ask)
                     for release, asks in runs.items()})]
        if not lines:
            raise ExtensionError(f'no record of {self.arguments[0]}')
        return lines


def _spelled(pairs: Json, without: Json | None = None) -> str:
    """Return names and values as literals, or "nothing of it"."""
    return ', '.join(
        f'``{name}={value}``' for name, value in pairs.items()
        if (without or {}).get(name) != value) or 'nothing of it'


def _asked(ask: Json) -> list[str]:
    lines = ['Override: ' + _spelled({**ask['asked'], **ask['along']})]
    if ask['needs']:
        lines.append('; every flavor has ' + _spelled(ask['needs']))
    if ask['host'] == 'no-smt':
        lines.append('; hosts without hardware threads')
    return [''.join(lines), '']


def _table(ask: Json) -> list[str]:
    images = {_image(ask, image) for row in ask['rows']
              for image in row['images']}
    return generated.table(
        ['Flavor', 'Image', 'What comes of it'],
        ([_spelled(row['flavor'], ask['needs']),
          'whatever it says' if len(row['images']) == len(images)
          else ' or '.join(_image(ask, image) for image in row['images']),
          _answer(row['answer'])] for row in ask['rows']), '28 28 44')


def _image(ask: Json, image: Json) -> str:
    return 'the same' if image == ask['asked'] else _spelled(image)


def _answer(answer: Json) -> str:
    outcome = answer['outcome']
    if outcome == 'ACTIVE':
        said = 'ACTIVE, ' + _spelled(answer['values'])
        if 'guest' in answer:
            said += f': guest {_letter(answer["guest"])}'
        return said
    if 'problems' not in answer:
        return f'202, then {outcome}'
    names: dict[tuple[str, str], list[str]] = {}
    for name, problem in answer['problems'].items():
        names.setdefault((problem['code'], problem['reason']), []).append(
            f'``{name}``')
    return f'{outcome} ' + '; '.join(
        f'``{code}`` of {", ".join(each)}: *{_plain(reason)}*'
        for (code, reason), each in names.items())


def _letter(number: int) -> str:
    return string.ascii_uppercase[number]


def _plain(text: str) -> str:
    """Return TEXT as reStructuredText reads it, word for word."""
    return ''.join(f'\\{c}' if c in '\\*`_|' else c for c in text)


def _guests(ask: Json) -> list[str]:
    lines: list[str] = []
    for number, guest in enumerate(ask['guests']):
        lines += [f'Guest {_letter(number)}: {_nodes(guest)}', '']
        if guest.get('xml'):
            lines += ['.. code-block:: xml', '', *textwrap.indent(
                '\n'.join(guest['xml']), '   ').splitlines(), '']
    return lines


def _nodes(guest: Json) -> str:
    nodes = [', '.join(
        _UNITS.get(name, f'{name} {{}}').format(value)
        for name, value in node.items()) for node in guest.get('numa', ())]
    return '; '.join(f'node {place} ({node})' for place, node
                     in enumerate(nodes)) or 'no NUMA nodes of its own'


def _answers(ask: Json) -> dict[str, Json]:
    """Return flavor and image, in words -> answer."""
    return {
        f'{_spelled(row["flavor"], ask["needs"])} in the flavor, '
        f'{_image(ask, image)} in the image': row['answer']
        for row in ask['rows'] for image in row['images']}


def _told(answer: Json) -> Json:
    """Return an answer with no more than the codes of a refusal."""
    return {**answer, 'problems': {
        name: problem['code']
        for name, problem in answer.get('problems', {}).items()}}


def _differences(ask: Json, shown: Json) -> tuple[str, ...]:
    """Return what is otherwise in the record of another release."""
    wanted = _answers(shown)
    other: dict[str, list[str]] = {}
    for place, answer in _answers(ask).items():
        if _told(answer) != _told(wanted[place]):
            other.setdefault(_answer(answer), []).append(place)
    found = [f'{"; ".join(places)}: {text}' for text, places in other.items()]
    for number, guest in enumerate(ask['guests']):
        in_place_of: Json = dict(enumerate(shown['guests'])).get(number, {})
        lines, others = _lines(guest), _lines(in_place_of)
        found += [f'guest {_letter(number)} {word} ``{line}``'
                  for word, some, rest in (('has', lines, others),
                                           ('has no', others, lines))
                  for line in some if line not in rest]
    return tuple(found)


def _lines(guest: Json) -> list[str]:
    """Return what a guest is, comparable line by line."""
    return [_nodes(guest), *(
        line.strip() for part in guest.get('xml', ())
        for line in part.splitlines())]


def _notes(differences: dict[str, tuple[str, ...]]) -> list[str]:
    """Return a note for each set of releases that differ alike."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for release, found in sorted(differences.items()):
        if found:
            alike.setdefault(found, []).append(release)
    lines: list[str] = []
    for found, releases in alike.items():
        lines += ['.. note::', '', f'   Nova {", ".join(releases)}:', '',
                  *(f'   * {text}' for text in found), '']
    return lines


def setup(app: Sphinx) -> Json:
    """Register the directive."""
    app.add_directive('nfv-table', NfvTable)
    return {'parallel_read_safe': True}
