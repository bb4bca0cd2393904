"""What tests ask for: a cloud, or Nova without its services.

The cloud's class is what the test's class has as ``CLOUD``, else its module as
``Cloud``, else base.Cloud; so is ``NOVA``. The attributes of the cloud's class
that the test's class has too are set for this cloud.
"""
from __future__ import annotations

import collections.abc
import typing

import pytest

from testing.harness import base
from testing.harness import nodb
from testing.harness import shared


def _kind(request: pytest.FixtureRequest, name: str, default: type) -> type:
    return getattr(request.cls, name.upper(), getattr(
        request.module, name, default))


def _settings(test_class: type | None, kind: type) -> dict[str, typing.Any]:
    return {name: getattr(test_class, name) for name in dir(test_class)
            if name.isupper() and hasattr(kind, name)}


@pytest.fixture
def cloud(
    request: pytest.FixtureRequest,
) -> collections.abc.Iterator[base.Cloud]:
    """A cloud, which other tests have used and will use."""
    kind = _kind(request, 'Cloud', base.Cloud)
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
    with _kind(request, 'Nova', nodb.Nova).running() as running:
        yield running
