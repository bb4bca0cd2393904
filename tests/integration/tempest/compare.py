"""What a run of Tempest says about each test, and how two runs differ."""

import collections
import csv
import io

#: What subunit2csv calls a test that has passed.
PASSED = 'success'

#: Name of a test -> what became of it. For a class that could not be set up
#: there is one entry, and none for its tests.
Results = dict[str, str]


def read(text: str) -> Results:
    """Return what ``subunit2csv`` says about a run."""
    return {row['test']: row['status']
            for row in csv.DictReader(io.StringIO(text))}


def count(results: Results) -> str:
    """Return how many tests ended in which way, for people."""
    return ', '.join(
        f'{number} {status}' for status, number in sorted(
            collections.Counter(results.values()).items()))


def failed(results: Results) -> list[str]:
    """Return the tests that neither passed nor were skipped."""
    return sorted(name for name, status in results.items()
                  if status not in (PASSED, 'skip'))


def lost(plain: Results, extended: Results) -> list[str]:
    """Return the tests that pass on the plain cloud but not on the other.

    What did not run there has not passed.
    """
    return sorted(
        name for name, status in plain.items()
        if status == PASSED != extended.get(name))
