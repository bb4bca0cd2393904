"""Which names there are, and what the catalogue says of each property."""

import hypothesis
from nova import utils as nova_utils
from nova.objects import fields
from nova.objects import image_meta
import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.properties import book
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import property as property_module
from tests.unit import refusals
from tests.unit import strategies


def later_nova(**more):
    """Return the catalogue of a Nova with other fields."""
    class Props:
        _legacy_property_map = {'old_name': 'hw_later_flag'}
    Props.fields = more
    return catalog_module.Catalog(Props)


def test_every_field_that_nova_reads_is_a_property(catalog):
    assert list(catalog) == sorted(image_meta.ImageMetaProps.fields)
    assert len(catalog) == len(image_meta.ImageMetaProps.fields)
    for field, prop in catalog.items():
        assert prop.field == field


def test_the_running_novas_catalogue_is_made_once():
    assert catalog_module.running() is catalog_module.running()


@pytest.mark.parametrize(('field', 'kind', 'expects'), [
    ('hw_boot_menu', property_module.Boolean, 'true or false'),
    ('hw_cpu_sockets', property_module.Integer, 'an integer from 1 to 65536'),
    ('hw_numa_mem', property_module.Integer,
     'an integer from 1 to 2147483647'),
    ('hw_firmware_type', property_module.Enumeration, 'one of uefi, bios'),
    ('traits_required', property_module.Enumeration, 'one of required'),
    ('hw_machine_type', property_module.Text,
     'letters, digits, ".", "_" and "-"'),
    ('os_distro', property_module.Text, 'text'),
])
def test_a_property_has_a_type_and_says_what_it_expects(
        catalog, field, kind, expects):
    assert isinstance(catalog[field], kind)
    assert catalog[field].expects == expects


def test_enumerations_hold_what_novas_fields_hold(catalog):
    for field, prop in catalog.items():
        nova_field = image_meta.ImageMetaProps.fields[field]
        if isinstance(prop, property_module.Enumeration) and not prop.family:
            assert prop.values == (
                prop.record.limits.values or tuple(nova_field.valid_values))
            assert prop.values


def test_every_legacy_name_is_known_with_the_fields_that_it_sets(catalog):
    assert catalog.legacy == {
        **{name: (field,) for name, field in
           image_meta.ImageMetaProps._legacy_property_map.items()},
        'vmware_adaptertype': ('hw_disk_bus', 'hw_scsi_model')}
    assert catalog['hw_disk_bus'].legacy == {
        'vmware_adaptertype': ('hw_disk_bus', 'hw_scsi_model')}
    assert catalog['hw_vm_mode'].legacy == {'vm_mode': ('hw_vm_mode',)}
    assert catalog['hw_boot_menu'].legacy == {}


def test_no_legacy_name_is_a_name(catalog):
    for name in catalog.legacy:
        assert catalog.field_of(name) is None


def test_twins_are_legacy_names_of_their_fields(catalog):
    for field, prop in catalog.items():
        if prop.record.read_as:
            assert catalog.legacy[prop.record.read_as] == (field,)


def test_the_properties_that_are_never_overridden_are_those_of_the_contract(
        catalog):
    contract = {
        'hw_ephemeral_encryption_secret_uuid', 'img_bdm_v2',
        'img_block_device_mapping', 'img_mappings', 'img_owner_id',
        'img_root_device_name', 'img_signature',
        'img_signature_certificate_uuid', 'img_signature_hash_method',
        'img_signature_key_type'}
    assert contract == {
        name for name, record in book.RECORDS.items() if record.never}
    assert {f for f, prop in catalog.items()
            if prop.record.never} == contract & catalog.keys()


def test_nothing_that_nova_does_not_store_can_be_overridden(catalog):
    assert not set(nova_utils.SM_SKIP_KEYS) & strategies.OPEN.keys()


@pytest.mark.parametrize(('name', 'field'), [
    ('hw_disk_bus', 'hw_disk_bus'),
    ('hw_numa_cpus.0', 'hw_numa_cpus'),
    ('hw_numa_cpus.9', 'hw_numa_cpus'),
    ('hw_numa_mem.99', 'hw_numa_mem'),
    ('hw_numa_mem.100', 'hw_numa_mem'),
    ('hw_numa_mem.127', 'hw_numa_mem'),
    ('trait:A', 'traits_required'),
    ('trait:CUSTOM_0', 'traits_required'),
    ('trait:' + 'A' * 213, 'traits_required'),
])
def test_a_name_sets_a_field(catalog, name, field):
    assert catalog.field_of(name) == field
    assert catalog.resolve(name) is catalog[field]


def test_the_longest_name_fits_into_a_key_of_system_metadata():
    name = 'x' * metadata_keys.NAME_LENGTH_MAX
    assert all(
        len(key) <= 255 for key in metadata_keys.override_keys(name))
    assert metadata_keys.IMAGE_PREFIX == nova_utils.SM_IMAGE_PROP_PREFIX


def test_nova_reads_every_index_that_can_be_named(catalog):
    for field in ('hw_numa_cpus', 'hw_numa_mem'):
        names = {f'{field}.{n}': '1' for n in range(200)}
        taken = [n for n in names if catalog.field_of(n)]
        assert len(strategies.read(names)[field]) == len(taken)


@hypothesis.given(strategies.any_text)
def test_any_text_is_a_name_or_is_told_why_not(catalog, name):
    field = catalog.field_of(name)
    if field is not None:
        assert catalog.resolve(name).field == field
        return
    ((found, code),) = refusals.codes(catalog.resolve, name).items()
    assert found == name
    assert code in (errors.UNKNOWN, errors.LEGACY_NAME, errors.LIST_FIELD)


# --- a later Nova -----------------------------------------------------------

def test_a_field_that_a_later_nova_brings_stays_closed_and_is_known_as_such():
    catalog = later_nova(
        hw_later_flag=fields.FlexibleBooleanField(),
        hw_later_count=fields.IntegerField(),
        hw_later_model=fields.RNGModelField(),
        hw_later_text=fields.StringField())
    assert all(prop.record.never for prop in catalog.values())
    assert catalog.unknown == list(catalog) and len(catalog) == 4
    assert [*catalog['hw_later_flag'].legacy] == ['old_name']


def test_a_nova_without_a_family_gives_no_hint_of_it():
    later = later_nova(hw_later_text=fields.StringField())
    _, reason = refusals.of(later.resolve, 'trait:x')['trait:x']
    assert 'trait:NAME' not in reason
