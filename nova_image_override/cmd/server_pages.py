"""Servers with overrides, from the databases of Nova's cells.

They come in pages in the order of instance IDs, which grow: each page is two or
three short queries of its own, so that nothing is locked however many servers
there are, and reading can continue where it stopped.
"""

import collections.abc
import dataclasses
import typing

from nova import context as nova_context
from nova import exception
from nova import objects
from nova.db.main import api as main_db
from nova.db.main import models
import sqlalchemy as sa

from nova_image_override import errors
from nova_image_override import record
from nova_image_override.cmd import deployment_files

#: Instances per page.
SIZE = 1000


@dataclasses.dataclass(frozen=True)
class Page:
    """What one page of a cell has.

    :ivar last: the ID of its last instance
    :ivar number: how many instances it has
    :ivar servers: those with overrides, ``nova.objects.Instance`` with what
        is needed of them
    """

    last: int
    number: int
    servers: list[typing.Any]


@main_db.pick_context_manager_reader
def _page(
    targeted: typing.Any, after: int, **wanted: str | None,
) -> Page | None:
    """Return the page after an ID; None at the end.

    Not through Nova's objects, which would load every instance in full.

    :param targeted: request context, targeted at the cell
    :param wanted: columns of instances, with what they must be if not None
    """
    query = targeted.session.query(
        models.Instance.id, models.Instance.uuid, models.Instance.project_id,
        models.Instance.user_id,
    ).filter(
        models.Instance.deleted == 0, models.Instance.id > after,
        # Without the copy in the other cell of a move, as in Nova's lists
        # (nova/db/main/api.py instance_get_all_by_filters_sort).
        models.Instance.hidden.isnot(True))
    query = query.filter_by(**{
        name: value for name, value in wanted.items() if value is not None})
    found = query.order_by(models.Instance.id).limit(SIZE).all()
    if not found:
        return None
    overridden = _metadata(
        targeted, [row.uuid for row in found], *record.keys(''))
    values = _metadata(targeted, [*overridden], record.IMAGE_PREFIX)
    return Page(found[-1].id, len(found), [objects.Instance(
        uuid=row.uuid, project_id=row.project_id, user_id=row.user_id,
        system_metadata={**values.get(row.uuid, {}), **overridden[row.uuid]})
        for row in found if row.uuid in overridden])


def _metadata(
    targeted: typing.Any, uuids: list[str], *prefixes: str,
) -> dict[str, dict[str, str | None]]:
    """Return system metadata whose keys begin with PREFIXES, by server."""
    key = models.InstanceSystemMetadata.key
    result: dict[str, dict[str, str | None]] = {}
    for uuid, name, value in targeted.session.query(
        models.InstanceSystemMetadata.instance_uuid, key,
        models.InstanceSystemMetadata.value,
    ).filter(
        models.InstanceSystemMetadata.deleted == 0,
        models.InstanceSystemMetadata.instance_uuid.in_(uuids),
        sa.or_(*(key.startswith(each, autoescape=True) for each in prefixes)),
    ) if uuids else ():
        result.setdefault(uuid, {})[name] = value
    return result


@main_db.pick_context_manager_reader
def _id_of(targeted: typing.Any, server: str) -> int | None:
    """Return the ID of an instance, deleted or not."""
    found: int | None = targeted.session.query(models.Instance.id).filter(
        models.Instance.uuid == server).scalar()
    return found


def pages(
    project: str | None = None, marker: str | None = None,
    server: str | None = None,
) -> collections.abc.Iterator[tuple[str, Page]]:
    """Yield the name of the cell and each page, cell by cell.

    :param project: only servers of this project
    :param marker: UUID of the server to begin after
    :param server: UUID of the only server that is asked for
    :raises errors.NotFound: there is no such server
    :raises errors.StartupError: a database cannot be read
    """
    after = 0
    if server is not None:
        cells = [_cell_of(server)]
    else:
        cells = deployment_files.cells()
        if marker is not None:
            cells, after = _behind(marker, cells)
    found = False
    for cell in cells:
        while True:
            with deployment_files.targeted(cell) as context:
                page = _page(
                    context, after, project_id=project, uuid=server)
            if page is None:
                break
            found = True
            yield deployment_files.cell_name(cell), page
            after = page.last
        after = 0
    if server is not None and not found:
        raise errors.NotFound(f'there is no server {server}')


def _cell_of(server: str) -> typing.Any:
    """Return ``nova.objects.CellMapping`` of a server's cell.

    :raises errors.NotFound: there is no such server, or it has no cell yet
    """
    try:
        with deployment_files.database():
            mapping = objects.InstanceMapping.get_by_instance_uuid(
                nova_context.get_admin_context(), server)
    except exception.InstanceMappingNotFound:
        raise errors.NotFound(f'there is no server {server}') from None
    if mapping.cell_mapping is None:
        raise errors.NotFound(
            f'server {server} has not been scheduled yet, ask again')
    return mapping.cell_mapping


def _behind(
    marker: str, cells: list[typing.Any],
) -> tuple[list[typing.Any], int]:
    """Return the cells from a server's own on, and the server's ID."""
    own = _cell_of(marker)
    with deployment_files.targeted(own) as targeted:
        found = _id_of(targeted, marker)
    if found is None:
        raise errors.NotFound(f'there is no server {marker}')
    at = [each.uuid for each in cells].index(own.uuid)
    return cells[at:], found
