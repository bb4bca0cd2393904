"""What the tests of rules share."""

import pytest

from nova_image_override.authorization import watched_files
from tests.unit.authorization import policy_folder


@pytest.fixture
def files(tmp_path):
    """Return a folder for policy files."""
    return policy_folder.Files(tmp_path)


@pytest.fixture
def said(monkeypatch):
    """Return a list that grows with each error that is logged."""
    lines = []
    monkeypatch.setattr(watched_files.LOG, 'error', lambda message, *args:
                        lines.append(message % args))
    return lines
