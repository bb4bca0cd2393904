"""The databases of Nova's cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import itertools
import sys
import time
from typing import Any, TypeVar

from nova import context as nova_context
from nova import objects
from oslo_db import exception as db_exception
from sqlalchemy import exc as sqlalchemy_exceptions

from nova_image_override import errors

T = TypeVar('T')


def name(cell: objects.CellMapping) -> str:
    """Return the name of a cell, or the UUID of one without a name."""
    return str(cell.name or cell.uuid)


@contextlib.contextmanager
def reading(
    cell: objects.CellMapping | None = None,
) -> Iterator[nova_context.RequestContext]:
    """Read the database of a cell, or the API database, in the context.

    :raises errors.StartupError: it cannot be read, or nova.conf names none
    """
    try:
        with nova_context.target_cell(
                nova_context.get_admin_context(), cell) as context:
            yield context
    except db_exception.CantStartEngineError:
        raise errors.StartupError(
            'nova.conf has no [api_database] connection') from None
    except (db_exception.DBError, sqlalchemy_exceptions.SQLAlchemyError,
            ImportError) as exc:
        # The latter two where its URL cannot be used, or its driver is not
        # installed.
        which = f'database of cell {name(cell)}' if cell else 'API database'
        raise errors.StartupError(
            f'Nova\'s {which} cannot be read: {" ".join(str(exc).split())}'
        ) from None


def walk(
    read: Callable[[objects.CellMapping], Iterator[list[T]]],
    only: str | None = None, unread: list[str] | None = None,
) -> Iterator[tuple[str, T]]:
    """Yield the name of the cell with each item of the pages that READ yields.

    Cells are read in the order of Nova's list, cell0 included.

    :param only: name or UUID of the only cell to read; None for all
    :param unread: takes what is wrong with each cell that cannot be read;
        without it, the first one is raised
    :raises errors.NotFound: there is no such cell
    :raises errors.StartupError: a database cannot be read
    """
    with reading() as context:
        chosen = [each for each in objects.CellMappingList.get_all(context)
                  if only in (None, each.name, each.uuid)]
    if not chosen:
        raise errors.NotFound(f'there is no cell {only}')
    began, items = time.monotonic(), 0
    for done, cell in enumerate(chosen):
        try:
            # An empty page first, for the time that the first one takes.
            for page in itertools.chain([[]], read(cell)):
                _progress('')
                for item in page:
                    yield name(cell), item
                items += len(page)
                passed = time.monotonic() - began
                left = f', {passed * (len(chosen) / done - 1):.0f} s left' \
                    if done else ''
                _progress(f'{done} of {len(chosen)} cells, {items} read, '
                          f'{items / (passed or 1):.0f}/s{left}')
        except errors.StartupError as exc:
            if unread is None:
                raise
            unread.append(str(exc))
        finally:
            _progress('')


def _progress(text: str) -> None:
    """Show this on a terminal, until there are rows to print."""
    if sys.stderr.isatty():
        print(f'\r\x1b[K{text}', end='', file=sys.stderr, flush=True)


def flavors() -> list[objects.Flavor]:
    """Return every flavor, by ID.

    :raises errors.StartupError: the API database cannot be read
    """
    with reading() as context:
        return list(objects.FlavorList.get_all(context))


def compute_nodes(
    only: str | None = None, unread: list[str] | None = None,
) -> Iterator[tuple[str, objects.ComputeNode]]:
    """Yield the name of the cell and each compute node, as walk does."""
    def read(cell: objects.CellMapping) -> Iterator[list[Any]]:
        with reading(cell) as context:
            nodes = list(objects.ComputeNodeList.get_all(context))
        yield sorted(nodes, key=lambda node: (
            node.host, node.hypervisor_hostname))

    return walk(read, only, unread)
