"""``denied_properties`` and ``allowed_properties``: what an entry covers."""

import fnmatch
import re

import hypothesis
from hypothesis import strategies as st
import pytest

from nova_image_override import errors
from nova_image_override.authorization import discovery_schema
from nova_image_override.authorization import lists
from nova_image_override.authorization import rules
from tests.unit import ecma
from tests.unit import strategies


def covers(catalog, entry, name, value):
    """Return whether a list with only ENTRY covers NAME with VALUE."""
    (override,) = strategies.overrides_of({name: value})
    return rules._deciding(lists.PropertyList(
        'denied_properties', [entry], catalog), override) is not None


@pytest.mark.parametrize(('name', 'value', 'entries'), [
    ('hw_disk_bus', 'scsi', [
        'hw_disk_bus', 'hw_disk_bus=scsi|ide', 'hw_disk_bus=s*',
        'hw_disk_bus=*', 'hw_disk_bus=?cs?', '*', 'hw_*_bus',
        'hw_dis[!x]_bus']),
    ('hw_disk_bus', 'ide', [' hw_disk_bus = scsi | ide ', 'hw_disk_bus=[si]*']),
    ('hw_disk_bus', None, ['hw_disk_bus']),
    # A field covers its spellings, by name and by glob.
    ('hw_numa_mem.0', '7', ['hw_numa_mem', 'hw_numa_mem.0']),
    ('hw_numa_mem.2', '7', ['hw_numa_mem=7', 'hw_numa_mem.[0-3]']),
    ('hw_numa_mem.127', '7', ['hw_numa_*']),
    ('trait:HW_CPU_X86_AVX', 'required', [
        'traits_required', 'trait:HW_CPU_*', 'trait:HW_CPU_X86_AVX']),
    ('trait:HW_CPU_X86_AVX', None, ['traits_*']),
    # Values are written as people write them, but judged as they are stored.
    ('hw_boot_menu', 'true', ['hw_boot_menu=Yes']),
    ('hw_architecture', 'x86_64', ['hw_architecture=amd64']),
    ('hw_cpu_sockets', '2', ['hw_cpu_sockets=02']),
    ('hw_mem_page_size', '1048576', ['hw_mem_page_size=1GB']),
    ('os_command_line', 'console=ttyS0', ['os_command_line=console=ttyS0']),
    ('os_command_line', 'a.b(c)', ['os_command_line=a.b(c)']),
    ('os_command_line', 'a\nquiet', ['os_command_line=*quiet*']),
])
def test_an_entry_covers(catalog, name, value, entries):
    for entry in entries:
        assert covers(catalog, entry, name, value), entry


@pytest.mark.parametrize(('name', 'value', 'entries'), [
    ('hw_disk_bus', 'scsi', [
        'hw_disk', 'HW_DISK_BUS', 'disk*', 'hw_disk_bu?s', 'hw_*=cs',
        'hw_*=S*']),
    ('hw_cdrom_bus', 'scsi', ['hw_disk_bus']),
    ('hw_disk_bus', 'virtio', ['hw_disk_bus=scsi']),
    ('hw_disk_bus', 'scsi\n', ['hw_disk_bus=scsi']),
    ('hw_disk_bus', None, ['hw_disk_bus=scsi', 'hw_disk_bus=*']),
    ('hw_numa_mem.1', '7', ['hw_numa_mem.0']),
    ('hw_numa_cpus.0', '7', ['hw_numa_mem.0', 'hw_numa_mem']),
    ('hw_numa_mem.0', '77', ['hw_numa_mem=7']),
    ('trait:CUSTOM_GOLD', 'required', ['trait:HW_CPU_*']),
    ('os_command_line', 'axb', ['os_command_line=a.b']),
    ('os_command_line', 'ab', ['os_command_line=a?b']),
    ('os_command_line', 'd', ['os_command_line=[a-c]']),
    ('os_command_line', 'a', [
        'os_command_line=[^ab]', 'os_command_line=[!ab]']),
])
def test_an_entry_does_not_cover(catalog, name, value, entries):
    for entry in entries:
        assert not covers(catalog, entry, name, value), entry


def test_entries_are_found_in_the_lists_order(catalog):
    entries = [
        'hw_*=scsi', 'os_*', 'hw_disk_bus', '*_bus=ide', 'hw_disk_bus=xen']
    listed = lists.PropertyList('allowed_properties', entries, catalog)
    assert [e.text for e in listed.covering('hw_disk_bus')] == [
        'hw_*=scsi', 'hw_disk_bus', '*_bus=ide', 'hw_disk_bus=xen']


@pytest.mark.parametrize(('entries', 'meant'), [
    (['hw_disk_bus=virtio', 'scsi'], 'hw_disk_bus=virtio|scsi'),
    (['hw_pmu', 'hw_disk_bus=virtio', 'scsi', 'ide'],
     'hw_disk_bus=virtio|scsi|ide'),
    (['hw_disk_bus=virtio|ide', 'scsi'], 'hw_disk_bus=virtio|ide|scsi'),
    (['hw_*_bus=virtio', 'scsi'], 'hw_*_bus=virtio|scsi'),
    # An unknown name is not taken for a value.
    (['scsi'], ''), (['hw_disk_bus', 'scsi'], ''),
    (['hw_disk_bus=virtio', 'hw_nothing'], ''),
    # Nor is a value of another property.
    (['hw_disk_bus=virtio', 'q35'], ''), (['hw_disk_bus=virtio', 'vga'], ''),
    (['hw_disk_bus=virtio', 'hw_pmu', 'scsi'], ''),
    # Text, which everything is.
    (['os_command_line=quiet', 'hw_nothing'], ''),
    (['hw_*=virtio', 'hw_nothing'], ''),
])
def test_a_value_after_a_comma_was_meant_to_follow_a_bar(
        catalog, entries, meant):
    listed = lists.PropertyList('allowed_properties', entries, catalog)
    assert listed.meant_by(entries[-1]) == meant


@pytest.mark.parametrize(('entries', 'why'), [
    (['hw_cpu_sockets=1', '2'], 'did you mean hw_cpu_sockets=1|2?'),
    (['hw_mem_page_size=2MB', '1GB'],
     'did you mean hw_mem_page_size=2MB|1GB?'),
    # The comma is part of the value, which the list cannot hold.
    (['hw_numa_cpus=0', '2-3'], 'not a property name, nor a glob of one'),
])
def test_a_number_after_a_comma_stops_the_start_and_names_what_was_meant(
        catalog, entries, why):
    with pytest.raises(errors.StartupError) as caught:
        lists.PropertyList('allowed_properties', entries, catalog)
    assert str(caught.value).endswith(why)


@pytest.mark.parametrize(('entries', 'why'), [
    (['', '   ', '=scsi'], 'the property name is missing'),
    (['hw_disk_bus=', 'hw_disk_bus=scsi|', 'hw_disk_bus=|scsi',
      'hw_disk_bus=scsi||ide'], 'a value is empty'),
    (['hw_disk_bus hw_cdrom_bus', 'hw_disk_bus;hw_cdrom_bus', '"hw_disk_bus"',
      # What nova.conf makes of hw_numa_cpus=0,2-3,^4
      '2-3', '^4', 'hw_d\u0456sk_bus'], 'not a property name'),
    (['architecture'], 'legacy name, write hw_architecture'),
    (['vmware_adaptertype=ide'],
     'legacy name, write hw_disk_bus or hw_scsi_model'),
    (['hw_[disk', 'hw_disk_bus=[', 'hw_disk_bus=[]', 'hw_disk_bus=[a|b]',
      'hw_disk_bus=[!]', 'hw_disk_bus=[!]a'], '"[" is not closed'),
    (['hw_disk_bus=[z-a]'], 'bad character range'),
])
def test_a_malformed_entry_stops_the_start_with_one_clear_line(
        catalog, entries, why):
    for entry in entries:
        with pytest.raises(errors.StartupError) as caught:
            lists.PropertyList('denied_properties', ['hw_pmu', entry], catalog)
        message = str(caught.value)
        assert message.startswith(
            f'[image_override] denied_properties: entry {entry!r}: {why}')
        assert '\n' not in message


@pytest.mark.parametrize(('entry', 'why'), [
    ('hw_disk_bus=IDE',
     'hw_disk_bus never has the value IDE, did you mean ide? It takes '),
    ('hw_disk_bus==ide', 'hw_disk_bus never has the value =ide, it takes '),
    ('hw_disk_bus=SC*',
     'hw_disk_bus never has the value SC*, did you mean scsi? '),
    ('hw_disk_bus=ide|cs', 'hw_disk_bus never has the value cs, it takes '),
    ('hw_video_model=VGA',
     'hw_video_model never has the value VGA, did you mean vga? '),
    ('hw_boot_menu=maybe',
     'hw_boot_menu never has the value maybe, it takes true, false'),
    ('hw_mem_page_size=1G', 'hw_mem_page_size never has the value 1G: must'),
    ('hw_mem_page_size=1G*', 'hw_mem_page_size never has a value like 1G*: it '
     'is compared as it is stored, without G'),
    ('hw_mem_page_size=[12]?B', 'hw_mem_page_size never has a value like '),
    ('hw_cpu_sockets=*x', 'hw_cpu_sockets never has a value like *x: '),
    ('os_command_line=*init*\nhw_machine_type',
     'os_command_line never has the value "*init*\\nhw_machine_type": must '
     'not hold control characters'),
    ('hw_numa_cpus.0=0..?', 'hw_numa_cpus.N never has a value like 0..?: '),
    ('hw_cpu_sockets=none', 'hw_cpu_sockets never has the value none: must'),
    ('hw_cpu_sockets=99999999',
     'hw_cpu_sockets never has the value 99999999: must'),
    ('hw_numa_mem=x', 'hw_numa_mem.N never has the value x: must'),
    ('hw_numa_mem.0=x', 'hw_numa_mem.N never has the value x: must'),
    ('hw_numa_cpus=5-3', 'hw_numa_cpus.N never has the value 5-3: range'),
    ('os_distro=' + 'x' * 256, 'os_distro never has the value "xxx'),
    ('trait:CUSTOM_GOLD=true',
     'trait:NAME never has the value true, it takes required'),
    ('traits_required=forbidden', 'trait:NAME never has the value forbidden'),
    ('trait:*=forbidden', 'trait:NAME never has the value forbidden'),
    ('hw_*_bus=IDE|VIRTIO', 'no property that it matches takes IDE; no '),
])
def test_an_entry_that_can_never_match_stops_the_start(catalog, entry, why):
    with pytest.raises(errors.StartupError) as caught:
        lists.PropertyList('denied_properties', [entry], catalog)
    assert str(caught.value).startswith(
        f'[image_override] denied_properties: entry {entry!r}: {why}')
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('entry', [
    'hw_*=IDE', 'hw_*_bus=IDE|ide', '*=no such value', 'hw_later=x',
    'hw_later_*=x', 'hw_cpu_sockets=9*9', 'hw_mem_page_size=10485??',
    'hw_mem_page_size=*ge', 'hw_mem_page_size=[1G]*', 'hw_numa_cpus.0=*,^?',
    'hw_disk_bus=[is]*', 'os_distro=Ubuntu', 'os_command_line==x',
    'hw_architecture=AMD64', 'hw_boot_menu=ON', 'trait:*=required',
    'traits_required=req*', 'hw_numa_cpus.0=0-3', 'hw_mem_page_size=2MiB'])
def test_an_entry_that_may_match_something_does_not(catalog, entry):
    assert lists.PropertyList(
        'denied_properties', [entry], catalog
    ).entries


def test_all_that_is_wrong_in_a_list_is_told_in_one_line_each(catalog):
    with pytest.raises(errors.StartupError) as caught:
        lists.PropertyList(
            'denied_properties', ['hw_disk_bus=IDE', 'hw_pmu', 'vm_mode'],
            catalog)
    assert [':'.join(line.split(':')[:2])
            for line in str(caught.value).split('\n')] == [
        "[image_override] denied_properties: entry 'hw_disk_bus=IDE'",
        "[image_override] denied_properties: entry 'vm_mode'"]


@pytest.mark.parametrize(('entry', 'meant'), [
    ('hw_of_a_later_nova', ''), ('hw_numa_mem.128', 'hw_numa_mem'),
    ('HW_DISK_BUS', 'hw_disk_bus'), ('hw_disk_buss', 'hw_disk_bus'),
    ('img_owner', ''), ('trait:lower', ''), ('hw_typo=1', ''),
    # Globs, and names that this Nova has.
    *((known, None) for known in (
        'hw_disk_bus', 'hw_numa_mem', 'hw_numa_mem.0', 'traits_required',
        'trait:CUSTOM_GOLD', 'no_such_*', 'img_signature'))])
def test_exact_names_that_this_nova_lacks_are_named_with_what_was_meant(
        catalog, entry, meant):
    listed = lists.PropertyList('allowed_properties', [entry], catalog)
    assert {each.text: name for each, name in listed.unknown_names().items()
            } == ({} if meant is None else {entry: meant})


@pytest.mark.parametrize(('entry', 'field', 'found'), [
    ('hw_numa_mem', 'hw_numa_mem', [('hw_numa_mem', True)]),
    ('hw_*', 'hw_numa_mem', [('hw_*', True)]),
    ('hw_numa_mem.0', 'hw_numa_mem', [('hw_numa_mem.0', False)]),
    ('*.0', 'hw_numa_mem', [('*.0', False)]),
    ('hw_numa_mem.*', 'hw_numa_mem', [('hw_numa_mem.*', True)]),
    ('trait:CUSTOM_*', 'traits_required', [('trait:CUSTOM_*', False)]),
    ('hw_numa_cpus', 'hw_numa_mem', []),
    ('hw_numa_cpus.0', 'hw_numa_mem', []),
    ('hw_numa_mem.128', 'hw_numa_mem', []),
    ('hw_numa', 'hw_numa_mem', []),
    ('hw_numa_me?', 'hw_numa_cpus', []),
    ('custom_*', 'traits_required', []),
    ('trai?:*', 'traits_required', [('trai?:*', False)]),
    ('trait:*hw', 'traits_required', [('trait:*hw', False)]),
    ('trait:hw_*', 'traits_required', []),
    ('hw_numa_mem.1*', 'hw_numa_mem', [('hw_numa_mem.1*', False)]),
    ('hw_numa_mem.a*', 'hw_numa_mem', []),
])
def test_what_can_concern_a_family(catalog, entry, field, found):
    listed = lists.PropertyList('allowed_properties', [entry], catalog)
    assert [(each.text, each.covers_all(catalog[field]))
            for each in listed.reaching[field]] == found


def test_requests_do_not_go_through_entries_of_other_properties(
        catalog, monkeypatch):
    listed = lists.PropertyList(
        'allowed_properties', ['hw_disk_bus', 'hw_none_*', 'trait:CUSTOM_*'],
        catalog)
    tried = []
    monkeypatch.setattr(lists.Entry, 'reaches', None)
    monkeypatch.setattr(lists.Entry, 'covers', lambda entry, name, prop: (
        tried.append(entry.text)))
    assert list(rules.Allowed(listed, listed).limit(
        discovery_schema.Overridable(catalog['hw_disk_bus']), None))
    listed.covering('trait:CUSTOM_NEW')
    assert tried == ['trait:CUSTOM_*']


# --- globs ------------------------------------------------------------------

_brackets = st.builds(
    '[{}{}]'.format, st.sampled_from(['', '!']),
    st.sampled_from(['a', 'ab', 'a-c', '_.', '.\\', 'a|b', '(', '$', '0-9_',
                       ']', ']a', 'a^']))
_globs = st.lists(
    st.text('ab*?.^$+(){}|\\/]_-\n', min_size=1, max_size=4) | _brackets
    | st.characters(exclude_characters='['), max_size=6).map(''.join)


@hypothesis.given(
    _globs, st.text('abcd.^$+(){}|\\/]_-\n09') | strategies.any_text)
# These never end if each star may stop anywhere.
@hypothesis.example('*-' * 20 + 'x', '-' * 255)
@hypothesis.example('*a?' * 20 + 'x*', 'a' * 255)
@hypothesis.example('**' * 20 + '[!a]', 'a' * 255)
@hypothesis.example('[]ab]', 'X')
def test_a_glob_matches_as_fnmatch_does(glob, text):
    assert bool(re.fullmatch(lists.glob_pattern(glob), text)) == (
        fnmatch.fnmatchcase(text, glob))


@hypothesis.given(
    st.text('abc.^$+(){}|\\/]_-\n09', max_size=12).flatmap(
        lambda text: st.tuples(st.just(text), strategies.globs_of(text))))
def test_a_glob_made_from_a_text_matches_it(drawn):
    text, glob = drawn
    assert re.fullmatch(lists.glob_pattern(glob), text)


@hypothesis.given(st.data(), st.sampled_from(sorted(strategies.OPEN)))
def test_a_glob_of_a_value_spells_none(data, field):
    prop = strategies.CATALOG[field]
    _, value = data.draw(strategies.pairs([field]))
    glob = data.draw(strategies.globs_of(value))
    if set(glob) & set('*?['):
        assert prop.canonical(glob) == glob


@hypothesis.given(_globs)
def test_a_globs_pattern_means_the_same_to_python_and_javascript(glob):
    ecma.check(lists.glob_pattern(glob))


@hypothesis.given(strategies.any_text)
def test_any_text_is_a_list_entry_or_stops_the_start(catalog, text):
    try:
        listed = lists.PropertyList(
            'denied_properties', [text], catalog
        )
    except errors.StartupError as exc:
        assert repr(text) in str(exc)
    else:
        assert listed.entries[0].name
