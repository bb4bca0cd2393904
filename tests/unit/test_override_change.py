"""What one change does to the overrides of a server."""

import hypothesis
from hypothesis import strategies as st
import pytest

from nova_image_override import errors
from nova_image_override.authorization import presets
from nova_image_override.override import NONE, UsedPreset
from tests.unit import strategies
from tests.unit.strategies import overrides_of

BUS, PMU = {'hw_disk_bus': 'scsi'}, {'hw_pmu': None}


def test_what_is_added_removed_or_changed_differs():
    before = overrides_of(
        {'hw_disk_bus': 'ide', 'hw_pmu': 'true', 'os_type': 'linux'})
    after = overrides_of(
        {'hw_disk_bus': 'scsi', 'os_type': 'linux', 'hw_boot_menu': 'true',
         # Removing it differs from not overriding it.
         'hw_vif_model': None})
    for one, other in (before, after), (after, before):
        assert one.differing(other) == [
            'hw_boot_menu', 'hw_disk_bus', 'hw_pmu', 'hw_vif_model']


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
def test_new_is_what_the_change_itself_writes(image, before, after, new):
    assert overrides_of(after).new_over(
        image, overrides_of(before)).values == new


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
    def run(parser, drawn):
        image, before, after = drawn
        test(image, parser.parse(before), parser.parse(after))
    run.__name__ = run.__qualname__ = test.__name__
    run.__module__ = test.__module__
    return run


@laws
def test_a_change_and_the_one_back_differ_in_the_same(image, before, after):
    differing = after.differing(before)
    assert differing == before.differing(after)
    assert {*differing} <= {*before.names, *after.names}
    assert (differing == []) == (before.values == after.values)


@laws
def test_what_differs_and_is_in_force_then_is_new(image, before, after):
    new = after.new_over(image, before)
    assert new.values.items() <= after.values.items()
    assert {*after.differing(before)} & after.names <= new.names


@laws
def test_what_does_not_change_is_never_new(image, before, after):
    assert after.new_over(image, after).values == {}


@laws
def test_all_overrides_of_a_new_server_are_new(image, before, after):
    assert after.new_over(image, NONE) == after


@laws
def test_going_back_to_the_image_is_never_new(image, before, after):
    assert NONE.new_over(image, before).values == {}


@laws
def test_whatever_the_server_gets_is_the_images_or_written_by_what_is_new(
        image, before, after):
    try:
        had, has = before.merge(image), after.merge(image)
    except errors.Invalid:
        # The NUMA nodes have a gap.
        hypothesis.reject()
    concerned = set()
    for each in after.new_over(image, before):
        concerned.update(
            after.written(image, each), [each.name], each.prop.legacy)
    for name in {*had, *has} - concerned:
        assert has.get(name) in (had.get(name), image.get(name))


NAMED = presets.Preset.of('vga', overrides_of({
    'hw_disk_bus': 'ide', 'hw_video_model': None}))


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
def test_null_takes_out_what_the_image_lacks(parser, own, image, after):
    made = parser.parse(own, preset=NAMED.overrides).over(image)
    assert made.values == after
    assert made.preset == NAMED.overrides.preset


def test_of_a_preset_without_anything_nothing_is_left(parser):
    named = presets.Preset.of('menu', overrides_of({'hw_boot_menu': 'true'}))
    made = parser.parse({'hw_boot_menu': None}, preset=named.overrides)
    assert made.over({}).values == {}
    assert made.over({}).recorded({}) == {}


def test_without_a_preset_the_image_changes_nothing(parser):
    made = parser.parse({'hw_boot_menu': None})
    assert made.over({}) == made


@pytest.mark.parametrize(('own', 'marked'), [
    ({}, {'hw_disk_bus', 'hw_video_model'}),
    ({'hw_disk_bus': 'ide'}, {'hw_disk_bus', 'hw_video_model'}),
    ({'hw_disk_bus': 'scsi', 'hw_pmu': None}, {'hw_video_model'}),
    ({'hw_disk_bus': None, 'hw_video_model': 'vga'}, set())])
def test_what_has_the_value_of_the_preset_is_the_preset_s(
        parser, own, marked):
    made = parser.parse(own, preset=NAMED.overrides)
    assert {each.name for each in made if each.preset} == marked
    assert {each.preset for each in made} <= {'vga', ''}
    # The same, of what a server has.
    kept = overrides_of(made.values, is_kept=True)
    assert {each.name: each.preset for each
            in kept.as_given_by(NAMED.overrides)} == {
        each.name: each.preset for each in made}


@pytest.mark.parametrize(('before', 'after', 'judged'), [
    # Without a preset, what is new.
    (None, None, []), ('vga', 'vga', ['hw_pmu']), (None, 'vga', ['hw_pmu']),
    ('vga', None, ['hw_pmu'])])
def test_where_a_preset_comes_or_goes_what_is_set_by_hand_is_judged(
        before, after, judged):
    def used(name):
        return name and UsedPreset(name, 'd1')

    had = overrides_of({'hw_pmu': 'true'}, used(before))
    has = overrides_of({'hw_pmu': 'true'}, used(after))
    assert sorted(has.judged_as_new({}, had).names) == judged
    kept = overrides_of({'hw_pmu': 'true'}, used(before), is_kept=True)
    assert not kept.judged_as_new({}, had)
