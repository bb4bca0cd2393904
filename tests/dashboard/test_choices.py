"""What a form shows of a schema, by itself."""

import json

import pytest

from nova_image_override.properties import book
from nova_image_override_dashboard import choices
from tests import environments


def published():
    path = environments.ROOT / 'api_schemas' / '1.0-nova-34.json'
    return json.loads(path.read_text())


def choice(name, schema):
    """Return the one choice of a property."""
    key = 'patternProperties' if name.startswith('^') else 'properties'
    (made,) = choices.choices({key: {name: schema}})
    return made


def of(name):
    return next(each for each in choices.choices(published())
                if each['name'] == name)


def test_every_property_and_family_has_a_row():
    schema = published()
    assert len(choices.choices(schema)) == len(
        schema['properties']) + len(schema['patternProperties'])


def test_rows_come_by_purpose_and_then_by_name():
    titles = list(book.PURPOSES)
    made = [(titles.index(each['purpose']), each['name'])
            for each in choices.choices(published())]
    assert made == sorted(made)


@pytest.mark.parametrize(('name', 'kind', 'values'), [
    ('hw_boot_menu', 'boolean', ['true', 'false']),
    ('hw_cpu_policy', 'enum', ['dedicated', 'shared', 'mixed']),
    ('hw_cpu_cores', 'integer', None),
    ('os_command_line', 'string', None)])
def test_the_kind_of_input_is_the_schemas(name, kind, values):
    made = of(name)
    assert (made['kind'], made['values']) == (kind, values)


def test_a_number_has_its_limits():
    made = of('hw_cpu_cores')
    assert (made['minimum'], made['maximum']) == (1, 65536)


def test_a_family_has_a_prefix_and_a_pattern_of_names_and_maybe_numbers():
    nodes, trait, cores = map(of, (
        'hw_numa_cpus.N', 'trait:NAME', 'hw_cpu_cores'))
    assert [each['prefix'] for each in (nodes, trait, cores)] == [
        'hw_numa_cpus.', 'trait:', None]
    assert nodes['name_pattern'].startswith('^hw_numa_cpus')
    assert [each['numbered'] for each in (nodes, trait, cores)] == [
        True, False, False]


def test_what_the_cloud_folds_is_not_refused_before_it_is_asked():
    assert 'MB' in of('hw_mem_page_size')['expects']
    assert of('hw_mem_page_size')['like'] == []


def test_what_a_deployers_lists_leave_limits_the_value():
    made = choice('os_distro', {'type': 'string', 'allOf': [
        {'pattern': '^(?:deb.*)$'}, {'not': {'pattern': '^(?:debug)$'}}]})
    assert made['like'] == ['^(?:deb.*)$']
    assert made['unlike'] == ['^(?:debug)$']


def test_what_may_only_be_removed_has_no_values():
    made = choice('hw_disk_bus', {'type': 'null', 'description': 'A bus.'})
    assert not made['can_set']
    assert made['removable']
    assert made['values'] is None


def test_what_may_not_be_removed_is_not_removable():
    assert not choice('hw_disk_bus', {
        'type': 'string', 'enum': ['ide']})['removable']
    assert all(each['removable'] for each in choices.choices(published()))


def test_a_property_of_a_newer_cloud_has_a_row_too():
    made = choice('hw_new_thing', {'type': 'string'})
    assert made['purpose'] in book.PURPOSES
    assert made['description'] == ''
