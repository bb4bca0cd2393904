"""Tables, for people at a terminal and for the documentation."""

import collections.abc
import typing

Rows = list[list[str]]


def _form(rows: Rows) -> str:
    first, *rest = (max(map(len, column)) for column in zip(*rows, strict=True))
    return '  '.join([f'{{:{first}}}', *(f'{{:>{width}}}' for width in rest)])


def plain(
    stream: typing.TextIO, title: str, head: list[str], rows: Rows,
) -> None:
    """Write a table for people at a terminal."""
    form = _form([head, *rows])
    print(f'\n{title}\n', file=stream)
    for row in [head, *rows]:
        print(form.format(*row).rstrip(), file=stream, flush=True)


def rst(
    stream: typing.TextIO, title: str, head: list[str], rows: Rows,
) -> None:
    """Write a table in reStructuredText."""
    lines: collections.abc.Iterable[list[str]] = [head, *rows]
    print(f'\n.. list-table:: {title}\n   :header-rows: 1\n', file=stream)
    for row in lines:
        for place, cell in enumerate(row):
            print(f'   {" -" if place else "*"} - {cell}'.replace(
                '    - -', '     -'), file=stream, flush=True)
