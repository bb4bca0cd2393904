"""Commands and output as documentation shows them.

A command comes after ``$``, its continuation lines are indented, and its output
follows. Ids, which differ from run to run, are made the same.
"""

import re
import textwrap
import typing

#: What console blocks begin with, in reStructuredText and in Markdown.
_BLOCK = re.compile(
    r'^(?:( *)\.\. code-block:: console\n\n((?:\1   +.*\n|\n)+)'
    r'|```console\n((?:.*\n)*?)```\n)', re.M)

_UUID = re.compile(
    '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}')
_SHOWN_ID = '2c3f9a51-6f2b-4d1e-9c57-0d2f4be1a7c8'


def same_ids(text: str) -> str:
    """Return TEXT with one id in place of all, and no trailing blanks."""
    text = _UUID.sub(_SHOWN_ID, text)
    text = re.sub('http://127[.]0[.]0[.]1:[0-9]+', 'http://127.0.0.1:41233',
                  text)
    return '\n'.join(line.rstrip() for line in text.splitlines())


def blocks(page: str) -> typing.Iterator[re.Match[str]]:
    """Return the console blocks of a page that show commands of clients."""
    for block in _BLOCK.finditer(page):
        if re.search('^ *[$] (?:openstack|nova) ', block[0], re.M):
            yield block


def _exchanges(text: str) -> typing.Iterator[str]:
    """Return each command of a block, as written."""
    yield from re.findall(r'^[$] .*\n(?:    .*\n)*', text, re.M)


def replayed(
    block: re.Match[str], run: typing.Callable[[str], str],
) -> str:
    """Return a block with the real output of its commands.

    :param run: runs a command line, and returns what a terminal would show
    """
    indent, quoted, fenced = block.groups()
    markdown = quoted is None
    text = fenced if markdown else textwrap.dedent(quoted)
    shown = ''
    for written in _exchanges(text):
        output = same_ids(run(written.removeprefix('$ ')))
        shown += written + (output + '\n' if output else '')
    if markdown:
        return f'```console\n{shown}```\n'
    return textwrap.indent(
        '.. code-block:: console\n\n' + textwrap.indent(shown, '   '),
        indent) + '\n'
