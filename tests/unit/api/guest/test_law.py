"""A refusal blames nothing that need not change, and its advice is right.

The law: for each valid request of real users, one entry is dropped or changed.
What is blamed then is that entry, or belongs to what would have to go for the
rest to be accepted; and who does what the reasons say is accepted in the end.
"""

import collections
import dataclasses
import functools
import itertools
import re

from nova.api.validation.extra_specs import validators
from nova.objects import image_meta
import pytest

from nova_image_override import errors
from nova_image_override.api.guest import refusals
from nova_image_override.properties import book
from tests.unit.api.guest import advice
from tests.unit.api.guest import guests
from tests.unit.api.guest import user_requests

MISTAKES = list(user_requests.mistakes())
NUMA = ('hw_numa_nodes', 'hw_numa_cpus', 'hw_numa_mem')


@functools.cache
def refused(overrides, specs):
    return guests.problems(dict(overrides), dict(specs))


def ask(overrides, specs):
    return refused(tuple(sorted(overrides.items())),
                   tuple(sorted(specs.items())))


@pytest.mark.parametrize(('overrides', 'specs'), user_requests.RIGHT)
def test_what_real_users_send_is_accepted(overrides, specs):
    assert ask(overrides, specs) == {}


def accepted_without(names, overrides, specs):
    """Return whether NAMES are all among what has to go, at least.

    :returns: None where nothing that goes helps
    """
    found = []
    for size in range(1, len(overrides) + 1):
        for gone in map(set, itertools.combinations(overrides, size)):
            if not any(each <= gone for each in found) and not ask(
                    {name: value for name, value in overrides.items()
                     if name not in gone}, specs):
                found.append(gone)
                if names <= set().union(*found):
                    return True
    return False if found else None


def test_nothing_is_blamed_that_need_not_change():
    refusals_seen = flavors_seen = 0
    for overrides, specs, changed in MISTAKES:
        found = ask(overrides, specs)
        refusals_seen += bool(found)
        innocent = {
            name for name in found if name != changed
            and name != errors.PARAMETER and not (
                changed and {name.partition('.')[0],
                             changed.partition('.')[0]} <= {*NUMA})}
        helps = not innocent or accepted_without(innocent, overrides, specs)
        assert helps is not False, (overrides, specs, found)
        if helps:
            continue
        # A flavor demands what is not there. Who is blamed makes at least
        # this reason go, or the flavor is to be another.
        flavors_seen += 1
        for name in innocent:
            _, reason = found[name]
            rest = ask({each: value for each, value in overrides.items()
                        if each != name}, specs)
            assert 'choose a flavor' in reason or sentence(reason) not in {
                sentence(other) for _, other in rest.values()}, (
                    overrides, specs, name, reason)
    assert refusals_seen > 150
    assert flavors_seen > 10


def sentence(reason):
    """Return why, without what to do."""
    reason = reason.removeprefix(advice.CONFLICT)
    return reason.rpartition('; ')[0] or reason


def test_the_image_and_the_flavor_are_blamed_where_no_override_is():
    """A flavor that demands a property which nobody sends."""
    found = {(errors.PARAMETER in ask(overrides, specs), changed)
             for overrides, specs, changed in MISTAKES
             if ask(overrides, specs)}
    assert {changed for is_parameter, changed in found if is_parameter} <= {
        'hw_cpu_policy', 'hw_cpu_realtime_mask', 'hw_firmware_type', None}


# --- what the reasons advise ------------------------------------------------

def left(overrides, specs):
    """Return who is refused, without what advice cannot mend."""
    result = {}
    for name, (_, reason) in ask(overrides, specs).items():
        is_conflict = reason.startswith(advice.CONFLICT)
        if is_conflict:
            # True only if it is so without any override.
            assert reason in alone(tuple(specs.items())), (overrides, specs)
        if not is_conflict or '; ' in reason:
            result[name] = reason
    return result


@functools.cache
def alone(specs):
    return guests.conflicts_without_overrides(dict(specs))


def follow(name, reason, overrides, specs, path=()):
    """Follow advice until nothing is refused, each way that it offers.

    :raises AssertionError: it is not understood, or leads in a circle
    """
    path = (*path, (name, reason))
    for after in advice.follow(name, reason, overrides, specs):
        assert after != (overrides, specs), path
        for other, why in itertools.islice(left(*after).items(), 1):
            assert (other, why) not in path, (path, after)
            follow(other, why, *after, path)


def test_who_does_what_the_reasons_say_is_accepted_in_the_end():
    """Nova tells one reason of a function at a time."""
    followed = collections.Counter()
    for overrides, specs, _ in MISTAKES:
        for name, reason in left(overrides, specs).items():
            follow(name, reason, overrides, specs)
            followed[ask(overrides, specs)[name][0]] += 1
    assert followed[errors.FLAVOR_CONFLICT] > 250
    assert followed[errors.NO_EFFECT] > 30
    assert followed[errors.NUMA_GAP] > 5


def test_every_property_that_needs_something_is_among_them():
    idle = {name.partition('.')[0] for overrides, specs, _ in MISTAKES
            for name, (code, _) in ask(overrides, specs).items()
            if code == errors.NO_EFFECT}
    others = {name for (name, _), *_ in OTHERS}
    assert {name for name, record in book.RECORDS.items() if record.gets
            and (record.needs or record.idle)
            and name in image_meta.ImageMetaProps.fields
            and name not in REFUSED_BY_NOVA} == idle | others


#: What needs something without which Nova itself refuses it.
REFUSED_BY_NOVA = {'hw_cpu_thread_policy', 'hw_mem_encryption'}
if not guests.known({'hw_mem_encryption_model': 'amd-sev-snp'}):
    # As of Nova 34 it is ignored.
    REFUSED_BY_NOVA.add('hw_firmware_stateless')


#: What needs another size of flavor, or something of the image: the property,
#: without and with it.
OTHERS = [
    (('hw_vif_multiqueue_enabled', 'true'),
     {'of': guests.flavor(vcpus=1)}, {'of': guests.flavor(vcpus=2)},
     'it needs a flavor with at least 2 vCPUs, and hw_vif_model=virtio'),
    (('os_command_line', 'quiet'), {'base': {}},
     {'base': {'kernel_id': 'a kernel'}},
     'it needs an image with a kernel image (kernel_id)'),
]


@pytest.mark.parametrize(('asked', 'without', 'having', 'reason'), OTHERS)
def test_what_needs_another_flavor_or_image_is_accepted_with_it(
        asked, without, having, reason):
    found = guests.problems(dict([asked]), **without)
    assert found == {asked[0]: (
        errors.NO_EFFECT, f'would do nothing: {reason}')}
    assert guests.problems(dict([asked]), **having) == {}


@pytest.fixture
def forgetting():
    """What was refused with other words is not remembered."""
    refused.cache_clear()
    yield
    refused.cache_clear()


@pytest.mark.parametrize(('row', 'words', 'instead', 'overrides', 'specs'), [
    ('ImageVCPULimitsRangeImpossible', 'raise a limit', 'lower a limit',
     {'hw_cpu_max_sockets': '1', 'hw_cpu_max_cores': '1',
      'hw_cpu_max_threads': '2'}, {}),
    ('ImageVCPUTopologyRangeExceeded', 'stay within', 'go beyond',
     {'hw_cpu_sockets': '4', 'hw_cpu_max_sockets': '2'}, {}),
    ('RequestedVRamTooHigh', 'at least', 'at most', {'hw_video_ram': '16'}, {}),
    ('RealtimeConfigurationInvalid', 'dedicated', 'shared',
     {'hw_cpu_realtime_mask': '^0'}, {'hw:cpu_realtime': 'yes'}),
    ('MemoryPageSizeForbidden', 'any or large', 'small or large',
     {'hw_mem_page_size': '2048'}, {}),
    ('ImageNUMATopologyCPUsUnassigned', 'to one node', 'to two nodes',
     {**user_requests.NODES, 'hw_numa_cpus.1': '3'}, {}),
])
def test_advice_that_is_reversed_does_not_lead_there(
        monkeypatch, forgetting, row, words, instead, overrides, specs):
    blame = refusals._TABLE[row]
    assert words in blame.advice
    for name, reason in left(overrides, specs).items():
        follow(name, reason, overrides, specs)
    monkeypatch.setitem(refusals._TABLE, row, dataclasses.replace(
        blame, advice=blame.advice.replace(words, instead)))
    refused.cache_clear()
    (name, reason), *_ = left(overrides, specs).items()
    with pytest.raises(AssertionError):
        follow(name, reason, overrides, specs)


def reasons():
    for overrides, specs, _ in MISTAKES:
        for _, reason in ask(overrides, specs).values():
            yield reason


def test_a_reason_has_at_most_300_characters():
    assert max(map(len, reasons())) <= refusals.REASON_MAX


def test_a_reason_names_no_extra_spec_that_nova_lacks():
    patterns = [each.name_regex for each in validators.VALIDATORS.values()]
    names = {name for reason in reasons() for name in re.findall(
        r'\b(?:hw|os|hw_video|hw_rng):[\w.]+', reason)}
    assert len(names) > 15
    # Nova reads these, and its registry has forgotten them: the last two up to
    # Nova 28 or so.
    assert {name for name in names if not any(
        re.fullmatch(pattern, name.rstrip('.')) for pattern in patterns)} <= {
            'hw:maxphysaddr_mode', 'hw:maxphysaddr_bits',
            'hw:cpu_max_cores', 'hw:cpu_max_sockets'}
