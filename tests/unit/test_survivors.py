"""The faults that no test can find are faults in the current code."""

import inspect
import json
import pathlib
import pkgutil

import pytest

SURVIVORS = json.loads((pathlib.Path(__file__).parents[1]
                        / 'proof' / 'survivors.json').read_text())


def name_of(survivor):
    return survivor['function']


@pytest.mark.parametrize('survivor', SURVIVORS, ids=name_of)
def test_the_line_of_a_fault_is_in_its_function(survivor):
    source = inspect.getsource(pkgutil.resolve_name(survivor['function']))
    assert survivor['line'] in ' '.join(source.split())


@pytest.mark.parametrize('survivor', SURVIVORS, ids=name_of)
def test_a_fault_changes_its_line_and_has_a_reason(survivor):
    assert survivor.keys() == {'function', 'line', 'fault', 'reason'}
    assert survivor['fault'] != survivor['line']
    assert survivor['reason'].endswith('.')


def test_faults_are_listed_once_and_by_function():
    keys = [(each['function'], each['line'], each['fault'])
            for each in SURVIVORS]
    assert len(set(keys)) == len(keys)
    functions = [name_of(each) for each in SURVIVORS]
    assert functions == sorted(functions)
