"""What one change does to the overrides of a server."""

import hypothesis
from hypothesis import strategies as st
import pytest

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import override_record as record
from nova_image_override.api.change import change
from nova_image_override.authorization import presets
from tests.unit import strategies

BUS, PMU = {'hw_disk_bus': 'scsi'}, {'hw_pmu': None}
STORED = record.with_properties({}, {
    **BUS, **record.properties(
        {**BUS, **PMU}, {'hw_disk_bus': 'ide', 'hw_pmu': 'true'})})


# --- what a request asks for ------------------------------------------------

def test_without_the_parameter_the_overrides_in_force_are_kept():
    kept = change.Change.of(STORED, None)
    assert kept.before == kept.after == {**BUS, **PMU}
    assert kept.differing == []


@pytest.mark.parametrize('asked', [{}, BUS, {'os_type': 'linux'}])
def test_the_parameter_takes_the_place_of_all_overrides_in_force(asked):
    made = change.Change.of(STORED, asked)
    assert (made.before, made.after) == ({**BUS, **PMU}, asked)


def test_a_server_without_overrides_has_none_before():
    assert change.Change.of({'image_hw_disk_bus': 'ide'}, BUS) == (
        change.Change({}, BUS))


def test_what_is_added_removed_or_changed_differs():
    made = change.Change(
        {'hw_disk_bus': 'ide', 'hw_pmu': 'true', 'os_type': 'linux'},
        {'hw_disk_bus': 'scsi', 'os_type': 'linux', 'hw_boot_menu': 'true'})
    assert made.names == {'hw_disk_bus', 'hw_pmu', 'os_type', 'hw_boot_menu'}
    assert made.differing == ['hw_boot_menu', 'hw_disk_bus', 'hw_pmu']


def test_removing_a_property_differs_from_not_overriding_it():
    assert change.Change({}, PMU).differing == ['hw_pmu']
    assert change.Change(PMU, {}).differing == ['hw_pmu']


# --- what is new over the same image ----------------------------------------

@pytest.mark.parametrize(('image', 'before', 'after', 'new'), [
    # What is kept as it is has been authorised before.
    ({'hw_disk_bus': 'ide'}, BUS, BUS, {}),
    ({}, PMU, PMU, {}),
    ({}, BUS, {**BUS, **PMU}, PMU),
    ({}, BUS, {'hw_disk_bus': 'virtio'}, {'hw_disk_bus': 'virtio'}),
    ({'hw_disk_bus': 'ide'}, BUS, {'hw_disk_bus': None},
     {'hw_disk_bus': None}),
    # The image's own value needs nobody's permission.
    ({'hw_disk_bus': 'ide'}, BUS, {}, {}),
    ({'hw_pmu': 'true'}, PMU, {}, {}),
    # Nor does it where the request says it.
    ({'hw_disk_bus': 'ide'}, {}, {'hw_disk_bus': 'ide'},
     {'hw_disk_bus': 'ide'}),
    # Without the override of the model, that of the bus writes it.
    ({'vmware_adaptertype': 'lsiLogic'},
     {'hw_disk_bus': 'virtio', 'hw_scsi_model': 'buslogic'},
     {'hw_disk_bus': 'virtio'}, {'hw_disk_bus': 'virtio'}),
    ({'vmware_adaptertype': 'ide'},
     {'hw_disk_bus': 'virtio', 'hw_scsi_model': 'buslogic'},
     {'hw_disk_bus': 'virtio'}, {}),
])
def test_new_is_what_the_change_itself_writes(
        catalog, image, before, after, new):
    assert change.Change(before, after).new(catalog, image) == new


@st.composite
def changes(draw):
    """An image, and two sets of overrides with some in common."""
    image, raw = draw(strategies.laid_over())
    name = st.sampled_from(sorted(raw)) if raw else st.nothing()
    one, other, removed = (draw(st.sets(name)) for _ in range(3))
    return (image, {n: raw[n] for n in sorted(one)},
            {n: None if n in removed else raw[n] for n in sorted(other)})


def laws(test):
    """Call TEST with an image and a change over it."""
    @hypothesis.given(changes())
    def run(parser, catalog, drawn):
        image, before, after = drawn
        test(catalog, image, change.Change(
            parser.parse(before), parser.parse(after)))
    run.__name__ = run.__qualname__ = test.__name__
    run.__module__ = test.__module__
    return run


@laws
def test_a_change_and_the_one_back_differ_in_the_same(catalog, image, made):
    assert made.differing == change.Change(made.after, made.before).differing
    assert {*made.differing} <= made.names
    assert (made.differing == []) == (made.before == made.after)


@laws
def test_what_differs_and_is_in_force_then_is_new(catalog, image, made):
    new = made.new(catalog, image)
    assert new.items() <= made.after.items()
    assert {*made.differing} & {*made.after} <= {*new}


@laws
def test_what_does_not_change_is_never_new(catalog, image, made):
    assert change.Change(made.after, made.after).new(catalog, image) == {}


@laws
def test_all_overrides_of_a_new_server_are_new(catalog, image, made):
    assert change.Change({}, made.after).new(catalog, image) == made.after


@laws
def test_going_back_to_the_image_is_never_new(catalog, image, made):
    assert change.Change(made.before, {}).new(catalog, image) == {}


@laws
def test_whatever_the_server_gets_is_the_images_or_written_by_what_is_new(
        catalog, image, made):
    try:
        had, has = (override.merge(catalog, image, each)
                    for each in (made.before, made.after))
    except errors.Invalid:
        # The NUMA nodes have a gap.
        hypothesis.reject()
    concerned = set()
    for name in made.new(catalog, image):
        concerned.update(
            override.written(catalog, image, made.after, name), [name],
            strategies.CATALOG.resolve(name).legacy_names)
    for name in {*had, *has} - concerned:
        assert has.get(name) in (had.get(name), image.get(name))


NAMED = presets.Preset('vga', {
    'hw_disk_bus': 'ide', 'hw_video_model': None})
USED = record.UsedPreset('vga', 'd1')
WITH_PRESET = {**STORED, **{
    f'image_{name}': value for name, value
    in record.properties({}, {}, USED).items()}}


@pytest.mark.parametrize(('asked', 'named', 'used'), [
    (None, None, USED), ({}, None, None), (BUS, None, None),
    (NAMED.properties, NAMED, NAMED.used)])
def test_the_preset_goes_with_the_overrides(asked, named, used):
    made = change.Change.of(WITH_PRESET, asked, named)
    assert made.preset == used
    assert made.named is named


@pytest.mark.parametrize(('own', 'image', 'after'), [
    ({}, {}, {'hw_disk_bus': 'ide', 'hw_video_model': None}),
    ({'hw_disk_bus': None}, {}, {'hw_video_model': None}),
    ({'hw_disk_bus': None}, {'hw_disk_bus': 'sata'},
     {'hw_disk_bus': None, 'hw_video_model': None}),
    ({'hw_disk_bus': None}, {'vmware_adaptertype': 'ide'},
     {'hw_disk_bus': None, 'hw_video_model': None}),
    # Not the preset's: a removal as ever.
    ({'hw_pmu': None}, {}, {'hw_disk_bus': 'ide', 'hw_video_model': None,
                            'hw_pmu': None})])
def test_null_takes_out_what_the_image_lacks(catalog, own, image, after):
    made = change.Change.of({}, {**NAMED.properties, **own}, NAMED)
    assert made.on(catalog, image).after == after
    assert made.on(catalog, image).preset == NAMED.used


def test_of_a_preset_without_anything_nothing_is_left(catalog):
    named = presets.Preset('menu', {'hw_boot_menu': 'true'})
    made = change.Change.of({}, {'hw_boot_menu': None}, named).on(catalog, {})
    assert (made.after, made.preset) == ({}, None)


def test_without_a_preset_the_image_changes_nothing(catalog):
    made = change.Change.of({}, {'hw_boot_menu': None})
    assert made.on(catalog, {}) is made
