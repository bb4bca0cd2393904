"""What pytest does at the end of each of its processes."""

import sys


def pytest_sessionfinish() -> None:
    # If it was not imported, no cloud runs, and Nova need not be there.
    shared = sys.modules.get('testing.harness.shared')
    if shared:
        shared.end()
