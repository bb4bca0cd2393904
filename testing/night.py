"""``make night``: what takes too long for CI, where it is older than its code.

usage: python -m testing.night [check]

A step is one call of make. It is up to date if what it recorded, or its last
line in ``figures/night.jsonl``, is of a commit since which nothing that it
speaks of has changed. With "check", nothing is run: each record must be of
an ancestor, as it was written, and must say what the pages say.
"""

from __future__ import annotations

import collections.abc
import contextlib
import datetime
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time
import typing

from testing import checkout
from testing import figures
from testing import mutants

_FOLDER = figures.FOLDER.relative_to(checkout.ROOT)
_NIGHT = figures.FOLDER / 'night.jsonl'

_DECIDES = (':(glob)nova_image_override/*.py', *(
    f'nova_image_override/{each}' for each in (
        'api', 'authorization', 'compute', 'hosts', 'properties')))
_ANYTHING = ('nova_image_override', 'setup.cfg')
_CLIENT = ('nova_image_override/client',)
_DASHBOARD = ('nova_image_override_dashboard',)
_CLOUD = ('testing/deployment',)
_MAKEFILE = (checkout.ROOT / 'Makefile').read_text()
# Which values a real guest takes is Nova's, libvirt's and QEMU's to say: only
# another row of the book changes what is asked (test_docs.py compares those).
_BOOK = ('nova_image_override/properties/book', 'testing/cases')


class Step(typing.NamedTuple):
    """A call of make.

    :ivar paths: what it speaks of, as git takes them
    :ivar records: patterns of the files that it writes into figures/
    :ivar least: what each of them must count at least, for what pages say
    """

    paths: tuple[str, ...]
    records: tuple[str, ...] = ()
    least: dict[str, int] = {}


def _step(*paths: str, **kwargs: typing.Any) -> Step:
    """Return a step that speaks of what decides, and of PATHS."""
    return Step((*_DECIDES, *paths), **kwargs)


def _proof(*names: str, **kwargs: typing.Any) -> Step:
    return _step(*(f'tests/proof/{name}.py' for name in names), **kwargs)


def _each(name: str, parts: str, step: Step) -> dict[str, Step]:
    """Return the targets of a pattern: one for each word of a Makefile's list.

    Each is recorded by itself, so that less is lost if a night ends early.
    """
    words = re.findall(rf'^{parts} := (.+)$', _MAKEFILE, re.MULTILINE)[0]
    return {name.replace('%', word): step for word in words.split()}


def _pairs(record: str) -> Step:
    return Step((*_BOOK, 'testing/pairs'), (f'*-{record}-34.json',),
                {'guests': 1})


def _properties(record: str) -> Step:
    return Step((*_BOOK, 'tests/integration/properties.py'),
                (f'properties-{record}-*',))


#: In the order in which they are run: the shorter ones first.
STEPS = {
    'proof-laws': _step('tests/unit/test_override_merge.py'),
    **_each('proof-concurrency-%', 'MAINTAINED', _proof('test_concurrency')),
    **_each('proof-nfv-%', 'MAINTAINED', _proof('test_nfv', 'nfv')),
    'proof-ways-in': _proof('test_ways_in', 'ways_in'),
    **_each('proof-neutrality-%', 'MAINTAINED', _proof(
        'test_neutrality', 'side_by_side')),
    **_each('proof-values-%', 'MAINTAINED', _proof('test_values', 'built')),
    'proof-check': _proof('test_check', 'requests', 'samples'),
    'proof-hosts': _proof(
        'test_hosts', records=('hosts-*',), least={'requests': 300}),
    'proof-malformed': _proof(
        'test_malformed', records=('malformed-*',), least={'requests': 2500}),
    'fuzz': _proof('test_generated', 'requests', 'bodies'),
    'proof-sequences': _proof(
        'test_sequences', records=('sequences-*',), least={'sequences': 1000}),
    'proof-interleavings': _proof(
        'test_interleavings', 'interleaving',
        records=('interleavings-*',), least={'stops': 1}),
    'hostile-search': _step(
        'benchmarks/search.py', 'benchmarks/hostile_cloud.py',
        records=('hostile-*',), least={'requests': 1}),
    **_each('test-clients-%', 'OLDER_CLIENTS', _step(
        *_CLIENT, 'tests/clients')),
    **_each('test-dashboard-%', 'OLDER_DASHBOARDS', _step(
        *_DASHBOARD, 'tests/dashboard')),
    **_each('test-javascript-%', 'OLDER_DASHBOARDS', _step(
        *_DASHBOARD, 'tests/dashboard/javascript')),
    **_each('test-glance-%', 'MAINTAINED', _step('tests/glance')),
    **_each('test-drivers-%', 'MAINTAINED', _step(
        'testing/drivers', 'tests/drivers')),
    'test-upgrade': _step('tests/upgrade'),
    'wheels test-sid': Step(
        (*_ANYTHING, 'tests/unit', 'tests/functional'), ('platforms*',)),
    **_each('test-%', 'OLDER', Step(
        (*_ANYTHING, 'tests/unit', 'tests/functional'))),
    # What a test has noticed is not tried again because tests have changed.
    **{f'mutants ARGS={each}': Step((f':(glob)nova_image_override/{each}',))
       for each in mutants.DECIDES},
    'test-images': Step((*_ANYTHING, 'deploy', 'tests/images')),
    'test-deb': Step((*_ANYTHING, 'packaging')),
    'cloud-pairs': _pairs('debian12'),
    'cloud-pairs CLOUD_LIBVIRT=own ARGS="pc q35"': _pairs('debian12-own'),
    'cloud-pairs CLOUD_DEBIAN=trixie': _pairs('debian13'),
    'cloud-properties': _properties('debian12'),
    'cloud-properties CLOUD_DEBIAN=trixie': _properties('debian13'),
    'proof-faults': _step(
        *_CLOUD, 'tests/integration/test_whole_faults.py',
        records=('faults-*',)),
    'proof-races PAIRS=1000': _step(
        *_CLOUD, 'tests/integration/test_whole_races.py',
        records=('races-*',)),
    'bench-scale': _step(
        'nova_image_override/cmd', 'benchmarks/scale*.py',
        records=('scale-*',), least={'servers': 1}),
    'bench-start': _step(
        'benchmarks/scale_start.py', records=('start-*',), least={'rounds': 1}),
    'proof-load': _step(
        *_CLOUD, 'tests/integration/test_whole_load.py', records=('load-*',)),
    'cloud-rolling': _step(*_CLOUD, 'tests/rolling'),
    **{f'cloud-test-{each}': Step(
        (*_ANYTHING, *_CLOUD, 'tests/integration'))
       for each in ('first', 'second')},
}


# --- records ------------------------------------------------------------------


def _runs(path: pathlib.Path) -> list[dict[str, typing.Any]]:
    """Return what a file says of its runs: it has one, or one in each line."""
    if not path.exists():
        return []
    if path.suffix == '.json':
        return [json.loads(path.read_text())]
    rows = map(json.loads, path.read_text().splitlines())
    return [row for row in rows if 'commit' in row]


def _of_step(name: str) -> list[dict[str, typing.Any]]:
    """Return the runs that a step is known by."""
    if records := STEPS[name].records:
        return [run for each in records for path in figures.FOLDER.glob(each)
                for run in _runs(path)]
    return [run for run in _runs(_NIGHT) if run['step'] == name]


def changes_since(commit: str, name: str) -> int:
    """Return how many commits have changed what a step speaks of.

    :raises subprocess.CalledProcessError: git does not know the commit
    """
    return int(checkout.git('rev-list', '--count', '--no-merges',
                           f'{commit}..HEAD', '--', *STEPS[name].paths))


def step_of(path: pathlib.Path) -> str:
    """Return which step writes a file.

    :raises ValueError: there is none, or more than one
    """
    found = [name for name, step in STEPS.items()
             if any(path.match(each) for each in step.records)]
    if len(found) != 1:
        raise ValueError(f'written by {" and ".join(found) or "no step"}')
    return found[0]


def since(path: pathlib.Path) -> str:
    """Return what a page says of the age of a record, '' if it is up to date.

    Without the history of commits nobody knows.
    """
    name = step_of(path)
    (run,) = _runs(path)
    try:
        changed = changes_since(run['commit'], name)
    except (OSError, subprocess.CalledProcessError):
        return ''
    return f'; {changed} commits since have changed what it speaks of ' \
        f'(``make {name}``)' if changed else ''


def last(name: str) -> tuple[dict[str, typing.Any] | None, int]:
    """Return the oldest run that a step is known by, and how old it is.

    :returns: None if it was never recorded; and how many commits since have
        changed what it speaks of
    :raises subprocess.CalledProcessError: git does not know the commit
    """
    changes = [(changes_since(run['commit'], name), run)
               for run in _of_step(name)]
    changed, run = max(changes, key=lambda each: each[0], default=(0, None))
    return run, changed


def outdated() -> dict[str, str]:
    """Return the steps that are to be run, each with the reason."""
    found = {}
    for name in STEPS:
        run, changed = last(name)
        if run is None:
            found[name] = 'never recorded'
        elif changed:
            found[name] = f'{changed} commits since have changed its code'
    return found


# --- check --------------------------------------------------------------------


def problems() -> collections.abc.Iterator[str]:
    """Yield what is wrong with the records, each with its file."""
    has_history = False
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        has_history = checkout.git(
            'rev-parse', '--is-shallow-repository') == 'false'
    if not has_history:
        print('Without the history of commits, only sums are compared.')
    sums = figures.sums()
    for path in sorted({*figures.FOLDER.glob('*.json*'),
                        *(figures.FOLDER / name for name in sums)}):
        for problem in _wrong(path, sums, has_history):
            yield f'{_FOLDER / path.name}: {problem}'


def _wrong(
    path: pathlib.Path, sums: dict[str, str], has_history: bool
) -> collections.abc.Iterator[str]:
    if not path.exists():
        yield f'in {figures.SUMS.name}, and not there'
        return
    if sums.get(path.name) != hashlib.sha256(path.read_bytes()).hexdigest():
        yield 'not what a run has written'
        return
    least: dict[str, int] = {}
    if path != _NIGHT:
        try:
            least = STEPS[step_of(path)].least
        except ValueError as error:
            yield str(error)
    for run in _runs(path):
        if path == _NIGHT and run['step'] not in STEPS:
            yield f'{run["step"]} is no step'
        for name, number in least.items():
            if run.get(name, 0) < number:
                yield f'{name}: {run.get(name, 0)}, and not {number}'
        if has_history:
            yield from _wrong_commit(run)


def _wrong_commit(run: dict[str, typing.Any]) -> collections.abc.Iterator[str]:
    commit = run['commit']
    try:
        checkout.git('merge-base', '--is-ancestor', commit, 'HEAD')
    except subprocess.CalledProcessError:
        yield f'{commit} is no ancestor'
        return
    made = datetime.date.fromisoformat(
        checkout.git('show', '--no-patch', '--format=%cs', commit))
    day = datetime.timedelta(days=1)
    date = datetime.date.fromisoformat(run['date'])
    if not made - day <= date <= datetime.date.today() + day:
        yield f'of {date}, and {commit} is of {made}'


# --- run ----------------------------------------------------------------------


def _run(name: str) -> bool:
    """Run a step; record that it has passed; return whether it has.

    If another commit is checked out meanwhile, it counts for neither.
    """
    began, before = time.monotonic(), figures.running()
    done = subprocess.run(['make', *shlex.split(name)], cwd=checkout.ROOT)
    if done.returncode:
        return False
    if figures.running()['commit'] != before['commit']:
        print(f'make {name}: the checkout has changed while it ran')
        return False
    # Not the Nova of this process: the step's name says on which one it is.
    run = {key: text for key, text in before.items() if key != 'nova'}
    runs = [*(run for run in _runs(_NIGHT) if run['step'] != name), {
        'step': name, **run,
        'minutes': round((time.monotonic() - began) / 60)}]
    figures.write(_NIGHT, ''.join(json.dumps(run) + '\n' for run in runs))
    return True


def main(arguments: list[str]) -> int:
    """Run what is outdated, or check what is recorded."""
    if arguments == ['check']:
        found = [*problems()]
        for each in found:
            print(each)
        return bool(found)
    if figures.running()['commit'].endswith('-dirty'):
        sys.exit('Commit first: a record names the commit that was run.')
    steps = outdated()
    for name, reason in steps.items():
        print(f'make {name}: {reason}')
    failed = [name for name in steps if not _run(name)]
    for name in failed:
        print(f'make {name} has failed')
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
