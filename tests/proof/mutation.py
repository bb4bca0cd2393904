"""``python -m tests.proof.mutation``: what mutmut's run has found.

Survivors are listed in survivors.json with the reason why each cannot be
killed; what is not in there is a gap in the tests.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

from tests.proof import figures

#: Mutant -> why nothing could tell it from the original.
REASONS = pathlib.Path(__file__).with_name('survivors.json')

#: Share of the mutants that must be killed.
KILLED_MIN = 0.9

#: What runs when tests are collected.
_ON_IMPORT = 'nova_image_override.catalog.'

#: How a mutant dies.
_KILLED = frozenset({'killed', 'timeout', 'segfault'})


def results() -> dict[str, str]:
    """Return what became of each mutant, by its name."""
    text = subprocess.run(
        [pathlib.Path(sys.executable).with_name('mutmut'), 'results',
         '--all', 'true'], check=True, capture_output=True, text=True).stdout
    return dict(line.strip().rsplit(': ', 1)
                for line in text.splitlines() if ': ' in line)


def dies_in_a_process_of_its_own(mutant: str) -> bool:
    """Say whether tests find a mutant of what is made on import.

    mutmut forks its workers when all is imported: the catalogue that most
    tests use has been made by then, of the code without a fault.
    """
    return subprocess.run(
        [sys.executable, '-W', 'ignore', '-m', 'pytest', '-q', '-x',
         'tests/unit/test_catalog.py', 'tests/unit/test_override_parse.py',
         'tests/unit/test_schema.py'],
        cwd='mutants', capture_output=True,
        env={**os.environ, 'MUTANT_UNDER_TEST': mutant}).returncode != 0


def main() -> int:
    """Print and record the result; fail when too few are killed."""
    found = results()
    for name, how in found.items():
        if how == 'survived' and name.startswith(_ON_IMPORT) \
                and dies_in_a_process_of_its_own(name):
            found[name] = 'killed'
    counted = collections.Counter(found.values())
    killed = sum(counted[how] for how in _KILLED)
    reasons = json.loads(REASONS.read_text()) if REASONS.exists() else {}
    survivors = sorted(name for name, how in found.items()
                       if how not in _KILLED)
    unexplained = [name for name in survivors if name not in reasons]
    figures.record('mutation', {
        'mutants': len(found), 'killed': killed,
        'percent': round(100 * killed / len(found), 1),
        'survivors_with_a_reason': len(survivors) - len(unexplained),
        'survivors_without': len(unexplained)})
    print(f'{killed} of {len(found)} killed, {dict(counted)}')
    for name in unexplained:
        print(f'no reason is given for {name}: {found[name]}')
    return int(killed < KILLED_MIN * len(found))


if __name__ == '__main__':
    sys.exit(main())
