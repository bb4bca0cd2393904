"""Minimal sets that conflict are found, are minimal, and take bounded work."""

import itertools

import hypothesis
from hypothesis import strategies as st
import pytest

from nova_image_override.api.guest import minimal_sets

ITEMS = 'abcdefgh'

#: Sets of items that conflict, whatever other items are with them.
_rules = st.lists(st.frozensets(st.sampled_from(ITEMS), max_size=4),
                  max_size=4)


class Rules:
    """Conflicts when all items of a rule are there; counts its work."""

    def __init__(self, rules):
        self.rules = rules
        self.asked = []

    def __call__(self, chosen):
        self.asked.append(chosen)
        read = set()
        for rule in self.rules:
            read |= rule
            if rule <= chosen:
                return minimal_sets.Conflict(''.join(sorted(rule)), read)
        return None


def found(test, items=ITEMS, limit=1000):
    return [(chosen, conflict.reason) for chosen, conflict in
            minimal_sets.minimal_sets(items, test, limit)]


@pytest.mark.parametrize(('rules', 'items', 'sets'), [
    ([], 'abc', []),
    (['d'], 'abc', []),
    (['a'], 'abc', ['a']),
    (['ab'], 'abc', ['ab']),
    (['ab', 'c'], 'abc', ['ab', 'c']),
    (['ab', 'bc'], 'abc', ['ab']),
    ([''], 'abc', ['']),
    (['a', ''], 'abc', ['']),
])
def test_each_set_is_minimal_and_no_item_is_in_two(rules, items, sets):
    test = Rules([frozenset(rule) for rule in rules])
    assert sorted(''.join(sorted(each)) for each, _ in found(test, items)) \
        == sets


@hypothesis.given(_rules)
def test_what_is_found_conflicts_is_minimal_and_disjoint(rules):
    test = Rules(rules)
    sets = found(test)
    for chosen, reason in sets:
        assert test(chosen).reason == reason
        assert not any(test(chosen - {item}) for item in chosen)
    assert not any(one & other for (one, _), (other, _)
                   in itertools.combinations(sets, 2))


@hypothesis.given(_rules)
def test_nothing_conflicts_when_all_that_was_found_is_left_out(rules):
    test = Rules(rules)
    sets = [chosen for chosen, _ in found(test)]
    left = frozenset(ITEMS).difference(*sets)
    assert test(left) is None or frozenset() in sets


@hypothesis.given(st.dictionaries(
    st.frozensets(st.sampled_from('abcde')), st.booleans()))
def test_an_item_may_end_a_conflict(table):
    """hw_cpu_policy=dedicated ends the conflict of hw_cpu_thread_policy."""
    def test(chosen):
        return minimal_sets.Conflict('', frozenset('abcde')) \
            if table.get(chosen) else None

    for chosen, _ in found(test, 'abcde'):
        assert test(chosen)
        assert not any(test(chosen - {item}) for item in chosen)


@hypothesis.given(_rules, st.integers(1, 12))
def test_no_more_is_testd_than_the_limit_and_nothing_twice(rules, limit):
    test = Rules(rules)
    sets = found(test, limit=limit)
    assert len(test.asked) <= limit
    assert len(test.asked) == len(set(test.asked))
    for chosen, _ in sets:
        assert test(chosen)
    if test(frozenset(ITEMS)):
        assert sets


def test_a_conflict_of_another_kind_does_not_make_a_set_smaller():
    """Two lists do not go together; either alone is incomplete."""
    def test(chosen):
        if chosen == set('ab'):
            return minimal_sets.Conflict('twice', chosen, 'duplicate')
        return minimal_sets.Conflict('one of two', chosen, 'incomplete') \
            if chosen else None

    assert found(test, 'ab') == [(frozenset('ab'), 'twice')]
    assert found(test, 'a') == [(frozenset('a'), 'one of two')]


def test_what_was_not_read_is_not_tried():
    test = Rules([frozenset('ab')])
    items = [chr(n) for n in range(ord('a'), ord('a') + 100)]
    found(test, items)
    assert len(test.asked) <= 8


@pytest.mark.parametrize('size', [1, 2, 8, 64])
def test_one_set_takes_few_more_testments_than_items(size):
    """Each item is left out once, and those that are needed once more."""
    items = frozenset(range(64))
    asked = []

    def test(chosen):
        asked.append(chosen)
        return minimal_sets.Conflict('', items) \
            if chosen >= set(range(size)) else None

    assert found(test, items) == [(frozenset(range(size)), '')]
    assert len(asked) <= 64 + size + 2
