"""What a check answers, and which server it asks about."""

import hypothesis
from hypothesis import strategies as st
from nova.api.openstack import api_version_request
from nova.api.openstack import wsgi
from oslo_serialization import jsonutils
import pytest

from nova_image_override import errors
from nova_image_override import policies
from nova_image_override.api.change import dry_run
from tests.unit import refusals
from tests.unit.api.change.plans import change
from tests.unit.api.change.plans import planner
from tests.unit.api.change.plans import SPECS

SIZES = st.builds(
    lambda number, size: [size] * number, st.integers(0, 400),
    st.integers(0, 255))


def answer(properties, overridden):
    """Return an answer with values of these sizes."""
    return {
        'properties': {f'p{n}': 'x' * size
                       for n, size in enumerate(properties)},
        'overridden': {f'o{n}': {'value': 'x' * size, 'image_value': None}
                       for n, size in enumerate(overridden)},
        'numa_topology': 'x' * 2000}


@hypothesis.given(SIZES, SIZES)
@hypothesis.example([250] * 400, [250] * 100)
@hypothesis.example([], [250] * 400)
def test_an_answer_is_bounded_and_counts_what_it_leaves_out(
        properties, overridden):
    whole = answer(properties, overridden)
    size = len(jsonutils.dumps(whole))
    told = dry_run._bounded(answer(properties, overridden))
    if size <= errors.ANSWER_MAX - 1024:
        assert told == whole
        return
    assert errors.ANSWER_MAX - 2048 < len(
        jsonutils.dumps(told)) <= errors.ANSWER_MAX
    left_out = told.pop(errors.LEFT_OUT)
    assert left_out == sum(
        len(whole[part]) - len(told[part])
        for part in ('properties', 'overridden')) > 0
    for part, kept in whole.items():
        assert told[part] == kept or told[part].items() <= kept.items()
    # Properties that are not overridden go first.
    if told['properties']:
        assert told['overridden'] == whole['overridden']


def test_an_answer_of_exactly_the_greatest_size_is_whole():
    whole = answer([], [250] * 100)
    missing = errors.ANSWER_MAX - 1024 - len(jsonutils.dumps(whole))
    whole['numa_topology'] += 'x' * missing
    assert dry_run._bounded(whole) == whole
    assert errors.LEFT_OUT not in whole


@pytest.mark.parametrize(('body', 'existing'), [
    ({'rebuild': {'id': 'a', 'imageRef': 'b'}, 'x': 1},
     ('rebuild', 'a', {'rebuild': {'imageRef': 'b'}, 'x': 1})),
    ({'server': {'id': 'a'}}, ('server', 'a', {'server': {}})),
    ({'server': {'name': 'a'}}, None),
    ({'server': 'id'}, None), ({'rebuild': 'id'}, None),
    ({'resize': {'id': 'a'}}, None), ({}, None), ([], None), (None, None)])
def test_a_body_with_an_id_asks_about_a_server_that_exists(body, existing):
    assert dry_run.of_existing(body) == existing


@pytest.mark.parametrize('body', [
    {'rebuild': {}}, {'rebuild': {'id': 1}}, {'server': {'id': None}}])
def test_a_server_is_named_by_a_string(body):
    assert refusals.codes(dry_run.of_existing, body) == {
        'id': errors.INVALID_TYPE}


@pytest.mark.parametrize(('body', 'closed', 'taken'), [
    ({'server': {}, 'hosts': True}, (), (True, {'server': {}})),
    ({'server': {}, 'hosts': False}, (), (False, {'server': {}})),
    # Who may not ask for hosts may say so.
    ({'server': {}, 'hosts': False}, (policies.HOSTS,),
     (False, {'server': {}})),
    ({'rebuild': {'id': 'a'}, 'hosts': False}, (),
     (False, {'rebuild': {'id': 'a'}})),
    ({'server': {}}, (), (False, {'server': {}})),
    ([], (), (False, [])), (None, (), (False, None))])
def test_a_check_asks_for_hosts_if_it_says_so(body, closed, taken):
    assert dry_run.take_hosts(planner(closed=closed), None, body) == taken


@pytest.mark.parametrize(('body', 'code'), [
    ({'server': {}, 'hosts': 'true'}, errors.INVALID_TYPE),
    ({'server': {}, 'hosts': None}, errors.INVALID_TYPE),
    ({'server': {}, 'hosts': 1}, errors.INVALID_TYPE),
    ({'server': {'id': 'a'}, 'hosts': True}, errors.NOT_HERE),
    ({'rebuild': {'id': 'a'}, 'hosts': True}, errors.NOT_HERE),
    ({'server': {}, 'hosts': True}, errors.POLICY)])
def test_unless_it_may_not_or_not_so(body, code):
    assert refusals.codes(
        dry_run.take_hosts, planner(closed=(policies.HOSTS,)), None, body,
        error=errors.OverrideError) == {'hosts': code}


@pytest.mark.parametrize(('version', 'body', 'made'), [
    ('2.37', {'server': {'imageRef': 'a'}, 'x': 1}, {'server': {
        'name': 'check', 'networks': 'none', 'imageRef': 'a'}, 'x': 1}),
    ('2.36', {'server': {}}, {'server': {'name': 'check'}}),
    ('2.37', {'server': {'name': 'a', 'networks': 'auto'}},
     {'server': {'name': 'a', 'networks': 'auto'}}),
    ('2.37', {'server': 'a'}, {'server': 'a'}), ('2.37', [], []),
    ('2.37', {}, {}), ('2.37', None, None)])
def test_what_a_create_needs_besides_the_image_is_filled_in(
        version, body, made):
    request = wsgi.Request.blank('/')
    request.api_version_request = api_version_request.APIVersionRequest(version)
    assert dry_run.body_of_create(request, body) == made


# --- the answer ---------------------------------------------------------------

def checked(*args, closed=(), drivers=('libvirt',), **kwargs):
    """Return the answer to the check of a create."""
    cloud = planner(closed=closed, drivers=drivers)
    with pytest.raises(dry_run.Checked) as caught:
        dry_run.end(cloud, None, cloud.plan(None, change(*args, **kwargs)),
                    more='more')
    return caught.value.answer[errors.PARAMETER]


def test_an_answer_has_the_merged_properties_and_what_the_image_has():
    assert checked({'hw_disk_bus': 'scsi', 'hw_pmu': None,
                    'hw_boot_menu': 'true'}) == {
        'properties': {
            'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true', 'owner': 'x'},
        'overridden': {
            'hw_disk_bus': {'value': 'scsi', 'image_value': 'ide'},
            'hw_pmu': {'value': None, 'image_value': 'true'},
            'hw_boot_menu': {'value': 'true', 'image_value': None}},
        'numa_topology': None, 'more': 'more'}


def test_of_a_mixed_cloud_it_has_what_each_driver_does():
    found = checked({'hw_boot_menu': 'true', 'hw_disk_bus': 'ide'},
                    drivers=('libvirt', 'vmwareapi'))['overridden']
    assert found['hw_boot_menu']['drivers'] == {
        'libvirt': 'acts', 'vmwareapi': 'ignored'}
    assert 'drivers' not in checked({'hw_boot_menu': 'true'})[
        'overridden']['hw_boot_menu']


PINNED = {'hw_cpu_policy': 'dedicated', 'hw_cpu_thread_policy': 'isolate',
          'hw_numa_nodes': '2', 'hw_mem_page_size': 'large',
          'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
          'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768'}


def test_it_has_the_numa_topology_that_nova_derives():
    specs = {'hw__mem_page_size': 'large',
             'hw__emulator_threads_policy': 'isolate'}
    assert checked(PINNED, specs=specs)['numa_topology'] == {
        'nodes': [{
            'id': node, 'cpus': cpus, 'dedicated_cpus': cpus,
            'memory_mb': memory, 'page_size': 'large',
            'cpu_policy': 'dedicated', 'cpu_thread_policy': 'isolate'}
            for node, (cpus, memory) in enumerate(
                (([0], 256), ([1, 2, 3], 768)))],
        'emulator_threads_policy': 'isolate'}


@pytest.mark.parametrize(('asked', 'shown'), [
    ('small', 'small'), ('large', 'large'), ('any', 'any'), ('2048', 2048)])
def test_a_page_size_is_shown_as_it_is_asked_for(asked, shown):
    (node,) = checked({'hw_mem_page_size': asked}, specs={
        'hw__mem_page_size': 'any'})['numa_topology']['nodes']
    assert node['page_size'] == shown
    assert (node['cpus'], node['dedicated_cpus']) == ([0, 1, 2, 3], [])


def test_who_may_not_read_extra_specs_is_shown_no_topology():
    assert 'numa_topology' not in checked(
        {'hw_numa_nodes': '2'}, closed=(SPECS,))
