"""Lists of servers that override a property, in Nova's own pages.

Nova's filter ``system_metadata`` covers what is stored in every cell, with
Nova's own sorting and paging. It does not reach servers that wait for the
scheduler: those have no row in a cell yet, only a build request.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from nova import objects
from nova.db.main import models
import sqlalchemy as sa
from sqlalchemy import orm

from nova_image_override import override_record as record

#: get_all of Nova's compute API, bound to all but what is passed by name here.
GetAll = Callable[..., 'objects.InstanceList']


class RecordFilter:
    """A value for Nova's filter ``system_metadata``: servers with a record.

    Nova compares the keys and values of rows with the pairs that it finds here
    (nova/db/main/api.py _exact_instance_filter), each in a subquery of its
    own. So there is only one pair, however many names there are: a row of the
    first name, of a server with as many such rows as there are names.

    :param names: properties, all of which a server has to override; none for
        any
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = sorted(names)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield pairs of key and value, as expressions of SQL."""
        row = models.InstanceSystemMetadata
        first, *others = self._names or ('',)
        wanted = row.key.in_(record.keys(first)) if first else sa.or_(*(
            row.key.startswith(prefix, autoescape=True)
            for prefix in record.keys(first)))
        if others:
            each = orm.aliased(row)
            found = sa.select(sa.func.count()).where(
                each.instance_uuid == row.instance_uuid, each.deleted == 0,
                each.key.in_([
                    key for name in others for key in record.keys(name)]),
            ).correlate(row).scalar_subquery()
            wanted = sa.and_(wanted, found == len(others))
        # Neither condition holds for NULL; the value of any row is itself.
        yield sa.case((wanted, row.key), else_=None), row.value

    def __deepcopy__(self, memo: dict[int, Any]) -> RecordFilter:
        # Nova copies filters; what is here is never changed.
        return self


def servers(
    get_all: GetAll, context: Any, names: Collection[str],
    search_opts: Mapping[str, Any], limit: int | None, marker: str | None,
) -> objects.InstanceList:
    """Return a page of the servers that override all of NAMES.

    Like Nova's pages, it begins with those that wait for the scheduler.

    :param get_all: as in Nova's compute API
    :param search_opts: what else the servers have to match
    """
    page: list[Any] = []
    waiting = _waiting(context, names, search_opts)
    if waiting and (marker is None or marker in waiting):
        page.extend(get_all(search_opts={**search_opts, 'uuid': waiting},
                            limit=limit, marker=marker))
        marker = None
        if limit and len(page) >= limit:
            return objects.InstanceList(objects=page)
    seen = {instance.uuid for instance in page}
    page.extend(
        instance for instance in get_all(
            search_opts={**search_opts, 'system_metadata': RecordFilter(names)},
            limit=limit and limit - len(page), marker=marker)
        # Without those that have got their cell in the meantime.
        if instance.uuid not in seen)
    return objects.InstanceList(objects=page)


def _waiting(
    context: Any, names: Collection[str], search_opts: Mapping[str, Any],
) -> list[str]:
    """Return the servers that wait for the scheduler, if Nova lists them."""
    if {'ip', 'ip6'} & search_opts.keys():
        # They have no address, and Nova finds others by their UUID.
        return []
    waiting = [
        request.instance.uuid
        for request in objects.BuildRequestList.get_all(context)
        if set(names) <= record.in_force(
            request.instance.system_metadata).keys()]
    wanted = search_opts.get('uuid')
    return [uuid for uuid in waiting if wanted in (None, uuid)]
