"""Which tests run a line, as pytest-cov notes with ``--cov-context=test``."""

from __future__ import annotations

import collections
import pathlib

import coverage

from testing.mutants.mutant import Mutant


class Covering:
    """The tests of one folder, by the lines that they run.

    :param data: the file that coverage wrote
    """

    def __init__(self, data: pathlib.Path, root: pathlib.Path) -> None:
        noted = coverage.CoverageData(str(data))
        noted.read()
        self._root = root
        self._lines = {
            path: {line: {_run_by(each) for each in contexts if each}
                   for line, contexts in noted.contexts_by_lineno(path).items()}
            for path in noted.measured_files()}
        #: test -> how many lines it runs
        self._size = collections.Counter(
            test for lines in self._lines.values()
            for tests in lines.values() for test in tests)

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that run a mutant.

        First those that are named for the module, then those that run least.
        Those that only a fixture runs it for come last. What runs when the
        module is imported, all its tests run.
        """
        lines = self._lines.get(str(self._root / mutant.path), {})
        found = set().union(*(
            lines.get(line, ()) for line in range(
                mutant.first, mutant.last + 1))) or set().union(*lines.values())
        named = f'test_{pathlib.PurePath(mutant.path).stem}.py'
        return sorted(found, key=lambda test: (
            '::test_' not in test, named not in test, self._size[test], test))


def _run_by(context: str) -> str:
    """Return the test of a context, or the class or module of a fixture's.

    What a fixture makes, such as a cloud of a class, other tests may share.
    """
    test, _, phase = context.rpartition('|')
    return test if phase == 'run' else (
        test.partition('[')[0].rpartition('::')[0])
