"""The laws of merging: what Nova reads of an image with overrides over it."""

import copy

import hypothesis
from nova import utils as nova_utils
from nova.compute import utils as compute_utils
import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override import override
from nova_image_override.properties import book
from nova_image_override.server_record import ServerRecord
from tests.unit import strategies
from tests.unit.strategies import overrides_of

NUMA = ('hw_numa_cpus', 'hw_numa_mem')


def stored(image, overrides, merged):
    """Return the record of a server with OVERRIDES, as Nova stores it."""
    return ServerRecord.read(nova_utils.get_system_metadata_from_image({
        'properties': {**merged, **overrides.recorded(image)}}))


def laws(test):
    """Call TEST with an image, overrides and the merged properties."""
    @hypothesis.given(strategies.laid_over())
    def run(parser, drawn):
        image, raw = drawn
        overrides = parser.parse(raw)
        try:
            merged = overrides.merge(image)
        except errors.Invalid as exc:
            assert {p.code for p in exc.problems} == {errors.NUMA_GAP}
            hypothesis.reject()
        test(image, overrides, merged)
    run.__name__ = run.__qualname__ = test.__name__
    run.__module__ = test.__module__
    return run


def expected(image, overrides):
    """Return what Nova must read, field by field: override over image.

    Says nothing about how a merge is done: Nova reads each field either from
    the image alone or from the overrides alone.
    """
    own = strategies.read(image)
    asked = strategies.read(
        {n: v for n, v in overrides.values.items() if v is not None})
    result = {}
    for field in strategies.CATALOG:
        named = {n for n in overrides.names
                 if strategies.CATALOG.field_of(n) == field}
        if not named:
            value = own.get(field)
        elif field in NUMA:
            # Each index is a property of its own.
            nodes = {n: v for n, v in {**image, **overrides.values}.items()
                     if n.startswith(f'{field}.') and v is not None}
            value = strategies.read(nodes).get(field)
        elif field == 'traits_required':
            kept = set(own.get(field, ())) - {
                n.removeprefix('trait:') for n in named}
            value = sorted(kept | set(asked.get(field, ()))) or None
        else:
            value = asked.get(field)
        if value is not None:
            result[field] = value
    return result


@laws
def test_nova_reads_the_overrides_over_the_image(
        image, overrides, merged):
    assert strategies.read(merged) == expected(image, overrides)


@laws
def test_a_server_keeps_reading_the_overrides_from_what_nova_stores(
        image, overrides, merged):
    read = strategies.read(nova_utils.get_image_from_system_metadata(
        stored(image, overrides, merged).metadata)['properties'])
    wanted = expected(image, overrides)
    for name in overrides.names:
        field = strategies.CATALOG.field_of(name)
        assert read.get(field) == wanted.get(field)


@laws
def test_merging_twice_is_merging_once(image, overrides, merged):
    assert overrides.merge(merged) == merged


@laws
def test_the_image_is_left_as_it_is(image, overrides, merged):
    before = copy.deepcopy(image)
    overrides.merge(image)
    overrides.recorded(image)
    assert image == before


@laws
def test_properties_that_are_not_named_stay(image, overrides, merged):
    spellings = set(overrides.names)
    for each in overrides:
        spellings.update(each.prop.legacy)
    for name, value in image.items():
        if name not in spellings:
            assert merged[name] == value


@laws
def test_nothing_contradicts_an_override(image, overrides, merged):
    for each in overrides:
        for spelling in (each.name, *each.prop.legacy):
            assert merged.get(spelling) in (each.value, None)


@laws
def test_nothing_is_stored_that_neither_image_nor_request_says(
        image, overrides, merged):
    added = merged.keys() - image.keys() - overrides.names
    assert added <= {*(record.read_as for record in book.RECORDS.values()),
                     'hw_disk_bus', 'hw_scsi_model'}


@laws
def test_a_merge_writes_what_it_says_and_nothing_else(
        image, overrides, merged):
    written = {}
    for each in overrides:
        written.update(overrides.written(image, each))
    assert {name: value for name, value in merged.items()
            if name not in image or image[name] != value} == {
        name: value for name, value in written.items()
        if name not in image or image[name] != value}


@laws
def test_the_server_shows_what_was_asked(image, overrides, merged):
    record = stored(image, overrides, merged)
    assert record.in_force == overrides.values
    assert sorted(record.overrides, key=str) == sorted(overrides, key=str)
    assert record.overrides.is_kept


@laws
def test_the_record_gives_back_the_images_own_value(
        image, overrides, merged):
    values = stored(image, overrides, merged).image_values
    assert values.keys() == overrides.names
    own = strategies.read(image)
    for name, value in values.items():
        if len(str(overrides[name].image_value(image)).encode()) > 254:
            # It is cut: tests/unit/test_server_record.py.
            continue
        field = strategies.CATALOG.field_of(name)
        if name.startswith(NUMA):
            assert value == image.get(name)
        elif value is None or field == 'traits_required':
            assert value == image.get(name)
            assert field == 'traits_required' or field not in own
        else:
            assert strategies.read({name: value}) == {field: own[field]}


@laws
def test_nothing_longer_than_nova_stores_is_made(
        image, overrides, merged):
    made = {name: value for name, value in merged.items()
            if name not in image or image[name] != value}
    for name, value in {**made, **overrides.recorded(image)}.items():
        assert len(metadata_keys.IMAGE_PREFIX + name) <= 255
        assert len(value.encode()) <= 255


def test_the_images_properties_keep_their_order():
    image = {'os_type': 'linux', 'hw_disk_bus': 'ide', 'hw_pmu': 'true'}
    merged = strategies.overrides_of(
        {'hw_boot_menu': 'true', 'hw_disk_bus': 'scsi'}).merge(image)
    assert list(merged) == [*image, 'hw_boot_menu']


@hypothesis.given(strategies.images())
def test_no_overrides_change_nothing(image):
    assert override.NONE.merge(image) == image
    assert override.NONE.recorded(image) == {}
    assert stored(image, override.NONE, image).in_force == {}


# --- legacy names -----------------------------------------------------------

@pytest.mark.parametrize(('image', 'overrides', 'merged'), [
    # What Nova reads only through ImageMetaProps keeps just one name.
    ({'ipxe_boot': 'true'}, {'hw_ipxe_boot': 'false'},
     {'hw_ipxe_boot': 'false'}),
    ({'ipxe_boot': 'true', 'hw_ipxe_boot': 'true'}, {'hw_ipxe_boot': None},
     {}),
    # What Nova also reads past ImageMetaProps is set under both.
    ({}, {'hw_architecture': 'x86_64'},
     {'hw_architecture': 'x86_64', 'architecture': 'x86_64'}),
    ({'architecture': 'i686'}, {'hw_architecture': 'x86_64'},
     {'hw_architecture': 'x86_64', 'architecture': 'x86_64'}),
    ({'vm_mode': 'xen'}, {'hw_vm_mode': 'hvm'},
     {'hw_vm_mode': 'hvm', 'vm_mode': 'hvm'}),
    ({'auto_disk_config': 'disabled'}, {'hw_auto_disk_config': 'true'},
     {'hw_auto_disk_config': 'true', 'auto_disk_config': 'true'}),
    ({'vm_mode': 'xen', 'hw_vm_mode': 'hvm'}, {'hw_vm_mode': None}, {}),
    # A legacy name that says two things keeps saying the other one.
    ({'vmware_adaptertype': 'lsiLogic'}, {'hw_disk_bus': 'virtio'},
     {'hw_disk_bus': 'virtio', 'hw_scsi_model': 'lsiLogic'}),
    ({'vmware_adaptertype': 'lsiLogic'}, {'hw_scsi_model': 'virtio-scsi'},
     {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi'}),
    ({'vmware_adaptertype': 'ide'}, {'hw_scsi_model': 'virtio-scsi'},
     {'hw_disk_bus': 'ide', 'hw_scsi_model': 'virtio-scsi'}),
    ({'vmware_adaptertype': 'lsiLogic', 'hw_scsi_model': 'buslogic'},
     {'hw_disk_bus': 'sata'},
     {'hw_disk_bus': 'sata', 'hw_scsi_model': 'buslogic'}),
    ({'vmware_adaptertype': 'lsiLogic'}, {'hw_disk_bus': None},
     {'hw_scsi_model': 'lsiLogic'}),
    ({'vmware_adaptertype': ''}, {'hw_disk_bus': 'virtio'},
     {'hw_disk_bus': 'virtio'}),
    ({'vmware_adaptertype': 'lsiLogic'},
     {'hw_scsi_model': None, 'hw_disk_bus': None}, {}),
    # A legacy name of another field is none of the override's business.
    ({'vm_mode': 'xen'}, {'hw_architecture': 'x86_64'},
     {'vm_mode': 'xen', 'hw_architecture': 'x86_64',
      'architecture': 'x86_64'}),
])
def test_legacy_names_follow_the_override(image, overrides, merged):
    assert overrides_of(overrides).merge(image) == merged


@pytest.mark.parametrize(('image', 'name', 'own'), [
    ({'hw_disk_bus': 'ide'}, 'hw_disk_bus', 'ide'),
    ({'hw_boot_menu': True}, 'hw_boot_menu', 'True'),
    ({'vm_mode': 'xen'}, 'hw_vm_mode', 'xen'),
    ({'vm_mode': 'xen', 'hw_vm_mode': 'hvm'}, 'hw_vm_mode', 'hvm'),
    ({'vmware_adaptertype': 'lsiLogic'}, 'hw_disk_bus', 'scsi'),
    ({'vmware_adaptertype': 'lsiLogic'}, 'hw_scsi_model', 'lsiLogic'),
    ({'vmware_adaptertype': 'ide'}, 'hw_scsi_model', None),
    ({'vmware_adaptertype': ''}, 'hw_disk_bus', None),
    ({'trait:A': 'required'}, 'trait:A', 'required'),
    ({'trait:A': 'required'}, 'trait:B', None),
    ({'hw_numa_mem.0': '7'}, 'hw_numa_mem.1', None),
    ({}, 'hw_disk_bus', None),
])
def test_the_record_holds_the_images_own_value(image, name, own):
    value = '' if own is None else own
    assert overrides_of({name: 'x'}).recorded(image) == {
        f'os_glance_override:{name}': value}
    assert overrides_of({name: None}).recorded(image) == {
        f'os_glance_override_removed:{name}': value}
    for asked in ('x', None):
        assert stored(
            image, overrides_of({name: asked}), {'hw_disk_bus': 'ide'},
        ).image_values == {name: own}


# --- gaps in NUMA nodes -----------------------------------------------------

@pytest.mark.parametrize(('image', 'asked', 'refused'), [
    ((), {1: '1'}, {1: 'hw_numa_mem.0 is missing'}),
    ((), {0: '1', 2: '1'}, {2: 'hw_numa_mem.1 is missing'}),
    ((0,), {2: '1', 3: '1'}, {2: 'hw_numa_mem.1 is missing',
                              3: 'hw_numa_mem.1 is missing'}),
    ((0, 1, 2), {1: None}, {1: 'removing it leaves hw_numa_mem.2'}),
    ((0, 1), {0: None}, {0: 'removing it leaves hw_numa_mem.1'}),
    ((0, 1), {0: None, 1: '7'}, {0: 'removing it leaves hw_numa_mem.1',
                                 1: 'hw_numa_mem.0 is missing'}),
    ((), {127: '1'}, {127: 'hw_numa_mem.0 is missing'}),
])
def test_overrides_that_nova_would_ignore_behind_a_gap_are_refused(
        image, asked, refused):
    with pytest.raises(errors.Invalid) as caught:
        overrides_of({f'hw_numa_mem.{n}': v for n, v in asked.items()}).merge(
            {f'hw_numa_mem.{n}': '5' for n in image})
    assert [(p.name, p.code) for p in caught.value.problems] == [
        (f'hw_numa_mem.{n}', errors.NUMA_GAP) for n in sorted(refused)]
    for problem, (_, phrase) in zip(
            caught.value.problems, sorted(refused.items())):
        assert phrase in problem.reason
        assert problem.reason.endswith('indexes count from 0 without a gap')


def test_gaps_of_both_families_are_told_together():
    with pytest.raises(errors.Invalid) as caught:
        overrides_of({'hw_numa_cpus.1': '0', 'hw_numa_mem.1': '1'}).merge({})
    assert [p.name for p in caught.value.problems] == [
        'hw_numa_cpus.1', 'hw_numa_mem.1']


@pytest.mark.parametrize(('image', 'asked'), [
    # What the image itself hides behind a gap is not the request's fault.
    (('0', '2'), {'hw_numa_mem.0': '1'}),
    (('0', '2'), {'hw_boot_menu': 'true'}),
    (('0', '1', '2'), {'hw_numa_mem.2': None}),
    (('0', '1'), {'hw_numa_mem.0': None, 'hw_numa_mem.1': None}),
    (('0', '2'), {'hw_numa_mem.1': '1'}),
    # Nova does not read these names.
    (('00', '01', 'x', '128', '1\n', '-1'), {'hw_numa_mem.0': '1'}),
    ((), {'hw_numa_cpus.0': '0'}),
])
def test_what_leaves_no_override_behind_a_gap_is_merged(image, asked):
    base = {f'hw_numa_mem.{n}': '5' for n in image}
    merged = overrides_of(asked).merge(base)
    assert merged == {n: v for n, v in {**base, **asked}.items()
                      if v is not None}


def test_the_record_stays_out_of_snapshots():
    for name in overrides_of(
            {'hw_disk_bus': 'ide', 'trait:A': None}).recorded({}):
        assert metadata_keys.is_property(name)
        assert name.startswith(
            tuple(compute_utils.NON_INHERITABLE_IMAGE_NAMESPACES))


@pytest.mark.parametrize(('name', 'code'), [
    ('no_such_thing', errors.UNKNOWN), ('vm_mode', errors.LEGACY_NAME)])
def test_a_record_of_what_this_nova_lacks_gives_no_overrides(name, code):
    """Nothing else makes an override of a name that was not parsed."""
    record = ServerRecord.read({
        f'image_os_glance_override:{name}': '', f'image_{name}': 'hvm'})
    assert record.in_force == {name: 'hvm'}
    with pytest.raises(errors.Invalid, match=f'{name}: {code}'):
        list(record.overrides)
