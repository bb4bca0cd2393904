"""How the command shows what becomes of a property."""

import types

import pytest

from nova_image_override import versions
from nova_image_override.client import osc_commands
from tests.unit.client import adapters

SAID = {'value': 'true', 'image_value': None}


def drivers(**more):
    ((_, _, _, cell),) = osc_commands._property_rows(
        {'hw_boot_menu': 'true'}, {'hw_boot_menu': {**SAID, **more}})
    return cell


def test_drivers_are_told_where_some_hosts_ignore_a_property():
    assert drivers() == ''
    assert drivers(drivers={
        'ironic': 'ignored', 'libvirt': 'acts', 'vmwareapi': 'error'}) == (
        'libvirt')


@pytest.mark.parametrize(('cpus', 'spelled'), [
    ([], ''), ([5], '5'), ([8, 0, 2, 1, 3], '0-3,8'),
    ([0, 1, 3, 5, 6], '0-1,3,5-6')])
def test_cpus_are_shown_in_ranges(cpus, spelled):
    assert osc_commands._spelled(cpus) == spelled


def _hosts(**told):
    answer = {'properties': {}, 'overridden': {}, 'hosts': {
        'possible': False, 'in_the_way': {}, 'not_asked': [], **told}}
    return dict(osc_commands._tables(answer))[osc_commands.HOST_COLUMNS]


def test_hosts_are_shown_with_what_is_in_the_way():
    assert _hosts(possible=True) == [('yes', '', '')]
    assert _hosts(in_the_way={'hw_pmu': 'why'}) == [('no', 'hw_pmu', 'why')]
    assert _hosts(possible='unknown', not_asked=['Placement']) == [
        ('unknown', '', 'not asked: Placement')]


def test_how_many_properties_an_answer_left_out_is_shown():
    assert dict(osc_commands._tables(
        {'properties': {}, 'overridden': {}, 'left_out': 7}))[
            osc_commands.LEFT_OUT_COLUMNS] == [(7,)]


def test_hosts_are_not_shown_where_nobody_asked():
    assert osc_commands.HOST_COLUMNS not in dict(osc_commands._tables(
        {'properties': {}, 'overridden': {}}))


def test_an_exhausted_quota_is_no_reason_why_not(cloud, compute):
    cloud.post(adapters.URL + versions.CHECK_PATH, status_code=403, json={
        'forbidden': {'code': 403, 'message': 'Quota exceeded'}})
    compute.flavors = lambda limit: iter([types.SimpleNamespace(id='1')])
    command = osc_commands.Show(types.SimpleNamespace(
        client_manager=types.SimpleNamespace(
            compute=compute, image=types.SimpleNamespace(
                images=compute.flavors))), None)
    assert command._why_not('hw_disk_type') == (
        "hw_disk_type: none of this cloud's hosts acts on it")
