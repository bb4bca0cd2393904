"""One Ironic for all tests of the folder."""

import pathlib
import tempfile

import pytest

from testing.harness import fixture
from testing.harness import shared
from tests.drivers.ironic import images
from tests.drivers.ironic import real

cloud = fixture.cloud


@pytest.fixture(scope='session')
def ironic():
    """A running Ironic, with one node of fake hardware."""
    # While a cloud runs, temporary files are among those that it removes when
    # it ends (nova.test.TestCase.setUp).
    shared.end()
    with images.Images() as glance, tempfile.TemporaryDirectory() as folder:
        running = real.Ironic(pathlib.Path(folder), glance)
        yield running
        running.stop()
