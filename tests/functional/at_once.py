"""Something happens once, at a point within Nova that a test chooses."""

import contextlib
from unittest import mock

from nova.db.main import api as db_api
from sqlalchemy import orm

update = db_api.instance_update_and_get_original


def overtaken(act, context, server, values, *args, **kwargs):
    """Update a server; do ACT between what this reads and what it writes.

    The transaction then returns, besides VALUES, a server as it was before, as
    on MariaDB.
    """
    read = db_api.instance_get_by_uuid(
        context, server, columns_to_join=['system_metadata'])
    act()
    before, after = update(
        context, server, values, *args, **kwargs)
    if 'system_metadata' not in values:
        orm.attributes.set_committed_value(
            after, 'system_metadata', list(read.system_metadata))
    return before, after


@contextlib.contextmanager
def before_its_statement(act):
    """Do ACT once, between what the next transaction reads and what it writes.
    """
    done = []

    def late(*args, **kwargs):
        if done:
            return update(*args, **kwargs)
        done.append(True)
        return overtaken(act, *args, **kwargs)

    with mock.patch.object(db_api, 'instance_update_and_get_original', late):
        yield
    assert done


@contextlib.contextmanager
def meanwhile(owner, method, act):
    """Do ACT once, when METHOD of OWNER is first called.

    Yields a list, for what ACT returns.
    """
    original = getattr(owner, method)
    left, answers = [act], []

    def late(*args, **kwargs):
        if left:
            answers.append(left.pop()())
        return original(*args, **kwargs)

    with mock.patch.object(owner, method, late):
        yield answers
    assert not left
