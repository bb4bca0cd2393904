"""The overrides by which a rebuild would change a server's NUMA topology."""

import dataclasses

from nova import exception
from nova import objects
from nova.scheduler.client import query
from nova.virt import hardware
import pytest

from nova_image_override import errors
from nova_image_override.api.change import scheduling
from nova_image_override.api.change.plan import Change, Plan
from nova_image_override.api.guest.guest import boot_metadata
from nova_image_override.server_record import ServerRecord
from tests.unit import strategies
from tests.unit.api.change.plans import stored
from tests.unit.api.guest import guests
from tests.unit.strategies import overrides_of

TWO = {'hw_numa_nodes': '2',
       'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
       'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768'}


@pytest.fixture(autouse=True)
def no_scheduler(monkeypatch):
    """Nobody is asked: the blame is found in nova-api alone."""
    monkeypatch.setattr(query, 'SchedulerQueryClient', lambda: None)


def refuse(*args):
    raise exception.ImageNUMATopologyRebuildConflict


def refused(had, wanted, base=None, vcpus=4, guard=refuse):
    """Return which overrides are to blame.

    :param had: the overrides in force, over an image without properties
    :param base: properties of the requested image
    """
    before, after = overrides_of(had), overrides_of(wanted)
    flavor = guests.flavor(vcpus)
    instance = objects.Instance(
        flavor=flavor, system_metadata=stored(had, {}))
    change = Change(flavor, {'properties': base or {}}, after, after, before)
    return set(scheduling.HostScheduler(guard, None).changing_numa(
        instance, ServerRecord.of(instance),
        Plan(change, boot_metadata({}, after.merge(change.base)))))


@pytest.mark.parametrize(('had', 'wanted', 'blamed'), [
    ({}, {'hw_numa_nodes': '2', 'hw_boot_menu': 'true'}, {'hw_numa_nodes'}),
    ({'hw_numa_nodes': '2', 'os_type': 'linux'}, {}, {'hw_numa_nodes'}),
    ({'hw_numa_nodes': '2'}, {'hw_numa_nodes': '4'}, {'hw_numa_nodes'}),
    ({'hw_boot_menu': 'true', **TWO}, {}, set(TWO)),
    (TWO, {**TWO, 'hw_numa_mem.0': '512', 'hw_numa_mem.1': '512'},
     {'hw_numa_mem.0', 'hw_numa_mem.1'}),
    (TWO, {**TWO, 'hw_cpu_policy': 'dedicated', 'hw_boot_menu': 'true'},
     {'hw_cpu_policy'}),
    # Another spelling of the same.
    (TWO, {**TWO, 'hw_numa_cpus.1': '1,2,3', 'hw_mem_page_size': 'large'},
     {'hw_mem_page_size'}),
    ({}, {'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'isolate',
          'trait:CUSTOM_A': 'required', 'hw_locked_memory': 'true'},
     {'hw_cpu_policy', 'hw_cpu_thread_policy'}),
    # Only what makes a topology in some other way is left.
    ({'hw_cpu_policy': 'mixed', 'hw_cpu_realtime_mask': '^0'},
     {'hw_cpu_policy': 'mixed', 'hw_cpu_realtime_mask': '^1'},
     {'hw_cpu_realtime_mask'}),
])
def test_the_properties_that_change_it_are_blamed(had, wanted, blamed):
    assert refused(had, wanted) == blamed


def test_who_reads_a_property_does_not_decide_who_is_blamed(monkeypatch):
    for name, prop in strategies.CATALOG.items():
        monkeypatch.setitem(strategies.CATALOG, name, dataclasses.replace(
            prop, record=dataclasses.replace(prop.record, readers=())))
    assert refused({}, {
        'hw_cpu_policy': 'dedicated', 'trait:CUSTOM_A': 'required',
        'hw_locked_memory': 'true'}) == {'hw_cpu_policy'}


def test_a_new_image_that_changes_it_alone_blames_no_override():
    assert refused(
        {'hw_boot_menu': 'true'}, {'hw_video_model': 'vga'},
        base={'hw_numa_nodes': '2'}) == {errors.PARAMETER}


def test_nothing_is_blamed_where_nova_sees_no_change():
    assert refused({'hw_numa_nodes': '2'}, {},
                   guard=lambda *args: None) == set()


def test_lists_are_expanded_once_however_many_names_change(monkeypatch):
    lists = []
    parse = hardware.parse_cpu_spec

    def counting(spec):
        lists.append(spec)
        return parse(spec)

    monkeypatch.setattr(hardware, 'parse_cpu_spec', counting)
    had = {'hw_numa_nodes': '60',
           **{f'hw_numa_mem.{n}': '17' for n in range(59)},
           'hw_numa_mem.59': '21',
           **{f'hw_numa_cpus.{n}': ','.join([f'{n}'] * 80)
              for n in range(59)},
           'hw_numa_cpus.59': ','.join(['59-239'] * 22)}
    assert refused(had, {
        f'trait:CUSTOM_{n}': 'required' for n in range(128)},
        vcpus=240) == set(had)
    assert len(lists) == 60
