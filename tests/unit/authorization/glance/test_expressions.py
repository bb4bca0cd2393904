"""Expressions in a protections file are fast to match, or refused."""

import re
import time

import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.authorization.glance import property_protections

TAKEN = (
    '.*',
    '^x_.*',
    '^(?!x_).*$',
    'hw_vif_model',
    '^(hw_disk_bus|hw_scsi_model)$',
    '^trait:CUSTOM_.*',
    'x_(foo|bar)_.*',
    '^(?:hw|os)_[a-z_]+$',
    r'hw_numa_mem\.\d+',
    '(?i)HW_.*',
    '(?i:hw)_(?:a)(?P<name>b)(?=c)(?<!d).+',
    '[(]?.*',
)
#: These go back most often of those that are taken.
SLOWEST = (
    '.*.*!', 'a*a*$!', '[a-z]+[a-z]+!', '(a*)(a*)!', r'(a*)\1*!',
    '(?:a|a)a*a*!', 'a{1,230}a{1,230}!', '.*?.!', '(?=.*a.*!)a')


@pytest.mark.parametrize('expression', TAKEN + SLOWEST)
def test_takes_two_repetitions_and_any_groups(expression):
    assert property_protections.compiled(expression) == re.compile(expression)


@pytest.mark.parametrize('expression', TAKEN + SLOWEST)
def test_what_is_taken_is_fast_on_the_longest_name(expression):
    pattern = property_protections.compiled(expression)
    name = 'a' * metadata_keys.NAME_LENGTH_MAX
    begin = time.process_time()
    pattern.search(name)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize('expression', [
    '(a+)+$',
    '(a|a)*$',
    '(a|aa)*',
    '(.*)*x',
    '(.*){1,2}',
    '(a?){200}b',
    '(?:a{1,50}){1,50}$',
    '(?!(a+)+$)b',
    '(?x)(a+) +$',
    '(a+)(?#again)+$',
    'x(ab)?',
    '.*.*.*',
    '.*a+b{2}',
    '.*?a+',
    'a?a?a?',
    r'\(?\(?\(?',
    r'\*\*\*',
])
def test_refuses_a_third_repetition_and_a_repeated_group(expression):
    with pytest.raises(ValueError) as caught:
        property_protections.compiled(expression)
    assert str(caught.value) == (
        f'regular expression {errors.printable(expression)} could take too '
        'long to match a property name: use at most two of *, +, ? and {, '
        'and none of them after a group')


@pytest.mark.parametrize('expression', [
    '(', '[a', '*a', 'a{2,1}', '(?P<x', '(' * 5000 + ')' * 5000])
def test_refuses_what_is_malformed(expression):
    with pytest.raises(ValueError, match='malformed regular expression'):
        property_protections.compiled(expression)


def test_message_cuts_and_escapes_the_expression():
    with pytest.raises(ValueError) as caught:
        property_protections.compiled('(a+)+\n' * 1000)
    assert '\n' not in str(caught.value)
    assert len(str(caught.value)) < 300
