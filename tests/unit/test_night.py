"""Records of long runs are what was written, on a commit that is an ancestor.
"""

import datetime
import json
import shlex
import shutil
import subprocess

import pytest

from testing import checkout
from testing import figures
from testing import night
from testing import release

# Older releases of Nova run under eventlet, whose subprocess raises exceptions
# of its own; make runs it with the newest.
pytestmark = pytest.mark.skipif(
    release.NUMBER < 34 or not (checkout.ROOT / '.git').exists(),
    reason='records name commits, and are compared on Nova 34')

RECORD = 'malformed-34.json'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a copy of the records."""
    shutil.copytree(figures.FOLDER, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(figures, 'FOLDER', tmp_path)
    monkeypatch.setattr(figures, 'SUMS', tmp_path / figures.SUMS.name)
    monkeypatch.setattr(night, '_NIGHT', tmp_path / night._NIGHT.name)
    return tmp_path


def found():
    return [each.rpartition('/')[2] for each in night.problems()]


def changed(folder, **values):
    return json.dumps({**json.loads((folder / RECORD).read_text()), **values})


def test_what_runs_have_written_is_right(folder):
    assert found() == []


def test_a_record_that_was_edited_is_a_problem(folder):
    for name in figures.sums():
        path = folder / name
        path.write_text(path.read_text().replace('1', '2', 1))
    assert found() == [f'{name}: not what a run has written'
                       for name in sorted(figures.sums())]


def test_a_record_that_is_gone_is_a_problem(folder):
    (folder / RECORD).unlink()
    assert found() == [f'{RECORD}: in SHA256SUMS, and not there']


@pytest.mark.parametrize(('values', 'problem'), [
    ({'commit': '0000000'}, '0000000 is no ancestor'),
    ({'commit': 'HEAD-dirty'}, 'HEAD-dirty is no ancestor'),
    ({'date': '2001-01-01'}, 'of 2001-01-01, and '),
    ({'date': '2999-01-01'}, 'of 2999-01-01, and '),
    ({'requests': 0}, 'requests: 0, and not 2500')])
def test_a_record_that_no_run_can_have_written_is_a_problem(
        folder, values, problem):
    figures.write(folder / RECORD, changed(folder, **values))
    (only,) = found()
    assert only.startswith(f'{RECORD}: {problem}')


def test_a_record_that_no_step_makes_anew_is_a_problem(folder):
    figures.write(folder / 'other-34.json', changed(folder))
    assert found() == ['other-34.json: written by no step']


def test_each_step_speaks_of_files_that_are_there():
    for name, step in night.STEPS.items():
        for path in step.paths:
            assert checkout.git('ls-files', '--', path), (name, path)


def test_a_step_is_run_again_once_what_it_speaks_of_has_changed(folder):
    """A line of the night is of the first commit, then of this one."""
    first = checkout.git('rev-list', '--max-parents=0', 'HEAD').split()[0]
    for commit, is_outdated in ((first, True), ('HEAD', False)):
        figures.write(night._NIGHT, json.dumps(
            {'step': 'proof-laws', 'commit': commit}))
        assert ('proof-laws' in night.outdated()) is is_outdated


@pytest.mark.parametrize(('returncode', 'after', 'recorded'), [
    (0, 'a', True), (1, 'a', False), (0, 'b', False), (0, 'a-dirty', False)])
def test_a_step_is_recorded_if_it_passes_on_one_commit(
        folder, monkeypatch, returncode, after, recorded):
    commits = ['a', after]
    figures.write(night._NIGHT, '')
    monkeypatch.setattr(figures, 'running', lambda: {
        'commit': commits.pop(0), 'nova': 'x', 'date': '2026-01-01'})
    monkeypatch.setattr(
        night.subprocess, 'run',
        lambda command, cwd: subprocess.CompletedProcess(command, returncode))
    assert night._run('fuzz') is recorded
    line = '{"step": "fuzz", "commit": "a", "date": "2026-01-01", "minutes": 0}'
    assert night._NIGHT.read_text() == f'{line}\n' * recorded


def test_a_line_of_what_is_no_step_is_a_problem(folder):
    head = checkout.git('describe', '--always')
    figures.write(night._NIGHT, json.dumps({
        'step': 'proof', 'commit': head, 'date': str(datetime.date.today())}))
    assert found() == ['night.jsonl: proof is no step']


def test_each_step_has_a_target_of_make():
    targets = {word for name in night.STEPS for word in shlex.split(name)
               if '=' not in word}
    subprocess.run(['make', '--dry-run', *targets], cwd=checkout.ROOT,
                   check=True, capture_output=True)
