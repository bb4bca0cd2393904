"""CPU lists mean what Nova reads in them, whatever they look like."""

import itertools

import hypothesis
from hypothesis import strategies as st
from nova import exception
from nova.virt import hardware
import pytest

from nova_image_override.properties import cpu_lists

_cpu = st.integers(0, 20).map(str)
_blank = st.sampled_from(['', '', '', ' ', '\t'])
_item = st.builds(
    '{}{}{}{}{}'.format, _blank, st.sampled_from(['', '', '^']),
    _cpu, st.just('') | st.builds('-{}'.format, _cpu), _blank)

#: Lists as Nova reads them, and text that only looks like one.
good = st.lists(_item | st.just(''), max_size=6).map(','.join)
anything = good | st.text('0123,-^ _x٣', max_size=12)


def nova(spec):
    """Return what Nova reads, or None if it refuses."""
    try:
        return hardware.parse_cpu_spec(spec)
    except (exception.Invalid, ValueError):
        return None


def expanded(spans):
    return {cpu for first, last in spans for cpu in range(first, last + 1)}


@hypothesis.given(anything)
@hypothesis.example('0-3,^1-2')
@hypothesis.example('0-3,3-1')
@hypothesis.example('^-1')
@hypothesis.example('^0,2')
@hypothesis.example('1_0-1_2')
def test_ranges_are_the_cpus_that_nova_reads(spec):
    hypothesis.assume(cpu_lists.highest(spec) < 10_000)
    try:
        spans = cpu_lists.ranges(spec)
    except cpu_lists.Malformed:
        assert nova(spec) is None
        return
    assert expanded(spans) == nova(spec)
    assert spans == sorted(spans)
    assert all(last + 1 < first for (_, last), (first, _)
               in itertools.pairwise(spans))
    assert cpu_lists.ranges(cpu_lists.spell(spans)) == spans


@hypothesis.given(anything, st.integers(1, 25))
def test_a_cheap_list_says_the_same_of_the_cpus_that_there_are(spec, cpus):
    hypothesis.assume(cpu_lists.highest(spec) < 10_000)
    read, cheap = nova(spec), nova(cpu_lists.cheap(spec, cpus))
    assert cheap == (read if read is None
                     else {min(cpu, cpus) for cpu in read})


def test_a_list_of_no_cpu_is_not_the_empty_text():
    assert nova(cpu_lists.cheap('3,^3', 4)) == set()
    assert cpu_lists.cheap('3,^3', 4)


@pytest.mark.parametrize(('spec', 'highest'), [
    ('', -1), ('0', 0), ('0-3,^9', 9), ('^7-12,1', 12), ('5,x,99', 5),
    ('0-9_9', 99), ('3-1', -1), ('0-99999999999', 99999999999)])
def test_the_highest_cpu_counts_also_where_it_is_excluded(spec, highest):
    assert cpu_lists.highest(spec) == highest


@hypothesis.given(st.lists(good, max_size=4), st.integers(1, 25))
def test_nodes_are_emptied_only_after_the_first_that_overlaps(specs, cpus):
    taken, overlap = set(), False
    for spec, cheap in zip(
            specs, cpu_lists.disjoint(specs, cpus), strict=True):
        read, left = nova(spec), nova(cheap)
        if read is None:
            assert left is None
            continue
        read = {min(cpu, cpus) for cpu in read}
        assert left == (set() if overlap else read)
        overlap = overlap or bool(taken & read)
        taken |= read


@pytest.mark.parametrize('spec', [
    ','.join(['0-4095'] * 36), ','.join(['0-4095,^0-4094'] * 18),
    ','.join(['0-4095'] * 1000)])
def test_the_work_of_expanding_a_cheap_list_is_bounded(spec):
    cheap = cpu_lists.cheap(spec, 4)
    first, last = cheap.split('-') if '-' in cheap else (cheap, cheap)
    assert int(last) - int(first) <= 4
