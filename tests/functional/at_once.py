"""Something happens once, at a point within Nova that a test chooses."""

import contextlib
from unittest import mock

from nova.db.main import api as db_api
from sqlalchemy import orm


@contextlib.contextmanager
def before_its_statement(act):
    """Do ACT once, between what the next transaction reads and what it writes.

    The transaction then returns a server as it was before, as on MariaDB.
    """
    original = db_api.instance_update_and_get_original
    done = []

    def late(context, server, *args, **kwargs):
        if done:
            return original(context, server, *args, **kwargs)
        read = db_api.instance_get_by_uuid(
            context, server, columns_to_join=['system_metadata'])
        done.append(True)
        act()
        before, after = original(context, server, *args, **kwargs)
        orm.attributes.set_committed_value(
            after, 'system_metadata', list(read.system_metadata))
        return before, after

    with mock.patch.object(db_api, 'instance_update_and_get_original', late):
        yield
    assert done


@contextlib.contextmanager
def meanwhile(owner, method, act):
    """Do ACT once, when METHOD of OWNER is first called."""
    original = getattr(owner, method)
    done = []

    def late(*args, **kwargs):
        if not done:
            done.append(True)
            act()
        return original(*args, **kwargs)

    with mock.patch.object(owner, method, late):
        yield
    assert done
