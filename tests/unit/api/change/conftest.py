"""Nova's databases without its services, and what comes between."""

import contextlib

from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models as main_models
from oslo_db.sqlalchemy import enginefacade
from oslo_db.sqlalchemy import test_fixtures
import pytest


@pytest.fixture(scope='module')
def databases(tmp_path_factory):
    """The cell's database and the API database, as files of SQLite."""
    folder = tmp_path_factory.mktemp('databases')
    with contextlib.ExitStack() as stack:
        for name, module, models in (('main', main_db, main_models),
                                     ('api', api_db, api_models)):
            manager = enginefacade.transaction_context()
            manager.configure(connection=f'sqlite:///{folder}/{name}',
                              sqlite_synchronous=False)
            stack.enter_context(test_fixtures.ReplaceEngineFacadeFixture(
                module.context_manager, manager))
            models.BASE.metadata.create_all(manager.writer.get_engine())
        yield


@pytest.fixture
def during(monkeypatch):
    """Has something happen once, before a call of a function."""
    def put(act, module, name, call=1):
        real, calls = getattr(module, name), []

        def called(*args, **kwargs):
            calls.append(name)
            if len(calls) == call:
                act()
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, called)

    return put
