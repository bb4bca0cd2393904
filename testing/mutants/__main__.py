"""Try the mutants of what decides; see the package's docstring.

Results are kept, and a run goes on where another has ended. One that a test
noticed counts until its module changes, one that none noticed until any test
changes, too.
"""

from __future__ import annotations

import argparse
import collections
import csv
import hashlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

from testing import checkout
from testing.mutants import DECIDES
from testing.mutants import run
from testing.mutants import tests as tests_module
from testing.mutants.mutant import Mutant
from testing.mutants.mutant import mutants

_ROOT = checkout.ROOT
_PACKAGE = 'nova_image_override'

#: Mutants that change nothing that a test could see, each with the reason.
TABLE = _ROOT / 'docs/source/contributor/equivalent-mutants.csv'

#: Where unit tests cover not every branch (COVERED in the Makefile).
_BY_SERVICES = (f'{_PACKAGE}/api/', f'{_PACKAGE}/compute/')

#: Folder of tests -> how many are tried before all the others that run a line.
FOLDERS = {'unit': 20, 'functional': 3}

#: What imports Nova and the libraries. The harness must be the first to.
IMPORTED = {
    'unit': ('hypothesis', f'{_PACKAGE}.api.application',
             f'{_PACKAGE}.compute.manager'),
    'functional': ('testing.harness', 'testing.harness.fixture')}

#: Where coverage has noted which tests of a folder run which line, and where
#: results are kept.
NOTES = _ROOT / '.venv/mutants'


def all_mutants() -> list[Mutant]:
    """Return the mutants of all that decides."""
    return [mutant for pattern in DECIDES
            for path in sorted((_ROOT / _PACKAGE).glob(pattern))
            for mutant in mutants(path, _ROOT)]


def explained() -> dict[tuple[str, str, str], str]:
    """Return the table: mutant -> why no test can notice it."""
    with TABLE.open(newline='') as file:
        return {(row['file'], row['function'], row['change']): row['reason']
                for row in csv.DictReader(file)}


def changed_lines(base: str) -> dict[str, set[int]]:
    """Return the lines of the package that differ from a commit.

    :param base: the commit; '' for where the published main was left, or else
        the one before this
    :raises subprocess.CalledProcessError: there is no such commit
    """
    if not base:
        try:
            base = checkout.git('merge-base', 'origin/main', 'HEAD')
        except subprocess.CalledProcessError:
            base = 'HEAD~1'
        if base == checkout.git('rev-parse', 'HEAD'):
            base = 'HEAD~1'
    found: dict[str, set[int]] = {}
    for line in checkout.git('diff', '--unified=0', '--no-ext-diff', base, '--',
                     _PACKAGE).splitlines():
        if line.startswith('+++ '):
            lines = found.setdefault(line.removeprefix('+++ b/'), set())
        elif part := re.match(r'@@ -\S+ \+(\d+)(?:,(\d+))? @@', line):
            first = int(part[1])
            lines.update(range(first, first + int(part[2] or 1)))
    return found


def _digest(*paths: pathlib.Path) -> str:
    return hashlib.sha256(
        b''.join(path.read_bytes() for path in paths)).hexdigest()[:16]


class Results:
    """What notices each mutant: (folder, *key) -> a test, or ''."""

    def __init__(self) -> None:
        self._file = NOTES / 'results.jsonl'
        self._tests = _digest(*sorted(
            path for folder in FOLDERS
            for path in (_ROOT / 'tests' / folder).rglob('*.py')))
        self._code = {str(path.relative_to(_ROOT)): _digest(path)
                      for path in (_ROOT / _PACKAGE).rglob('*.py')}
        self._noticed: dict[tuple[str, ...], str] = {}
        self._file.touch()
        for line in self._file.read_text().splitlines():
            where, noticed, code, tests = json.loads(line)
            if code == self._code.get(where[1]) and (
                    noticed or tests == self._tests):
                self._noticed[tuple(where)] = noticed

    def of(self, mutant: Mutant) -> dict[str, str]:
        """Return folder -> what notices it there, '' for nothing."""
        return {folder: self._noticed[(folder, *mutant.key)]
                for folder in FOLDERS
                if (folder, *mutant.key) in self._noticed}

    def add(self, mutant: Mutant, folder: str, noticed: str) -> None:
        """Keep a result."""
        with self._file.open('a') as file:
            file.write(json.dumps([
                (folder, *mutant.key), noticed, self._code[mutant.path],
                self._tests]) + '\n')


def _noticed(
    mutant: Mutant, folder: str, covering: tests_module.Covering,
) -> str:
    found, every = covering.tests(mutant), []
    if folder == 'unit' and not mutant.path.startswith(_BY_SERVICES):
        # What is made once and kept (a constant, the catalogue, a fixture of
        # the session) only the test before which it was made seems to run.
        every = ['tests/unit', '-m', 'not process']
    return (run.noticed_by(mutant, _ROOT, found[:FOLDERS[folder]])
            or run.noticed_by(mutant, _ROOT, found[FOLDERS[folder]:])
            or run.noticed_by(mutant, _ROOT, every))


def _try(mutants: list[Mutant], folder: str, jobs: int, end: float) -> None:
    """Try mutants side by side, each worker a process with its share."""
    if first := os.fork():
        os.waitpid(first, 0)
        return
    covering = tests_module.Covering(NOTES / folder, _ROOT)
    run.import_libraries(IMPORTED[folder])
    results = Results()
    workers = []
    for job in range(jobs):
        if worker := os.fork():
            workers.append(worker)
            continue
        for mutant in mutants[job::jobs]:
            if time.monotonic() > end:
                break
            noticed = _noticed(mutant, folder, covering)
            results.add(mutant, folder, noticed)
            print(f'{folder}: {" ".join(mutant.key)}: '
                  f'{noticed or "NOT NOTICED"}', flush=True)
        os._exit(0)
    for worker in workers:
        os.waitpid(worker, 0)
    os._exit(0)


def _state(mutant: Mutant, results: Results) -> str:
    """Return what became of a mutant.

    Where unit tests cover every branch, they are enough.
    """
    found = results.of(mutant)
    if any(found.values()):
        return 'noticed'
    needed = {'unit'} | {
        folder for folder in FOLDERS if (NOTES / folder).exists()
        or mutant.path.startswith(_BY_SERVICES)}
    return 'not noticed' if found.keys() >= needed else 'not tried'


def main() -> int:
    parser = argparse.ArgumentParser(prog='python -m testing.mutants')
    parser.add_argument('modules', nargs='*', help='patterns; default: all')
    parser.add_argument('--changed', metavar='BASE', help=(
        'only lines that differ from a commit; "" for where main was left'))
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--minutes', type=float, default=float('inf'))
    parser.add_argument('--seed', type=int, default=os.getpid())
    arguments = parser.parse_args()
    wanted, reasons = all_mutants(), explained()
    gone = reasons.keys() - {each.key for each in wanted}
    for key in sorted(gone):
        print('in the table, but no mutant: ' + ' '.join(key))
    if arguments.modules:
        wanted = [each for each in wanted if any(map(
            pathlib.PurePath(each.path).match, arguments.modules))]
    if arguments.changed is not None:
        try:
            lines = changed_lines(arguments.changed)
        except (OSError, subprocess.CalledProcessError):
            print('No commit to compare with: no mutant is tried.')
            return bool(gone)
        wanted = [each for each in wanted if not lines.get(
            each.path, set()).isdisjoint(range(each.first, each.last + 1))]
    print(f'{len(wanted)} mutants, --seed {arguments.seed}', flush=True)
    end = time.monotonic() + 60 * arguments.minutes
    order = [each for each in wanted if each.key not in reasons]
    random.Random(arguments.seed).shuffle(order)  # noqa: S311 - only an order
    for folder in FOLDERS:
        results = Results()
        left = [each for each in order if folder not in results.of(each)
                and _state(each, results) != 'noticed']
        if left and (NOTES / folder).exists():
            _try(left, folder, arguments.jobs, end)
    results = Results()
    counts: dict[str, collections.Counter[str]] = {}
    for each in wanted:
        state = ('equivalent' if each.key in reasons
                 else _state(each, results))
        for path in (each.path, 'all'):
            counts.setdefault(path, collections.Counter())[state] += 1
        if state == 'not noticed':
            print('NOT NOTICED: ' + ' '.join(each.key))
    for path, states in counts.items():
        print(f'{path}: {sum(states.values())} mutants: ' + ', '.join(
            f'{count} {state}' for state, count in sorted(states.items())))
    failures = ['not noticed']
    if arguments.minutes == float('inf'):
        failures.append('not tried')
    return bool(gone or any(map(counts.get('all', {}).get, failures)))


if __name__ == '__main__':
    sys.exit(main())
