"""One cloud, and one adapter that asks it."""

import pytest
import requests_mock

from nova_image_override import versions
from tests.unit.client import adapters


@pytest.fixture
def cloud():
    with requests_mock.Mocker() as mocker:
        mocker.get(adapters.URL + versions.PATH, **adapters.discovered())
        mocker.post(f'{adapters.URL}/servers', json={})
        mocker.post(f'{adapters.URL}/servers/id/action', json={})
        yield mocker


@pytest.fixture
def compute(cloud):
    return adapters.make()
