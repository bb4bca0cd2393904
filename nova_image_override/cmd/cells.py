"""The databases of Nova's cells."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib

from nova import context as nova_context
from nova import objects
from oslo_db import exception as db_exception

from nova_image_override import errors


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
    except db_exception.DBError as exc:
        which = f'database of cell {name(cell)}' if cell else 'API database'
        raise errors.StartupError(
            f'Nova\'s {which} cannot be read: {" ".join(str(exc).split())}'
        ) from None


def mappings() -> list[objects.CellMapping]:
    """Return every cell, cell0 included.

    :raises errors.StartupError: the API database cannot be read
    """
    with reading() as context:
        return list(objects.CellMappingList.get_all(context))


def flavors() -> list[objects.Flavor]:
    """Return every flavor, by ID.

    :raises errors.StartupError: the API database cannot be read
    """
    with reading() as context:
        return list(objects.FlavorList.get_all(context))


def compute_nodes() -> Iterator[tuple[str, objects.ComputeNode]]:
    """Yield the name of the cell and each compute node.

    :raises errors.StartupError: a database cannot be read
    """
    for cell in mappings():
        with reading(cell) as context:
            nodes = list(objects.ComputeNodeList.get_all(context))
        for node in sorted(nodes, key=lambda node: (
                node.host, node.hypervisor_hostname)):
            yield name(cell), node
