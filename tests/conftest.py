"""What pytest does at the beginning and the end of each of its processes."""

import logging
import sys

import pytest

# Their assertions say what they compared, as those of tests do.
pytest.register_assert_rewrite('testing', 'tests')


def pytest_sessionfinish() -> None:
    # pytest prints what is logged from here on after its summary.
    logging.disable()
    # If it was not imported, no cloud runs, and Nova need not be there.
    shared = sys.modules.get('testing.harness.shared')
    if shared:
        shared.end()
