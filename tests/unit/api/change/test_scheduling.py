"""What the scheduler and placement are asked, and whom a refusal names."""

from nova import objects
import pytest

from nova_image_override import errors
from nova_image_override.api.change import scheduling
from nova_image_override.api.guest.guest import Guest
from nova_image_override.properties import book
from nova_image_override.properties.book import vocabulary
from tests.unit import refusals
from tests.unit.api.guest import guests


@pytest.mark.parametrize(('missing', 'names', 'told'), [
    ('A', ['trait:A'], {'trait:A': 'the trait A'}),
    ('A', ['trait:A', 'trait:B', 'os_secure_boot'],
     {'trait:A': 'the trait A'}),
    ('ABC', ['os_secure_boot'], {'os_secure_boot': 'the trait A, B, C'}),
    ('ABCD', ['os_secure_boot'],
     {'os_secure_boot': 'the trait A, B, C and 1 more'}),
    ('AB', ['trait:A', 'os_secure_boot', 'hw_tpm_version'], {
        'trait:A': 'the trait A', 'os_secure_boot': 'the trait B',
        'hw_tpm_version': 'the trait B'}),
    # Of a new image.
    ('B', ['trait:A'], {errors.PARAMETER: 'the trait B'}),
    ('B', [], {errors.PARAMETER: 'the trait B'})])
def test_each_override_is_told_which_traits_the_host_lacks(
        missing, names, told):
    assert dict(scheduling._lacking({*missing}, names)) == told


def properties(**properties):
    return scheduling.properties_of(objects.ImageMeta.from_dict(
        {'properties': properties}))


def test_the_order_of_traits_makes_no_difference():
    one, other = (objects.ImageMeta.from_dict({'properties': {
        f'trait:{name}': 'required' for name in names}})
        for names in ('AB', 'BA'))
    assert one.properties.traits_required != other.properties.traits_required
    assert scheduling.properties_of(one) == scheduling.properties_of(other)


@pytest.mark.parametrize('other', [
    {'trait:A': 'required'}, {'trait:B': 'required'},
    {'hw_disk_bus': 'ide'}])
def test_each_property_does(other):
    assert properties(**other) != properties()
    assert properties(**other) != properties(
        **{'trait:A': 'required', 'hw_disk_bus': 'ide'})


@pytest.mark.parametrize('image', [None, objects.ImageMeta(id='x')])
def test_what_is_not_known_of_an_image_differs_from_all(image):
    assert scheduling.properties_of(image) == {} != properties()


# --- what Nova acts on at one moment only -------------------------------------

UEFI = {'hw_firmware_type': 'uefi'}
SECURE = {**UEFI, 'os_secure_boot': 'required'}
TPM = {'hw_tpm_version': '2.0', 'hw_tpm_model': 'tpm-crb'}


def decided(when, before, after, **specs):
    return scheduling.decided(
        when, guests.flavor(**specs), guests.image(**before),
        guests.image(**after))


@pytest.mark.parametrize(('when', 'before', 'after', 'names'), [
    (vocabulary.AT_BUILD, UEFI, SECURE, ['os_secure_boot']),
    (vocabulary.AT_BUILD, SECURE, {}, ['os_secure_boot']),
    (vocabulary.AT_UNSHELVE, UEFI, SECURE, []),
    (vocabulary.AT_UNSHELVE, {}, TPM, ['hw_tpm_model', 'hw_tpm_version']),
    (vocabulary.AT_BUILD, {}, TPM, []),
    # Any moment will do.
    (vocabulary.AT_BUILD, {}, {'hw_disk_bus': 'ide'}, []),
    # The server has the same of it.
    (vocabulary.AT_BUILD, UEFI, {**UEFI, 'os_secure_boot': 'disabled'}, []),
    (vocabulary.AT_BUILD, SECURE, SECURE, [])])
def test_a_difference_is_named_if_it_counts_at_that_moment(
        when, before, after, names):
    assert sorted(decided(when, before, after)) == names


def test_what_the_flavor_gives_a_server_anyway_makes_no_difference():
    assert decided(
        vocabulary.AT_BUILD, UEFI, SECURE, os__secure_boot='required') == []


def test_a_server_has_nothing_of_what_conflicts_with_its_flavor():
    """An operator can set it all the same."""
    flavor = {'hw__tpm_version': '1.2', 'hw__tpm_model': 'tpm-tis'}
    record = book.RECORDS['hw_tpm_version']
    gets = [scheduling.gets(record, Guest(
        guests.flavor(**flavor), guests.image(**own), {})) for own in ({}, TPM)]
    assert gets[0] is not None
    assert gets[1] is None


@pytest.mark.parametrize(
    'name', ['hw_tpm_version', 'hw_mem_encryption',
             'hw_ephemeral_encryption', 'hw_disk_bus'])
def test_a_server_that_asks_for_nothing_has_none(name):
    guest = Guest(guests.flavor(), guests.image(), {})
    assert scheduling.gets(book.RECORDS[name], guest) is None


@pytest.mark.parametrize(('moments', 'names'), [
    ((), ['hw_pci_numa_affinity_policy']),
    ((vocabulary.AT_UNSHELVE,),
     ['hw_pci_numa_affinity_policy', 'hw_tpm_model', 'hw_tpm_version'])])
def test_what_will_not_come_again_is_refused(moments, names):
    assert refusals.codes(
        scheduling.refuse_fixed_at_create, guests.flavor(), guests.image(),
        guests.image(**TPM, hw_pci_numa_affinity_policy='required'), *moments
    ) == dict.fromkeys(names, errors.CREATE_ONLY)


def test_what_stays_is_not():
    scheduling.refuse_fixed_at_create(
        guests.flavor(), guests.image(**TPM),
        guests.image(**TPM, hw_disk_bus='ide'), vocabulary.AT_UNSHELVE)
