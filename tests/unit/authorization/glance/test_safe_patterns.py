"""Expressions in a protections file are safe to match, or refused."""

import re
import sys

import hypothesis
from hypothesis import strategies as st
import pytest

from nova_image_override import errors
from nova_image_override.authorization.glance import safe_patterns


@pytest.mark.parametrize('expression', [
    '.*',
    '^x_.*',
    '^(?!x_).*$',
    'hw_vif_model',
    'x_(foo|bar)_.*',
    '^(?:hw|os)_[a-z_]+$',
    '[a-z]*_[0-9]+',
    '.*[0-9]{4}.*',
    '[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}',
    '(ab)*',
    # These cost as much as two * in a row, which is the limit.
    '.*.*',
    '(.*){2}',
    '.*(ab)*',
    '.*(ab)+',
    '(x)?(?(1)y|z)',
    r'(a)b*\1',
    '(?i)HW_.*',
])
def test_takes_what_protections_files_use(expression):
    assert safe_patterns.compiled(expression) == re.compile(expression)


@pytest.mark.parametrize('expression', [
    '(a+)+$',
    '(a|a)*$',
    '(a|aa)+$',
    '(.*)*x',
    '.*.*.*x',
    '(.*){1,2}',
    '(.*){2,3}',
    '(a?){200}b',
    '(?:a{1,50}){1,50}$',
    '(?=(a+)+)b',
    '(?!(a+)+$)b',
    'x|(a*)*y',
    '(x)?(?(1)(a*)*|b)',
    '((a{200}){200}){200}',
    '(?:(?:){65535}){65535}',
    '(?:(?=a){60000}){60000}',
])
def test_refuses_what_could_take_too_long_to_match(expression):
    with pytest.raises(ValueError) as caught:
        safe_patterns.compiled(expression)
    message = str(caught.value)
    assert message.startswith(
        f'regular expression {errors.printable(expression)} could take too '
        'long')
    assert 'use at most two of * and +, and none that repeats a group ' \
        'with another repetition or alternatives in it' in message


@pytest.mark.skipif(sys.version_info < (3, 11), reason='new in Python 3.11')
@pytest.mark.parametrize(('expression', 'taken'), [
    ('x(?>a*)b', True), ('a*+b', True), ('(?>(a+)+)b', False),
    ('(?>a*)*b', False), ('(a*+)*+b', False)])
def test_expressions_that_do_not_go_back_are_counted_as_if_they_did(
        expression, taken):
    if taken:
        assert safe_patterns.compiled(expression) == re.compile(expression)
    else:
        with pytest.raises(ValueError, match='could take too long'):
            safe_patterns.compiled(expression)


@pytest.mark.parametrize('expression', [
    '(', '[a', '*a', 'a{2,1}', '(?P<x', '(' * 5000 + ')' * 5000])
def test_refuses_what_is_malformed(expression):
    with pytest.raises(ValueError, match='malformed regular expression'):
        safe_patterns.compiled(expression)


def test_message_cuts_and_escapes_the_expression():
    with pytest.raises(ValueError) as caught:
        safe_patterns.compiled('(a+)+\n' * 1000)
    assert '\n' not in str(caught.value)
    assert len(str(caught.value)) < 300


@st.composite
def expressions(draw):
    """Expressions nested two deep, of one letter: these backtrack most."""
    atom = st.sampled_from(['a', '.', '[a-z]', 'b'])
    count = st.sampled_from(['', '*', '+', '?', '{0,9}', '{3}', '*?'])
    inner = draw(st.lists(
        st.tuples(atom, count).map(''.join), min_size=1, max_size=3))
    joined = draw(st.sampled_from(['', '|'])).join(inner)
    return f'({joined}){draw(count)}{draw(atom)}{draw(count)}$'


def ways(expression, text):
    """Count the ways a backtracking matcher can match from the start of TEXT.

    Uses its own matcher over Python's parse tree, so that no clock decides.
    """
    def single(operation, argument, char):
        return re.fullmatch(_source(operation, argument), char) is not None

    def run(sequence, places):
        """Advance each place; a place is listed once for each way to it."""
        for operation, argument in sequence:
            after = []
            for place in places:
                after += step(str(operation), argument, place)
            places = after
            if len(places) > safe_patterns.WAYS_MAX * 2:
                break
        return places

    def step(operation, argument, place):
        if operation in ('MAX_REPEAT', 'MIN_REPEAT'):
            least, most, body = argument
            reached, result = [place], []
            for times in range(min(int(most), len(text)) + 1):
                if times >= least:
                    result += reached
                reached = run(body, reached)
                if not reached or len(result) > safe_patterns.WAYS_MAX * 2:
                    break
            return result
        if operation == 'SUBPATTERN':
            return run(argument[-1], [place])
        if operation == 'BRANCH':
            return [p for branch in argument[1]
                    for p in run(branch, [place])]
        if operation == 'AT':
            return [place]
        if place < len(text) and single(operation, argument, text[place]):
            return [place + 1]
        return []

    return len(run(safe_patterns._parser.parse(expression), [0]))


def _source(operation, argument):
    if operation == 'LITERAL':
        return re.escape(chr(argument))
    return {'ANY': '.', 'IN': '[a-z]'}[operation]


@hypothesis.given(expressions())
@hypothesis.settings(deadline=None, max_examples=200)
def test_what_is_taken_can_match_in_no_more_ways_than_said(expression):
    try:
        safe_patterns.compiled(expression)
    except ValueError:
        return
    assert ways(expression, 'a' * 40) <= safe_patterns.WAYS_MAX
