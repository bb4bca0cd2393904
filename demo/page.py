"""What the demo prints: headings, tables, differences."""

import collections.abc
import difflib
import json
import os
import typing

_BOLD, _RED, _GREEN, _CYAN = '1', '31', '32', '36'


class Page:
    """Writes to a stream; in colour only when that is a terminal.

    :param stream: where to; ``NO_COLOR`` (no-color.org) is honoured
    """

    def __init__(self, stream: typing.TextIO) -> None:
        self._stream = stream
        self._colour = (
            stream.isatty() and not os.environ.get('NO_COLOR')
            and os.environ.get('TERM') != 'dumb')

    def _paint(self, text: str, *codes: str) -> str:
        if not self._colour or not text:
            return text
        return f'\033[{";".join(codes)}m{text}\033[0m'

    def line(self, text: str = '') -> None:
        """Write one line."""
        print(text, file=self._stream, flush=True)

    def heading(self, text: str) -> None:
        """Write a heading."""
        self.line()
        self.line(self._paint(text, _BOLD))
        self.line(self._paint('-' * len(text), _BOLD))

    def status(self, good: bool, text: str) -> None:
        """Write a line that says how something went."""
        self.line(self._paint(text, _BOLD, _GREEN if good else _RED))

    def json(self, value: typing.Any) -> None:
        """Write VALUE as JSON."""
        self.line(json.dumps(value, indent=2))

    def table(
        self, head: collections.abc.Sequence[str],
        rows: collections.abc.Iterable[collections.abc.Sequence[str]],
        marked: collections.abc.Container[str] = (),
    ) -> None:
        """Write a table; rows whose first cell is MARKED stand out."""
        rows = list(rows)
        widths = [max(map(len, column))
                  for column in zip(head, *rows)]
        form = '  '.join(f'{{:{width}}}' for width in widths)
        self.line(self._paint(form.format(*head).rstrip(), _BOLD))
        for row in rows:
            text = form.format(*row)
            if row[0] in marked:
                self.line(self._paint(f'{text}  overridden', _GREEN))
            else:
                self.line(text.rstrip())

    def diff(
        self, before: tuple[str, list[str]], after: tuple[str, list[str]],
    ) -> None:
        """Write how two named texts differ."""
        lines = list(difflib.unified_diff(
            before[1], after[1], before[0], after[0], n=2, lineterm=''))
        for text in lines:
            self.line(self._paint(text, *{
                '+': (_GREEN,), '-': (_RED,), '@': (_CYAN,),
            }.get(text[0], ())))
        if not lines:
            self.line('They do not differ.')
