"""What a create does with its overrides, step by step, and a check of one."""

import types

from nova import exception
from nova import objects
from nova.limit import local
import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.api import audit
from nova_image_override.api.change import create
from nova_image_override.api.change import dry_run
from nova_image_override.api.change import store
from nova_image_override.hosts import answer
from tests.unit.api.change import plans
from tests.unit.api.guest import guests
from tests.unit.strategies import overrides_of

OWN = {'hw_disk_bus': 'ide', 'os_glance_import_task': 'x', 'trait:A': 'y'}


@pytest.mark.parametrize('forged', [
    *overrides_of({'hw_disk_bus': 'ide', 'trait:A': None}).recorded(
        {'trait:A': 'required'}),
    *store.unfinished(['', 'hw_disk_bus'], 'virtio'),
    metadata_keys.OFFLOADED])
def test_a_record_that_a_volume_claims_is_forgotten(forged):
    properties = {**OWN, forged: '=x'}
    volume = {'id': '', 'min_ram': 0, 'properties': properties}
    create.forget_forged_record(volume)
    assert volume == {'id': '', 'min_ram': 0, 'properties': OWN}
    # It may be what a cache holds.
    assert forged in properties


@pytest.mark.parametrize('image', [
    {}, {'properties': None}, {'properties': {}}, {'properties': OWN}])
def test_what_claims_nothing_is_left_as_it_is(image):
    before = dict(image)
    create.forget_forged_record(image)
    assert image == before
    assert image.get('properties') is before.get('properties')


# --- the steps of a create ----------------------------------------------------

ASKED = {'hw_disk_bus': 'ide', 'hw_pmu': None}


def merged(made, properties=OWN):
    """Merge the overrides over boot metadata; return both answers."""
    image = {'id': 'a', 'min_ram': 1}
    if properties is not None:
        image['properties'] = properties
    return image, made.image_known(None, guests.flavor(), image)


def created(asked, kind=create.Create, *more):
    return kind(plans.planner(), overrides_of(asked), *more)


@pytest.mark.parametrize(('properties', 'asked', 'expected'), [
    ({'hw_pmu': 'true', 'hw_disk_bus': 'virtio', 'x': 'y'}, ASKED,
     {'hw_disk_bus': 'ide', 'x': 'y'}),
    (None, ASKED, {'hw_disk_bus': 'ide'}),
    # A check asks for none, too.
    ({'hw_pmu': 'true'}, {}, {'hw_pmu': 'true'}), (None, {}, None)])
def test_overrides_are_merged_into_the_boot_metadata(
        properties, asked, expected):
    own = None if properties is None else dict(properties)
    image, more = merged(created(asked), properties)
    assert image.get('properties') == expected
    assert (image['id'], more, properties) == ('a', {}, own)


@pytest.mark.parametrize(('asked', 'at_first', 'afterwards'), [
    ({'hw_auto_disk_config': 'true'}, None, {'auto_disk_config': False}),
    ({'hw_disk_bus': 'ide'}, False, {})])
def test_auto_disk_config_waits_for_its_override(asked, at_first, afterwards):
    made = created(asked)
    assert made.before_image(False) is at_first
    assert merged(made)[1] == afterwards


@pytest.mark.parametrize(('properties', 'is_recorded'), [
    ({'hw_pmu': 'true'}, True), ({}, False), (None, False)])
def test_null_withdraws_from_a_preset_what_the_image_lacks(
        properties, is_recorded):
    made = create.Create(plans.planner(), plans.withdrawing(ASKED))
    merged(made, properties)
    server = objects.Instance(system_metadata={})
    made.populated(server)
    assert any('hw_pmu' in key for key in server.system_metadata) is (
        is_recorded)


def test_drives_for_which_a_bus_has_no_room_are_refused():
    made = created({'hw_disk_bus': 'ide'})
    disks = [objects.BlockDeviceMapping(
        device_type='disk', boot_index=index, disk_bus=None, device_name=None,
        source_type='blank', destination_type='local') for index in range(4)]
    options = {'config_drive': True}
    made.disks_known(disks, options)
    merged(made)
    made.disks_known(disks, {})
    with pytest.raises(errors.Invalid, match='choose another bus'):
        made.disks_known(disks, options)


def test_a_mapping_in_the_legacy_form_is_a_disk_on_the_bus_of_the_image():
    made = created({'hw_disk_bus': 'ide'})
    merged(made)
    mappings = [objects.BlockDeviceMapping(device_name='vda')
                for _ in range(5)]
    options = {'root_device_name': '/dev/vda'}
    with pytest.raises(errors.Invalid, match='does not take the 5 disks'):
        made.disks_known(mappings, options)
    # The name is of the image's own bus.
    assert options == {'root_device_name': None}


def test_drives_are_counted_without_overrides_and_without_metadata():
    made = created({})
    merged(made, None)
    made.disks_known([objects.BlockDeviceMapping(device_name='vda')], {})


def test_the_record_is_stored_with_the_server_and_the_change_is_logged(
        monkeypatch):
    made, logged = created(ASKED), []
    merged(made, {'hw_pmu': 'true'})
    server = objects.Instance(system_metadata={'a': 'b'})
    made.populated(server)
    assert server.system_metadata == {'a': 'b', **{
        f'image_{name}': value for name, value in overrides_of(
            ASKED).recorded({'hw_pmu': 'true'}).items()}}
    monkeypatch.setattr(audit, 'changed', lambda *args: logged.append(args))
    made.storing('context', None, server)
    ((context, how, after, instance),) = logged
    assert (context, how, instance) == ('context', 'at boot', server)
    assert after.values == ASKED


def test_a_nova_that_merges_nothing_is_named():
    with pytest.raises(errors.UnsupportedNova,
                       match='past _validate_and_build_base_options'):
        created(ASKED).populated(objects.Instance(system_metadata={}))


# --- a check of one -----------------------------------------------------------

def test_a_check_reserves_no_volume():
    mappings = objects.BlockDeviceMappingList(objects=[
        objects.BlockDeviceMapping(volume_id='v')])
    checked = created({}, create.Check).validating(mappings)
    assert [each.volume_id for each in checked] == [None]
    assert [each.volume_id for each in mappings] == ['v']


@pytest.mark.parametrize(('asks_hosts', 'more'), [
    (False, {}), (True, {'hosts': 'x'})])
def test_a_check_ends_with_what_would_be_stored(
        monkeypatch, asks_hosts, more):
    monkeypatch.setattr(answer, 'of', lambda *args: 'x')
    made = created(ASKED, create.Check, asks_hosts)
    merged(made, {'hw_pmu': 'true'})
    with pytest.raises(dry_run.Checked) as caught:
        made.storing(None, SPEC, None)
    found = caught.value.answer[errors.PARAMETER]
    assert found['properties'] == {'hw_disk_bus': 'ide'}
    assert {name: found[name] for name in found if name == 'hosts'} == more


SPEC = types.SimpleNamespace(instance_group=None, num_instances=2)


@pytest.mark.parametrize(('fails', 'raised', 'said'), [
    (('old', exception.OverQuota(overs='x')), exception.OverQuota,
     'Quota exceeded, too many servers in group'),
    (('old', exception.GroupMemberLimitExceeded()),
     exception.GroupMemberLimitExceeded, ''),
    (('new', exception.GroupMemberLimitExceeded()),
     exception.GroupMemberLimitExceeded, ''),
    ((), dry_run.Checked, '')])
def test_a_check_asks_whether_the_group_has_room(
        monkeypatch, fails, raised, said):
    """By the quotas of the database, and by unified limits."""
    asked = []

    def asks(kind):
        def called(*args, **kwargs):
            asked.append((kind, *args[1:], kwargs))
            if kind in fails:
                raise fails[1]

        return called

    monkeypatch.setattr(objects.Quotas, 'check_deltas', asks('old'))
    monkeypatch.setattr(local, 'enforce_db_limit', asks('new'))
    made = created({}, create.Check)
    merged(made)
    with pytest.raises(raised, match=said):
        made.storing(
            types.SimpleNamespace(user_id='u'), types.SimpleNamespace(
                instance_group=types.SimpleNamespace(uuid='g'),
                num_instances=2), None)
    assert asked[0][1] == {'server_group_members': 2}
    if 'old' not in fails:
        assert asked[1:] == [('new', local.SERVER_GROUP_MEMBERS, {
            'entity_scope': 'g', 'delta': 2})]
