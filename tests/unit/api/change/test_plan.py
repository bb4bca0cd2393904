"""What a plan stores, and all that is said of a change that is refused."""

import pytest

from nova_image_override import errors
from nova_image_override import policies
from nova_image_override.api.change.plan import Change
from nova_image_override.authorization.glance import property_protections
from nova_image_override.override import NONE, UsedPreset
from tests.unit.api.change.plans import change
from tests.unit.api.change.plans import IMAGE
from tests.unit.api.change.plans import planner
from tests.unit.api.change.plans import SPECS
from tests.unit.api.guest import guests
from tests.unit.authorization.judged import section
from tests.unit.strategies import overrides_of

CLOUD = planner()


def refused(made, by=CLOUD):
    """Return the refusal, and its problems: name -> (code, reason)."""
    with pytest.raises(errors.OverrideError) as caught:
        by.plan(None, made)
    return caught.value, {each.name: (each.code, each.reason)
                          for each in caught.value.problems}


# --- what is stored -----------------------------------------------------------

ASKED = {'hw_disk_bus': 'scsi', 'hw_pmu': None, 'hw_boot_menu': 'true'}


def test_the_merged_properties_are_stored_with_the_images_own_values():
    made = planner().plan(None, change(ASKED))
    merged = {'hw_disk_bus': 'scsi', 'owner': 'x', 'hw_boot_menu': 'true'}
    assert made.image['properties'] == merged
    assert made.image['id'] == 'a'
    assert made.stored == {**merged, **overrides_of(ASKED).recorded(IMAGE)}


def test_the_images_own_values_are_those_of_its_first_form():
    """A server's image may have others than the server."""
    first = {'hw_disk_bus': 'usb'}
    made = planner().plan(None, change(ASKED, images=[first, {}]))
    assert made.recorded == overrides_of(ASKED).recorded(first)
    assert made.image['properties']['owner'] == 'x'


def test_values_that_are_fixed_replace_merged_ones():
    made = planner().plan(None, change(
        {'hw_vif_model': None}, fixed={'hw_vif_model': 'virtio'}))
    assert made.image['properties'] == {**IMAGE, 'hw_vif_model': 'virtio'}


def test_an_image_without_properties_has_none():
    made = planner().plan(None, change({'hw_pmu': 'true'}, own=None))
    assert made.image['properties'] == {'hw_pmu': 'true'}
    assert made.base == {}


# --- what is refused ----------------------------------------------------------

def test_all_that_is_wrong_is_said_at_once():
    refusal, found = refused(change({
        'hw_disk_bus': 'scsi', 'hw_rng_model': 'virtio', 'img_mappings': 'x',
        'hw_video_ram': '1', 'hw_boot_menu': 'true'}),
        planner('hw_disk_bus', 'hw_video_ram', 'hw_boot_menu'))
    assert type(refusal) is errors.Forbidden
    assert {name: code for name, (code, _) in found.items()} == {
        'hw_rng_model': errors.NOT_ALLOWED, 'img_mappings': errors.NEVER,
        'hw_video_ram': errors.FLAVOR_CONFLICT}


def test_so_it_is_where_they_cannot_be_merged():
    refusal, found = refused(change({
        'hw_numa_cpus.1': '0-3', 'hw_rng_model': 'virtio',
        'hw_boot_menu': 'true'}), planner('hw_numa_cpus.*', 'hw_boot_menu'))
    assert {name: code for name, (code, _) in found.items()} == {
        'hw_numa_cpus.1': errors.NUMA_GAP, 'hw_rng_model': errors.NOT_ALLOWED}
    # What would be wrong with it, nobody has looked at.
    assert set(refusal.unchecked) == {'hw_boot_menu'}


def test_a_property_that_is_not_allowed_is_not_also_a_conflict():
    _, found = refused(change({'hw_video_ram': '1'}), planner('hw_pmu'))
    assert found['hw_video_ram'][0] == errors.NOT_ALLOWED


def test_what_is_kept_needs_no_entry():
    asked = overrides_of({'hw_disk_bus': 'scsi'})
    kept = Change(guests.flavor(), {'properties': IMAGE}, asked, NONE, asked)
    assert planner('hw_pmu').plan(None, kept).image['properties'][
        'hw_disk_bus'] == 'scsi'


@pytest.mark.parametrize(('own', 'images', 'is_refused'), [
    ({}, (), False), ({'hypervisor_type': 'kvm'}, (), True),
    # In one form it has it.
    ({}, ({}, {'hypervisor_type': 'kvm'}), True),
    ({'hypervisor_type': 'kvm'}, ({},), False)])
def test_glance_protects_what_the_image_may_have(own, images, is_refused):
    """Under its legacy name, which no section here permits changing."""
    cloud = planner(protections=property_protections.Protections([
        section('^img_hv_type$')]))
    made = change({'img_hv_type': 'kvm'}, own, images=images)
    if is_refused:
        assert refused(made, cloud)[1]['img_hv_type'][0] == errors.PROTECTED
    else:
        cloud.plan(None, made)


@pytest.mark.parametrize(('is_kept', 'codes'), [
    (True, []), (False, [errors.PRESET_NOT_ALLOWED])])
def test_a_preset_that_the_request_names_must_be_open(is_kept, codes):
    """Even if all of its overrides are in force already."""
    named = overrides_of({}, UsedPreset('vga', 'd1'), is_kept=is_kept)
    cloud = planner(closed=(policies.PRESET_RULE.format('vga'),))
    assert [each.code for each in cloud.refused(None, named)] == codes


# --- what the flavor says -----------------------------------------------------

CONFLICTS = {'hw_cpu_policy': 'shared', 'hw_numa_nodes': '3'}
DEDICATED = {'hw__cpu_policy': 'dedicated'}


def test_who_may_read_extra_specs_is_told_what_the_flavor_has():
    _, found = refused(change(CONFLICTS, specs=DEDICATED))
    assert 'hw:cpu_policy=dedicated' in found['hw_cpu_policy'][1]


def test_others_are_told_that_the_flavor_decides():
    _, found = refused(
        change(CONFLICTS, specs=DEDICATED), planner(closed=(SPECS,)))
    _, public = refused(change(CONFLICTS))
    assert found['hw_cpu_policy'] == (
        errors.FLAVOR_CONFLICT, 'the flavor decides this, with extra specs '
        'that you may not read: leave the property out, or choose another '
        'flavor')
    # Its vCPUs and memory are no secret.
    assert found['hw_numa_nodes'] == public['hw_numa_nodes']
