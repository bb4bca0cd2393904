"""One cloud, and one adapter that asks it."""

import pytest
import requests_mock

from nova_image_override import versions
from tests.unit.client import wire


@pytest.fixture
def cloud():
    with requests_mock.Mocker() as mocker:
        mocker.get(wire.URL + versions.PATH, **wire.discovery())
        mocker.post(f'{wire.URL}/servers', json={})
        mocker.post(f'{wire.URL}/servers/id/action', json={})
        yield mocker


@pytest.fixture
def compute(cloud):
    return wire.make()
