"""One Glance for all tests of the folder."""

import pytest

from testing.harness import fixture
from tests.glance import real

cloud = fixture.cloud


@pytest.fixture(scope='session')
def glance(tmp_path_factory):
    """A running Glance, with injection and property protections."""
    running = real.Glance(tmp_path_factory.mktemp('glance'))
    yield running
    running.stop()
