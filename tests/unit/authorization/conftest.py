"""What the tests of rules share."""

import pytest

from nova_image_override.authorization import watched_files


@pytest.fixture
def said(monkeypatch):
    """Return a list that grows with each error that is logged."""
    lines = []
    monkeypatch.setattr(watched_files.LOG, 'error', lambda message, *args:
                        lines.append(message % args))
    return lines
