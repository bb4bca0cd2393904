"""Which change of a server a rebuild and an update make."""

from nova import objects
import pytest

from nova_image_override.api.change import rebuild
from nova_image_override.api.change import update
from nova_image_override.authorization import presets
from nova_image_override.override import UsedPreset
from nova_image_override.server_record import ServerRecord
from tests.unit.api.change.plans import stored
from tests.unit.api.change.plans import unchecked
from tests.unit.api.guest import guests
from tests.unit.strategies import overrides_of

BUS, PMU = {'hw_disk_bus': 'scsi'}, {'hw_pmu': None}
BOTH = {**BUS, **PMU}
IMAGE = {'hw_disk_bus': 'ide', 'hw_pmu': 'true'}


def server(metadata, **specs):
    return objects.Instance(
        uuid='5a3c8f0e-1d2b-4c6a-9e7f-0b1d2c3a4e5f', system_metadata=metadata,
        flavor=guests.flavor(**specs), image_ref='id', vm_state='stopped')


def rebuilt(metadata, asked, **specs):
    """Return the change that a rebuild from an image makes."""
    return rebuild.Rebuild(
        None, None, None, server(metadata, **specs), asked
    )._change({'id': 'id', 'properties': IMAGE})


def updated(metadata, asked, **specs):
    """Return the change that an update makes."""
    return update._change(
        server(metadata, **specs), ServerRecord.read(metadata), asked, None)


def test_without_the_parameter_a_rebuild_keeps_the_overrides_in_force():
    kept = rebuilt(stored(BOTH, IMAGE), None)
    assert kept.before.values == kept.after.values == BOTH
    assert kept.differing == []


@pytest.mark.parametrize('change', [rebuilt, updated])
@pytest.mark.parametrize('asked', [{}, BUS, {'os_type': 'linux'}])
def test_the_parameter_takes_the_place_of_all_overrides_in_force(
        change, asked):
    made = change(stored(BOTH, IMAGE), overrides_of(asked))
    assert (made.before.values, made.after.values) == (BOTH, asked)


@pytest.mark.parametrize('change', [rebuilt, updated])
def test_a_server_without_overrides_has_none_before(change):
    made = change({'image_hw_disk_bus': 'ide'}, overrides_of(BUS))
    assert (made.before.values, made.after.values) == ({}, BUS)
    assert made.differing == ['hw_disk_bus']


USED = UsedPreset('vga', 'd1')
NAMED = presets.Preset.of('vga', overrides_of({
    'hw_disk_bus': 'ide', 'hw_video_model': None})).overrides


@pytest.mark.parametrize(('change', 'asked', 'used'), [
    (rebuilt, None, USED),
    *((change, *rest) for change in (rebuilt, updated) for rest in (
        (overrides_of({}), None), (overrides_of(BUS), None),
        (NAMED, NAMED.preset)))])
def test_the_preset_goes_with_the_overrides(change, asked, used):
    made = change(stored(BOTH, IMAGE, preset=USED), asked)
    assert made.after.preset == used
    # Whether it is the request that names it.
    assert made.after.is_kept == (asked is None)


@pytest.mark.parametrize('change', [rebuilt, updated])
def test_what_stays_is_not_judged_again(change):
    made = change(stored(BOTH, IMAGE), overrides_of({**BUS, 'hw_pmu': 'false'}))
    expected = {'hw_pmu'} if change is updated else {'hw_disk_bus', 'hw_pmu'}
    # The rebuild is from an image that may be another.
    assert made.new.names == expected


@pytest.mark.parametrize(('asked', 'ineffective'), [
    ({'hw_cpu_policy': 'shared'}, {'hw_cpu_policy'}),
    ({'hw_cpu_policy': 'shared', 'hw_boot_menu': 'true'}, {'hw_cpu_policy'}),
    # What is asked for anew has to have an effect.
    ({'hw_cpu_policy': 'dedicated'}, set())])
@pytest.mark.parametrize('change', [rebuilt, updated])
def test_what_had_no_effect_before_may_stay_so(change, asked, ineffective):
    metadata = stored({'hw_cpu_policy': 'shared'}, {})
    assert change(
        metadata, overrides_of(asked), hw__cpu_policy='dedicated'
    ).ineffective == ineffective


# --- what the image itself has, as far as an update can know ------------------

def change_of(metadata, asked, had=None):
    return update._change(
        server(metadata), ServerRecord.read(metadata), overrides_of(asked), had)


def test_defaults_of_nova_compute_are_not_the_images():
    """The request spec has none of them."""
    metadata = stored(
        BUS, {**IMAGE, 'owner': 'x'}, {'hw_video_model': 'virtio'})
    assert change_of(metadata, {}, guests.image(hw_pmu='true')).images == [
        {**IMAGE, 'owner': 'x'}]
    # Without one nobody knows.
    assert change_of(metadata, {}).images == [
        {**IMAGE, 'owner': 'x', 'hw_video_model': 'virtio'}, {}]


def test_a_default_that_follows_from_what_changes_is_chosen_anew():
    defaults = {'hw_machine_type': 'pc', 'hw_cdrom_bus': 'ide',
                'hw_vif_model': 'e1000'}
    metadata = stored({}, {}, defaults)
    had = guests.image(hw_vif_model='e1000')

    def base(asked):
        return change_of(metadata, asked, had).base

    assert base({'hw_pmu': 'true'}) == defaults
    assert base({'hw_machine_type': 'q35'}) == {
        'hw_machine_type': 'pc', 'hw_vif_model': 'e1000'}
    # The image's own stays.
    assert base({'hw_architecture': 'aarch64'}) == {'hw_vif_model': 'e1000'}


def test_so_is_one_in_the_place_of_what_was_removed():
    metadata = stored(
        {'hw_vif_model': None, 'hw_machine_type': None}, {},
        {'hw_vif_model': 'virtio', 'hw_machine_type': 'pc'})
    removed = {'hw_vif_model': None, 'hw_machine_type': None}
    assert change_of(metadata, removed).fixed == {
        'hw_vif_model': 'virtio', 'hw_machine_type': 'pc'}
    assert change_of(
        metadata, {'hw_vif_model': None, 'hw_machine_type': 'q35'}
    ).fixed == {'hw_vif_model': 'virtio'}
    assert change_of(
        metadata, {**removed, 'hw_architecture': 'aarch64'}).fixed == {}


def test_an_images_value_may_be_under_any_name_that_nova_reads():
    metadata = stored({}, {'hw_disk_bus': 'ide', 'hw_pmu': 'true'})
    had = guests.image(hw_disk_bus='ide', hw_pmu='true')
    assert change_of(metadata, {'hw_disk_bus': 'scsi'}, had).images == [
        {'hw_disk_bus': 'ide', 'hw_pmu': 'true'},
        {'hw_pmu': 'true', 'vmware_adaptertype': 'ide'}]
    assert change_of(metadata, {'hw_pmu': None}, had).images == [
        {'hw_disk_bus': 'ide', 'hw_pmu': 'true'}]


# --- fields of a server that follow from its properties -----------------------

@pytest.mark.parametrize(('asked', 'has'), [
    ({}, {'os_type': 'linux', 'architecture': None, 'vm_mode': None}),
    ({'os_type': 'windows'}, {'os_type': 'windows'}),
    ({'os_type': None}, {'os_type': None}),
    ({'hw_auto_disk_config': 'true'}, {'auto_disk_config': True}),
    ({'hw_auto_disk_config': 'false'}, {'auto_disk_config': False}),
    ({'hw_auto_disk_config': None}, {'auto_disk_config': False})])
def test_fields_of_a_server_follow_its_properties(asked, has):
    found = update._fields(unchecked(asked, {'os_type': 'linux'}))
    assert found.items() >= has.items()
    assert found.keys() - {'auto_disk_config'} == {
        'os_type', 'architecture', 'vm_mode'}
    assert ('auto_disk_config' in found) == ('hw_auto_disk_config' in asked)
