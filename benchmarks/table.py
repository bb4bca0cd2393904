"""Tables, for people at a terminal."""

import typing

Rows = list[list[str]]


def _form(rows: Rows) -> str:
    first, *rest = (max(map(len, column)) for column in zip(*rows, strict=True))
    return '  '.join([f'{{:{first}}}', *(f'{{:>{width}}}' for width in rest)])


def plain(
    stream: typing.TextIO, title: str, head: list[str], rows: Rows,
) -> None:
    """Write a table."""
    form = _form([head, *rows])
    print(f'\n{title}\n', file=stream)
    for row in [head, *rows]:
        print(form.format(*row).rstrip(), file=stream, flush=True)
