"""The databases of Nova's cells."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib

from nova import context as nova_context
from nova import objects
from oslo_db import exception as db_exception

from nova_image_override import errors


@contextlib.contextmanager
def _reading(which: str) -> Iterator[None]:
    """Read one of Nova's databases in the context.

    :raises errors.StartupError: it cannot be read, or nova.conf names none
    """
    try:
        yield
    except db_exception.CantStartEngineError:
        raise errors.StartupError(
            'nova.conf has no [api_database] connection') from None
    except db_exception.DBError as exc:
        raise errors.StartupError(
            f'Nova\'s {which} cannot be read: {" ".join(str(exc).split())}'
        ) from None


def mappings() -> list[objects.CellMapping]:
    """Return every cell, cell0 included.

    :raises errors.StartupError: the API database cannot be read
    """
    with _reading('API database'):
        return list(objects.CellMappingList.get_all(
            nova_context.get_admin_context()))


def name(cell: objects.CellMapping) -> str:
    """Return the name of a cell, or the UUID of one without a name."""
    return str(cell.name or cell.uuid)


@contextlib.contextmanager
def targeted(
        cell: objects.CellMapping) -> Iterator[nova_context.RequestContext]:
    """Read the database of a cell in the context.

    :raises errors.StartupError: it cannot be read
    """
    with _reading(f'database of cell {name(cell)}'), \
            nova_context.target_cell(
                nova_context.get_admin_context(), cell) as context:
        yield context


def flavors() -> list[objects.Flavor]:
    """Return every flavor, by ID.

    :raises errors.StartupError: the API database cannot be read
    """
    with _reading('API database'):
        return list(objects.FlavorList.get_all(
            nova_context.get_admin_context()))


def compute_nodes() -> Iterator[tuple[str, objects.ComputeNode]]:
    """Yield the name of the cell and each compute node.

    :raises errors.StartupError: a database cannot be read
    """
    for cell in mappings():
        with targeted(cell) as context:
            nodes = list(objects.ComputeNodeList.get_all(context))
        for node in sorted(nodes, key=lambda node: (
                node.host, node.hypervisor_hostname)):
            yield name(cell), node
