"""Two runs of Tempest, compared."""

import pytest

from tests.integration.tempest import compare

PLAIN = {'boots': 'success', 'stops': 'success', 'has no port': 'failure',
         'needs a disk': 'skip'}


def test_the_same_results_lose_nothing():
    assert compare.lost(PLAIN, dict(PLAIN)) == []


@pytest.mark.parametrize('status', ['failure', 'error', 'skip', 'xfail'])
def test_what_no_longer_passes_is_lost(status):
    assert compare.lost(PLAIN, {**PLAIN, 'stops': status}) == ['stops']


def test_what_did_not_run_is_lost():
    assert compare.lost(PLAIN, {
        'setUpClass (all of them)': 'failure'}) == ['boots', 'stops']


def test_what_passes_on_neither_is_not_lost():
    assert compare.lost(PLAIN, {
        'boots': 'success', 'stops': 'success', 'has no port': 'error'}) == []


def test_what_passes_only_on_the_extended_one_is_no_loss():
    assert compare.lost(PLAIN, {**PLAIN, 'has no port': 'success'}) == []


def test_skipped_tests_have_not_failed():
    assert compare.failed(PLAIN) == ['has no port']


def test_results_are_read_from_what_subunit_says():
    results = compare.read(
        'test,status,start_time,stop_time\n'
        '"a.b[id-1,smoke]",success,2026,2026\nc,skip,2026,2026\n')
    assert results == {'a.b[id-1,smoke]': 'success', 'c': 'skip'}
    assert compare.count(results) == '1 skip, 1 success'
