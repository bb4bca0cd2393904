"""One Glance for all tests of the folder."""

import pytest

from tests.glance import real


@pytest.fixture(scope='session')
def glance(tmp_path_factory):
    """A running Glance, with injection and property protections."""
    running = real.Glance(tmp_path_factory.mktemp('glance'))
    yield running
    running.stop()
