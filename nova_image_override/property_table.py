"""The properties that may be overridden, as commands show them in tables.

Made from the JSON Schema that discovery answers with, for tenants' tools too.
"""

from collections.abc import Iterable, Iterator
import dataclasses
import fnmatch
import json
import re
from typing import Any

from cliff import columns

from nova_image_override.properties import book
from nova_image_override.properties import schema_words

#: The formats that have a null of their own.
OBJECT_FORMATS = ('json', 'yaml')


class Values(columns.FormattableColumn):  # type: ignore[type-arg]
    """Values of a property: a list for programs, one line for people."""

    def human_readable(self) -> str:
        """Return the values, separated."""
        separator = '; ' if any(' ' in each for each in self._value) else ', '
        return separator.join(self._value)


@dataclasses.dataclass(frozen=True)
class Row:
    """One property, or family of properties.

    :ivar name: as requests name it, such as ``hw_numa_mem.N``
    :ivar pattern: regular expression of the names of a family, or ''
    :ivar kind: boolean, integer, enum or string
    :ivar removable: whether null is accepted: yes or no
    :ivar drivers: the parts of Nova that act on it
    """

    name: str
    pattern: str
    kind: str
    values: Values
    removable: str
    drivers: str
    description: str

    def is_called(self, name: str) -> bool:
        """Return whether NAME is that of the row or of a value, or a glob."""
        return self.is_named(name) or any(
            fnmatch.fnmatchcase(each, name) for each in (
                self.name, *self.values.machine_readable()))

    def is_named(self, name: str) -> bool:
        """Return whether NAME is that of the row, or of a member."""
        return name == self.name or bool(
            self.pattern and re.search(self.pattern, name))

    def mentions(self, word: str) -> bool:
        """Return whether the row has WORD, in whatever case and spacing."""
        return _folded(word) in _folded(' '.join((
            self.name, *self.values.machine_readable(), self.description)))


def _folded(text: str) -> str:
    return ''.join(text.lower().split())


def found(table: Iterable[Row], word: str) -> list[Row]:
    """Return the rows that are called WORD, or else those that mention it.

    Other rows mention properties, too, that are not among them.
    """
    table = list(table)
    return [row for row in table if row.is_called(word)] or [
        row for row in table
        if word and word not in book.RECORDS and row.mentions(word)]


def for_people(cells: Iterable[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield rows for a format without null: absent values read ``null``.

    cliff would write ``None`` in tables, and nothing at all in CSV. Text that
    would move the cursor or forge a row, such as a tenant's value of an image
    property, is quoted and escaped as in JSON.
    """
    for row in cells:
        yield tuple('null' if cell is None else cell if (
            not isinstance(cell, str) or cell.isprintable()
        ) else json.dumps(cell) for cell in row)


def rows(schema: schema_words.Schema) -> list[Row]:
    """Return the rows of what discovery's SCHEMA permits, by name."""
    named: list[tuple[str, str, Any]] = [
        *((name, '', value)
          for name, value in schema.get('properties', {}).items()),
        *((value.get('title', pattern), pattern, value)
          for pattern, value in schema.get('patternProperties', {}).items())]
    return [
        Row(name, pattern, schema_words.kind(value),
            Values(schema_words.values(name, value)),
            'yes' if schema_words.is_removable(value) else 'no',
            ', '.join(value.get('drivers', ())), value.get('description', ''))
        for name, pattern, value in sorted(named, key=lambda each: each[:2])]
