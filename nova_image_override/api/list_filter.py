"""Lists of servers that override a property, in Nova's own pages.

Nova's filter ``system_metadata`` covers what is stored in every cell, with
Nova's own sorting and paging. It does not reach servers that wait for the
scheduler, which have no row in a cell yet: of their build requests Nova looks
at the user's metadata instead (BuildRequestList._pass_exact_filters).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nova.db.main import models
import sqlalchemy as sa
from sqlalchemy import orm

from nova_image_override import metadata_keys


class RecordFilter:
    """A value for Nova's filter ``system_metadata``: servers with a record.

    Nova compares the keys and values of rows with the pairs that it finds here
    (nova/db/main/api.py _exact_instance_filter), each in a subquery of its
    own. So there is only one pair, however many names there are: a row of the
    first name, of a server with as many such rows as there are names.

    :param names: properties, all of which a server has to override
    :param preset: the preset that its overrides have to come with, or ''
    """

    def __init__(self, names: Iterable[str] = (), preset: str = '') -> None:
        #: Keys of which a server has to have one, each time; without any, one
        #: that begins as those of overrides do.
        self._keys = [*map(metadata_keys.override_keys, sorted(names)), *(
            [metadata_keys.preset_keys(preset)] if preset else ())]

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield pairs of key and value, as expressions of SQL."""
        row = models.InstanceSystemMetadata
        first, *others = self._keys or ((),)
        wanted = row.key.in_(first) if first else sa.or_(*(
            row.key.startswith(prefix, autoescape=True)
            for prefix in metadata_keys.override_keys('')))
        if others:
            each = orm.aliased(row)
            found = sa.select(sa.func.count()).where(
                each.instance_uuid == row.instance_uuid,
                # Those of a deleted server are marked as deleted, and no other.
                each.key.in_([key for keys in others for key in keys]),
            ).correlate(row).scalar_subquery()
            wanted = sa.and_(wanted, found == len(others))
        # Neither condition holds for NULL; the value of any row is itself. That
        # each names the server once more keeps MariaDB from reading all rows of
        # a cell into a table first: it uses the index instance_uuid.
        its = row.instance_uuid == models.Instance.uuid
        yield (sa.case((sa.and_(its, wanted), row.key), else_=None),
               sa.case((its, row.value), else_=None))

    def __deepcopy__(self, memo: dict[int, Any]) -> RecordFilter:
        # Nova copies filters; what is here is never changed.
        return self
