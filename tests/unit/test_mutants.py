"""What make mutants changes, and which changes a commit is asked about."""

import subprocess
import sys

import coverage
import pytest

from testing import checkout
from testing.mutants import __main__ as command
from testing.mutants import mutant as mutant_module
from testing.mutants import tests as tests_module

SOURCE = '''
def permitted(names, most):
    """Not changed."""
    if not names or len(names) > most:
        return 'a sentence is left alone'
    return names
'''

CHANGES = [
    'not names or len(names) > most → not names and len(names) > most',
    'not names or len(names) > most → len(names) > most',
    'not names or len(names) > most → not names',
    'not names → names', 'len(names) > most → len(names) <= most',
    'len(names) > most → len(names) >= most', 'return names → return None']


def test_every_part_of_a_decision_is_changed_once(tmp_path):
    path = tmp_path / 'module.py'
    path.write_text(SOURCE)
    found = mutant_module.mutants(path, tmp_path)
    assert sorted(each.change for each in found) == sorted(CHANGES)
    assert {each.key[:2] for each in found} == {('module.py', 'permitted')}
    results = set()
    for each in found:
        names = {}
        exec(mutant_module.compiled(each, tmp_path), names)  # noqa: S102
        results.add(str([names['permitted'](*arguments) for arguments in (
            ([], 0), ([], 1), ([1], 0), ([1], 1), ([1, 2], 1))]))
    assert len(results) == len(CHANGES)


def test_a_checkout_without_history_has_no_lines_that_differ(
        tmp_path, monkeypatch):
    monkeypatch.setattr(checkout, 'ROOT', tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        command.changed_lines('')


@pytest.mark.parametrize('arguments, fails', [
    ([], True), (['--minutes', '1'], False)])
def test_what_was_not_tried_fails_unless_time_was_limited(
        tmp_path, monkeypatch, capsys, arguments, fails):
    one = next(iter(command.all_mutants()))
    # No line of any test was noted, so none can be tried.
    monkeypatch.setattr(command, 'NOTES', tmp_path)
    monkeypatch.setattr(command, 'all_mutants', lambda: [one])
    monkeypatch.setattr(command, 'explained', dict)
    monkeypatch.setattr(sys, 'argv', ['mutants', *arguments])
    assert command.main() is fails
    assert 'all: 1 mutants: 1 not tried' in capsys.readouterr().out


def test_what_a_fixture_runs_is_tried_by_all_tests_that_share_it(tmp_path):
    data = coverage.CoverageData(str(tmp_path / 'data'))
    for context in ('a.py::TestA::test_a[::]|setup', 'b.py::test_b|teardown',
                    'a.py::TestB::test_c[|]|run'):
        data.set_context(context)
        data.add_lines({str(tmp_path / 'module.py'): [3]})
    data.write()
    one = mutant_module.Mutant('module.py', 'permitted', '', 2, 3, 0)
    assert tests_module.Covering(tmp_path / 'data', tmp_path).tests(one) == [
        'a.py::TestB::test_c[|]', 'a.py::TestA', 'b.py']


def test_the_table_has_only_mutants_and_a_reason_for_each():
    reasons = command.explained()
    assert reasons.keys() <= {each.key for each in command.all_mutants()}
    assert all(reason.endswith('.') for reason in reasons.values())
