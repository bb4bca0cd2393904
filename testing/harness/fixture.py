"""What tests ask for: a cloud, or Nova without its services.

The class of a test says which: ``CLOUD`` (``NOVA``) is its class, and each
attribute of that class which the test's class has too is different.
"""

import collections.abc
import typing

import pytest

from testing.harness import base
from testing.harness import nodb
from testing.harness import shared


def _settings(test_class: type | None, kind: type) -> dict[str, typing.Any]:
    return {name: getattr(test_class, name) for name in dir(test_class)
            if name.isupper() and hasattr(kind, name)}


@pytest.fixture
def cloud(
    request: pytest.FixtureRequest,
) -> collections.abc.Iterator[base.Cloud]:
    """A cloud, which other tests have used and will use."""
    kind = getattr(request.cls, 'CLOUD', base.Cloud)
    failed = request.session.testsfailed
    with shared.lent(kind, _settings(request.cls, kind)) as running:
        yield running
        if request.session.testsfailed > failed:
            running.discard()


@pytest.fixture
def nova(
    request: pytest.FixtureRequest,
) -> collections.abc.Iterator[nodb.Nova]:
    """Nova's code and configuration; no service runs."""
    with getattr(request.cls, 'NOVA', nodb.Nova).running() as running:
        yield running
