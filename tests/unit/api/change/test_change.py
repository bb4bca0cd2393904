"""Which change of a server a rebuild and an update make."""

from nova import objects
import pytest

from nova_image_override.api.change import rebuild
from nova_image_override.api.change import update
from nova_image_override.authorization import presets
from nova_image_override.override import UsedPreset
from nova_image_override.server_record import ServerRecord
from tests.unit.api.guest import guests
from tests.unit.strategies import overrides_of

BUS, PMU = {'hw_disk_bus': 'scsi'}, {'hw_pmu': None}
IMAGE = {'hw_disk_bus': 'ide', 'hw_pmu': 'true'}


def stored(preset=None):
    """Return the system metadata of a server with both overrides."""
    return ServerRecord.read({}).with_properties({
        **BUS, **overrides_of({**BUS, **PMU}, preset).recorded(IMAGE)})


def server(metadata):
    return objects.Instance(
        uuid='5a3c8f0e-1d2b-4c6a-9e7f-0b1d2c3a4e5f', system_metadata=metadata,
        flavor=guests.flavor(), image_ref='id', vm_state='stopped')


def rebuilt(metadata, asked):
    """Return the change that a rebuild from the same image makes."""
    return rebuild.Rebuild(None, None, None, server(metadata), asked)._change(
        {'id': 'id', 'properties': IMAGE})


def updated(metadata, asked):
    """Return the change that an update makes."""
    return update._change(
        server(metadata), ServerRecord.read(metadata), asked, None)


def test_without_the_parameter_a_rebuild_keeps_the_overrides_in_force():
    kept = rebuilt(stored(), None)
    assert kept.before.values == kept.after.values == {**BUS, **PMU}
    assert kept.differing == []


@pytest.mark.parametrize('change', [rebuilt, updated])
@pytest.mark.parametrize('asked', [{}, BUS, {'os_type': 'linux'}])
def test_the_parameter_takes_the_place_of_all_overrides_in_force(
        change, asked):
    made = change(stored(), overrides_of(asked))
    assert (made.before.values, made.after.values) == ({**BUS, **PMU}, asked)


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
    made = change(stored(USED), asked)
    assert made.after.preset == used
    # Whether it is the request that names it.
    assert made.after.is_kept == (asked is None)
