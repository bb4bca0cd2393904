"""``python -m tests.proof.mutation``: what mutmut's run has found.

Survivors are listed in survivors.json with the reason why no test can find
them; what is not in there is a gap in the tests. They are listed by what the
fault changes, not by mutmut's numbers, which are different after each edit.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

from tests.proof import figures

#: Faults that no test can find: function, line, the line with the fault, and
#: the reason.
SURVIVORS = pathlib.Path(__file__).with_name('survivors.json')

#: The share of the mutants that must be killed.
KILLED_MIN = 0.9

#: Code that runs when tests are collected.
_ON_IMPORT = 'nova_image_override.properties.'

#: How a mutant dies.
_KILLED = frozenset({'killed', 'timeout', 'segfault'})

#: A fault: function, line, the line with the fault.
Fault = tuple[str, str, str]


def mutmut(*arguments: str) -> str:
    """Return what mutmut prints."""
    return subprocess.run(
        [pathlib.Path(sys.executable).with_name('mutmut'), *arguments],
        check=True, capture_output=True, text=True).stdout


def results() -> dict[str, str]:
    """Return what became of each mutant, by its name."""
    return dict(line.strip().rsplit(': ', 1)
                for line in mutmut('results', '--all', 'true').splitlines()
                if ': ' in line)


def dies_in_a_process_of_its_own(mutant: str) -> bool:
    """Return whether tests find a mutant of what is made on import.

    mutmut forks its workers when everything is imported: the catalogue that
    most tests use has been made by then, from the code without a fault.
    """
    return subprocess.run(
        [sys.executable, '-W', 'ignore', '-m', 'pytest', '-q', '-x',
         'tests/unit/properties', 'tests/unit/test_override_parse.py'],
        cwd='mutants', capture_output=True,
        env={**os.environ, 'MUTANT_UNDER_TEST': mutant}).returncode != 0


def function_of(mutant: str) -> str:
    """Return the dotted name of the function that a mutant is made of.

    mutmut calls mutants ``module.x_function__mutmut_1`` and
    ``module.xǁClassǁmethod__mutmut_1``.
    """
    module, _, name = mutant.rpartition('__mutmut_')[0].rpartition('.')
    name = '.'.join(name.split('ǁ')[1:]) or name.removeprefix('x_')
    return f'{module}.{name}'


def fault(mutant: str, diff: str) -> Fault:
    """Return what a mutant changes.

    :param diff: as ``mutmut show`` prints it
    """
    lines = [line for line in diff.splitlines()
             if not line.startswith(('---', '+++'))]
    line, wrong = (' '.join(line[1:].strip() for line in lines
                            if line.startswith(sign)) for sign in '-+')
    return function_of(mutant), line, wrong


def reasons() -> dict[Fault, str]:
    """Return why each fault that is listed cannot be found."""
    return {(each['function'], each['line'], each['fault']): each['reason']
            for each in json.loads(SURVIVORS.read_text())}


def main() -> int:
    """Print and record the result.

    :returns: 1 when too few are killed, when a survivor has no reason, or
        when a reason is given for what has not survived
    """
    found = results()
    for name, how in found.items():
        if how == 'survived' and name.startswith(_ON_IMPORT) \
                and dies_in_a_process_of_its_own(name):
            found[name] = 'killed'
    counted = collections.Counter(found.values())
    killed = sum(counted[how] for how in _KILLED)
    explained = reasons()
    survivors = {name: fault(name, mutmut('show', name))
                 for name, how in sorted(found.items()) if how not in _KILLED}
    unexplained = [name for name, what in survivors.items()
                   if what not in explained]
    stale = explained.keys() - survivors.values()
    figures.record('mutation', {
        'mutants': len(found), 'killed': killed,
        'percent': round(100 * killed / len(found), 1),
        'survivors_with_a_reason': len(survivors) - len(unexplained),
        'survivors_without': len(unexplained)}, 'make mutation')
    print(f'{killed} of {len(found)} killed, {dict(counted)}')
    for name in unexplained:
        print(f'no reason is given for {name}: {found[name]}')
    for what in sorted(stale):
        print('a reason is given for what has not survived: '
              + ' | '.join(what))
    return int(killed < KILLED_MIN * len(found)
               or bool(unexplained) or bool(stale))


if __name__ == '__main__':
    sys.exit(main())
