"""Rules 4 and 5, and what discovery says about them."""

import re

import hypothesis
from hypothesis import strategies as st
import pytest

from nova_image_override import errors
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.authorization.glance import property_protections
from tests.unit.authorization.judged import caller
from tests.unit.authorization.judged import MEMBER
from tests.unit.authorization.judged import offered
from tests.unit.authorization.judged import offers
from tests.unit.authorization.judged import OPEN
from tests.unit.authorization.judged import refusals
from tests.unit.authorization.judged import section
from tests.unit.strategies import overrides_of

ADMIN = caller('member', 'admin')


def sections(**permissions):
    """Return a section for each name, and a last one for all others."""
    return [*(section(f'^{re.escape(name)}$', **permission)
              for name, permission in permissions.items()), section('.*')]


def rules(catalog, *, injected=(), protections=None, allowed=('*',)):
    """Return an enforcer.

    :param protections: the sections of a protections file
    """
    return enforcer_module.Enforcer(
        catalog, allowed=allowed,
        protections=None if protections is None else (
            property_protections.Protections(protections)),
        injection=metadata_injection.Injection(
            dict.fromkeys(injected, 'x'), frozenset({'admin'}), bool(injected)))


ADMINS = ('admin',)


# --- injection --------------------------------------------------------------

@pytest.mark.parametrize('value', ['virtio', None])
@pytest.mark.parametrize('base', [{}, {'hw_vif_model': 'e1000'}])
def test_what_is_injected_is_refused(catalog, value, base):
    assert refusals(
        rules(catalog, injected=['hw_vif_model']), {'hw_vif_model': value},
        base) == {'hw_vif_model': errors.INJECTED}


def test_a_legacy_name_is_injected_under_all_that_it_feeds(catalog):
    found = rules(catalog, injected=['vmware_adaptertype'])
    assert refusals(found, {'hw_disk_bus': 'ide', 'hw_scsi_model': 'buslogic',
                            'hw_cdrom_bus': 'ide'}) == {
        'hw_disk_bus': errors.INJECTED, 'hw_scsi_model': errors.INJECTED}
    assert 'hw_disk_bus' not in offered(found)


def test_who_has_an_ignored_role_is_not_refused(catalog):
    assert refusals(rules(catalog, injected=['hw_vif_model']),
                    {'hw_vif_model': 'virtio'}, who=ADMIN) == {}


def test_one_injected_member_of_a_family_closes_no_other(catalog):
    found = rules(catalog, injected=['hw_numa_mem.1', 'trait:CUSTOM_A'])
    assert refusals(found, {
        'hw_numa_mem.0': '1', 'hw_numa_mem.1': '1',
        'trait:CUSTOM_A': 'required', 'trait:CUSTOM_AB': 'required'}) == {
        'hw_numa_mem.1': errors.INJECTED, 'trait:CUSTOM_A': errors.INJECTED}
    assert offers(found, {'hw_numa_mem.0': '1', 'trait:CUSTOM_AB': 'required'})
    assert not offers(found, {'hw_numa_mem.1': '1'})
    assert not offers(found, {'trait:CUSTOM_A': 'required'})


# --- protections ------------------------------------------------------------

@pytest.mark.parametrize(('closed', 'value', 'base', 'expected'), [
    ('create', 'ide', {}, True),
    ('create', 'ide', {'hw_disk_bus': 'scsi'}, False),
    ('update', 'ide', {}, False),
    ('update', 'ide', {'hw_disk_bus': 'scsi'}, True),
    ('delete', None, {'hw_disk_bus': 'scsi'}, True),
    ('delete', None, {}, True),
    ('delete', 'ide', {'hw_disk_bus': 'scsi'}, False),
    ('read', 'ide', {'hw_disk_bus': 'scsi'}, False),
])
def test_each_override_needs_the_operation_that_it_stands_for(
        catalog, closed, value, base, expected):
    found = rules(catalog, protections=sections(hw_disk_bus={closed: ADMINS}))
    assert refusals(found, {'hw_disk_bus': value}, base) == (
        {'hw_disk_bus': errors.PROTECTED} if expected else {})
    assert refusals(found, {'hw_disk_bus': value}, base, who=ADMIN) == {}


def test_a_section_that_permits_nobody_says_so(catalog):
    found = rules(catalog, protections=sections(hw_pmu={'create': ()}))
    assert [each.detail for each in found.decisions(
        ADMIN, overrides_of({'hw_pmu': 'true'}), [{}]) if not each.permits] == [
            '[^hw_pmu$] create = nobody']


@pytest.mark.parametrize(('rule', 'option'), [
    ('protections', 'property_protection_file'),
    ('injection', 'glance_image_import_files')])
def test_without_glances_files_the_rule_permits_and_says_why(
        catalog, rule, option):
    (decision,) = (
        each for each in enforcer_module.Enforcer(catalog).decisions(
            MEMBER, overrides_of({'hw_pmu': 'true'}), [{}])
        if each.rule == rule)
    assert decision.permits
    assert decision.detail == f'{option} is not set'


@pytest.mark.parametrize(('protected', 'base', 'expected'), [
    ({'vm_mode': {'create': ADMINS}}, {}, True),
    ({'vm_mode': {'update': ADMINS}}, {}, False),
    ({'vm_mode': {'update': ADMINS}}, {'vm_mode': 'xen'}, True),
    ({'hw_vm_mode': {'create': ADMINS}}, {'vm_mode': 'xen'}, True),
])
def test_every_name_of_a_property_must_be_permitted(
        catalog, protected, base, expected):
    found = rules(catalog, protections=sections(**protected))
    assert refusals(found, {'hw_vm_mode': 'hvm'}, base) == (
        {'hw_vm_mode': errors.PROTECTED} if expected else {})


def test_a_legacy_name_without_a_section_counts_where_the_image_has_it(
        catalog):
    found = rules(catalog, protections=[section('^img_hv_type$')])
    assert refusals(found, {'img_hv_type': 'kvm'}) == {}
    assert refusals(
        found, {'img_hv_type': 'kvm'}, {'hypervisor_type': 'xen'}) == {
            'img_hv_type': errors.PROTECTED}
    for value in 'true', None:
        assert refusals(found, {'hw_pmu': value}) == {
            'hw_pmu': errors.PROTECTED}


def test_a_legacy_name_that_the_merge_writes_needs_a_section(catalog):
    found = rules(catalog, protections=[section('^hw_vm_mode$')])
    for base in ({}, {'vm_mode': 'xen'}):
        assert refusals(found, {'hw_vm_mode': 'hvm'}, base) == {
            'hw_vm_mode': errors.PROTECTED}
    # A removal writes none.
    assert refusals(found, {'hw_vm_mode': None}) == {}


@pytest.mark.parametrize(('protected', 'said'), [
    ({'vm_mode': {'create': ADMINS}},
     'create vm_mode, which is hw_vm_mode too'),
    ({'hw_vm_mode': {'create': ADMINS}}, 'create hw_vm_mode')])
def test_the_message_names_operation_and_legacy_name(
        catalog, protected, said):
    found = rules(catalog, protections=sections(**protected))
    (problem,) = found.refusals(
        MEMBER, overrides_of({'hw_vm_mode': 'hvm'}), [{}])
    assert problem.reason == (
        f"Glance's property protections do not let you {said}")


@pytest.mark.parametrize(('closed', 'expected'), [
    ({'hw_disk_bus': {'create': ADMINS}}, True),
    ({'hw_disk_bus': {'update': ADMINS}}, True),
    ({'hw_disk_bus': {'delete': ADMINS}}, False),
    ({'vmware_adaptertype': {'update': ADMINS}}, True),
    # What the image under its legacy name says of another field.
    ({'hw_scsi_model': {'create': ADMINS}}, True),
])
def test_what_each_possible_image_would_need_must_be_permitted(
        catalog, closed, expected):
    found = rules(catalog, protections=sections(**closed))
    images = [{'hw_disk_bus': 'scsi'}, {'vmware_adaptertype': 'lsiLogic'}]
    assert refusals(found, {'hw_disk_bus': 'ide'}, *images) == (
        {'hw_disk_bus': errors.PROTECTED} if expected else {})
    assert refusals(found, {'hw_disk_bus': 'ide'}, *images, who=ADMIN) == {}


@pytest.mark.parametrize('operation', ['create', 'update', 'delete'])
def test_a_removal_may_write_what_a_legacy_name_says_of_another_field(
        catalog, operation):
    found = rules(catalog, protections=sections(
        hw_scsi_model={operation: ADMINS}))
    assert refusals(found, {'hw_disk_bus': None},
                    {'vmware_adaptertype': 'lsiLogic'}) == (
        {'hw_disk_bus': errors.PROTECTED} if operation == 'create' else {})


def test_a_property_is_refused_once_whatever_images_refuse_it(catalog):
    found = rules(catalog, protections=sections(
        hw_disk_bus={'create': ADMINS, 'update': ADMINS}))
    (problem,) = found.refusals(
        MEMBER, overrides_of({'hw_disk_bus': 'ide'}),
        [{'hw_disk_bus': 'scsi'}, {}])
    assert 'update hw_disk_bus' in problem.reason


# --- what is announced in advance -------------------------------------------

def test_what_could_be_set_on_some_image_is_on_offer(catalog):
    found = offered(rules(catalog, protections=sections(
        hw_disk_bus={'create': ADMINS}, hw_pmu={'update': ADMINS},
        hw_vif_model={'create': ADMINS, 'update': ADMINS},
        hw_boot_menu={'delete': ADMINS},
        os_type={'create': ADMINS, 'update': ADMINS, 'delete': ADMINS})))
    assert 'string' in found['hw_disk_bus']['type']
    assert 'string' in found['hw_pmu']['type']
    assert found['hw_vif_model'] == {
        'type': 'null',
        'description': catalog['hw_vif_model'].record.description,
        'drivers': catalog['hw_vif_model'].record.acting}
    assert found['hw_boot_menu']['type'] == 'string'
    assert 'os_type' not in found


def test_what_the_list_leaves_of_a_property_protections_do_not_widen(catalog):
    found = rules(catalog, protections=sections(), allowed=('hw_disk_bus=ide',))
    assert offers(found, {'hw_disk_bus': 'ide'})
    assert not offers(found, {'hw_disk_bus': None})


def test_members_are_on_offer_for_what_protections_leave_of_them(catalog):
    pattern = catalog['hw_numa_mem'].family.pattern
    found = rules(catalog, injected=['hw_numa_mem.4'], protections=sections(**{
        'hw_numa_mem.1': {'create': ADMINS, 'update': ADMINS},
        'hw_numa_mem.2': {'delete': ADMINS},
        'hw_numa_mem.3': dict.fromkeys(OPEN, ADMINS)}))
    names = [f'hw_numa_mem.{n}' for n in range(6)]
    assert [[offers(found, {name: value}) for name in names]
            for value in ('1', None)] == [
        [True, False, True, False, False, True],
        [True, True, False, False, False, True]]
    assert all(offers(found, dict.fromkeys(names, value), ADMIN)
               for value in ('1', None))
    assert [value['type'] for value in offered(found).values()
            if value.get('title') == 'hw_numa_mem.N'].count('null') == 1
    assert pattern in offered(found, ADMIN)


@pytest.mark.parametrize(('name', 'value'), [
    ('hw_numa_mem.0', '1'), ('trait:A', 'required')])
@pytest.mark.parametrize(('closed', 'can_be_set', 'can_be_removed'), [
    (('create', 'update'), False, True), (('delete',), True, False),
    ((), True, True)])
def test_a_family_is_on_offer_for_what_one_section_leaves_of_it(
        catalog, name, value, closed, can_be_set, can_be_removed):
    found = rules(catalog, protections=[
        section('.*', **dict.fromkeys(closed, ADMINS))])
    assert offers(found, {name: value}) == can_be_set
    assert offers(found, {name: None}) == can_be_removed


def test_traits_are_on_offer_when_one_of_them_could_be(catalog):
    closed = section('trait:', **dict.fromkeys(OPEN, ADMINS))

    def has(*sections, who=MEMBER):
        return catalog['traits_required'].family.pattern in offered(
            rules(catalog, protections=sections), who)

    assert not has(closed)
    assert has(closed, who=ADMIN)
    assert has(section('^trait:CUSTOM_MAX$'), closed)


_FIELDS = ('hw_disk_bus', 'hw_vm_mode', 'hw_numa_mem.0', 'hw_numa_mem.1',
           'hw_boot_menu', 'trait:A')
_NAMES = (*_FIELDS, 'vm_mode', 'vmware_adaptertype')


@hypothesis.given(
    st.dictionaries(st.sampled_from(_NAMES), st.fixed_dictionaries({
        operation: st.sampled_from([('@',), ('admin',), ('member',), ('!',)])
        for operation in ('create', 'update', 'delete')})),
    st.sets(st.sampled_from(_NAMES)), st.sets(st.sampled_from(_NAMES)),
    st.sampled_from(_FIELDS), st.booleans(),
    st.sampled_from([MEMBER, ADMIN, caller()]))
def test_what_is_not_on_offer_is_permitted_on_no_image(
        catalog, protected, injected, held, name, remove, who):
    values = {'hw_disk_bus': 'ide', 'hw_vm_mode': 'hvm',
              'hw_numa_mem.0': '1', 'hw_numa_mem.1': '1',
              'hw_boot_menu': 'true', 'trait:A': 'required'}
    found = rules(catalog, injected=injected,
                  protections=sections(**protected))
    asked = {name: None if remove else values[name]}
    refused = refusals(found, asked, dict.fromkeys(held, 'x'), who=who)
    if not offers(found, asked, who):
        assert name in refused


_PERMISSIONS = st.dictionaries(
    st.sampled_from(_NAMES), st.fixed_dictionaries({
        operation: st.sampled_from([('@',), ('admin',)])
        for operation in ('create', 'update', 'delete')}))
_IMAGE = st.sets(st.sampled_from(_NAMES)).map(
    lambda names: dict.fromkeys(names, 'x'))


@hypothesis.given(
    _PERMISSIONS, st.lists(_IMAGE, min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(_FIELDS), st.sampled_from(['x', None])))
def test_what_is_refused_is_what_one_of_the_possible_images_refuses(
        catalog, protected, images, asked):
    found = rules(catalog, protections=sections(**protected))
    each = [refusals(found, asked, image) for image in images]
    assert refusals(found, asked, *images) == {
        name: code for one in each for name, code in one.items()}
