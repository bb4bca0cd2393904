"""Nova expands no CPU list that is too large, whatever it looks like."""

import contextlib

import hypothesis
from hypothesis import strategies as st
from nova import exception
from nova.virt import hardware
import pytest

from nova_image_override.properties import cpu_lists

_blank = st.sampled_from(['', '', '', ' ', '\t'])


def _items(largest):
    """Items as Nova reads them."""
    cpu = st.integers(0, largest).map(str)
    return st.builds(
        '{}{}{}{}{}'.format, _blank, st.sampled_from(['', '', '^']),
        cpu, st.just('') | st.builds('-{}'.format, cpu), _blank)


#: Lists, most of them small enough, and text that only looks like one.
specs = (
    st.lists(_items(20) | _items(6000) | st.just(''), max_size=6).map(','.join)
    | st.text('0123456789,-^ _x٣', max_size=16))

_span = st.tuples(st.integers(0, 4300), st.integers(0, 4300)).map(sorted)


def expanded(spec):
    """Return the CPUs that Nova reads, excluded and repeated ones too."""
    found = []

    def counting(*bounds):
        found.extend(range(*bounds))
        return range(*bounds)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hardware, 'range', counting, raising=False)
        with contextlib.suppress(exception.Invalid):
            found.extend(hardware.parse_cpu_spec(spec))
    return found


@hypothesis.given(specs)
@hypothesis.example('0-2047,^0-2047')
@hypothesis.example('3-1,0-99999999999')
@hypothesis.example('^-1,0-99999999999')
@hypothesis.example('0-9_9_9')
def test_what_nova_expands_is_bounded(spec):
    hypothesis.assume(cpu_lists.extent(spec).fault is None)
    found = expanded(spec)
    # The set itself is counted once more.
    assert len(found) <= 2 * 4096
    assert max(found, default=0) <= 4095


@hypothesis.given(specs)
def test_no_cpu_that_nova_reads_is_above_the_highest(spec):
    hypothesis.assume(cpu_lists.extent(spec).fault is None)
    assert max(expanded(spec), default=-1) <= cpu_lists.extent(spec).highest


@hypothesis.given(st.lists(st.tuples(st.booleans(), _span), max_size=5))
@hypothesis.example([(False, [0, 4095])])
@hypothesis.example([(False, [0, 4095]), (True, [0, 0])])
@hypothesis.example([(True, [4096, 4096])])
def test_a_list_is_too_large_by_its_ids_or_by_all_that_it_names(items):
    spec = ','.join('^' * excluded + f'{first}-{last}'
                    for excluded, (first, last) in items)
    highest = max((last for _, (_, last) in items), default=-1)
    named = sum(last - first + 1 for _, (first, last) in items)
    extent = cpu_lists.extent(spec)
    assert (extent.fault is None) == (highest <= 4095 and named <= 4096)
    assert extent.fault or extent == (highest, named, None)


@pytest.mark.parametrize('spec', [
    '', '0-3,^2', '4095', '0-4095', '0 - 4095', '04095', '0' * 4000 + '7',
    '0-1365,0-1364,0-1364', 'no number', '9' * 5000, '3-1'])
def test_what_nova_can_expand_or_refuses_itself_is_taken(spec):
    assert cpu_lists.extent(spec).fault is None
    assert len(expanded(spec)) <= 2 * 4096


@pytest.mark.parametrize(('spec', 'reason'), [
    ('4096', 'names CPUs beyond 4095'),
    ('^04096', 'names CPUs beyond 4095'),
    ('0,99999999999', 'names CPUs beyond 4095'),
    ('0-9_9_9_9', 'names CPUs beyond 4095'),
    ('٤٠٩٦', 'names CPUs beyond 4095'),
    ('0-2047,0-2047,0', 'names more than 4096 CPUs, repeated ones included'),
    ('0-4095,^0', 'names more than 4096 CPUs, repeated ones included'),
    (','.join(['0-4095'] * 1000),
     'names more than 4096 CPUs, repeated ones included')])
def test_what_is_too_large_is_told_with_the_bound(spec, reason):
    assert cpu_lists.extent(spec).fault == reason


def test_nothing_is_read_after_what_is_too_large():
    read = []

    class Item(str):
        __slots__ = ()

        def strip(self):
            read.append(self)
            return str(self)

    class Spec(str):
        __slots__ = ()

        def split(self, separator):
            return map(Item, str.split(self, separator))

    assert cpu_lists.extent(Spec(','.join(['0-4095'] * 1000))).fault
    assert len(read) == 2


@pytest.mark.parametrize(('spec', 'highest'), [
    ('', -1), ('0', 0), ('0-3,^9', 9), ('^7-12,1', 12), ('5,x,99', 5),
    ('0-9_9', 99), ('3-1', -1), ('0-99999999999', 99999999999)])
def test_the_highest_cpu_counts_also_where_it_is_excluded(spec, highest):
    assert cpu_lists.extent(spec).highest == highest
