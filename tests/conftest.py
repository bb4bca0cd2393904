"""What pytest does at the beginning and the end of each of its processes."""

import sys

import pytest

# Their assertions say what they compared, as those of tests do.
pytest.register_assert_rewrite('testing', 'tests')


def pytest_sessionfinish() -> None:
    # If it was not imported, no cloud runs, and Nova need not be there.
    shared = sys.modules.get('testing.harness.shared')
    if shared:
        shared.end()
