"""The JSON Schema of each version, and its published copies."""

import json
import pathlib

import hypothesis
import jsonschema
import pytest

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.cmd import published_schema as schema_command
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import property as property_module
from nova_image_override.properties import request_schema
from tests.unit import ecma
from tests.unit import strategies

PUBLISHED = pathlib.Path(__file__).parents[3] / 'api_schemas'

VALIDATORS = {
    version: jsonschema.Draft202012Validator(
        request_schema.published(version, strategies.CATALOG))
    for version in versions.VERSIONS}


def files():
    return sorted(PUBLISHED.glob('*.json'))


# --- the published copies ---------------------------------------------------

@pytest.mark.parametrize('version', versions.VERSIONS, ids=str)
def test_the_published_copy_is_what_the_code_makes(version):
    path = PUBLISHED / schema_command.file_name(version)
    assert path.read_text() == schema_command.text(version), (
        'run: nova-image-override schema --write api_schemas')


def test_each_version_is_published_for_each_supported_release():
    assert [path.name for path in files()] == sorted(
        f'{version}-nova-{release}.json'
        for version in versions.HISTORY for release in (31, 32, 33, 34))


@pytest.mark.parametrize('path', files(), ids=lambda path: path.stem)
def test_a_published_schema_is_a_valid_one_in_common_regular_expressions(path):
    published = json.loads(path.read_text())
    assert published['$schema'] == request_schema.DIALECT
    jsonschema.Draft202012Validator.check_schema(published)
    patterns = ecma.of(published)
    assert len(patterns) > 3
    for pattern in patterns:
        ecma.check(pattern)


@pytest.mark.parametrize('path', files(), ids=lambda path: path.stem)
def test_no_release_publishes_a_property_without_a_description(path):
    published = json.loads(path.read_text())
    properties = {**published['properties'], **published['patternProperties']}
    assert len(properties) > 60
    assert [name for name, value in properties.items()
            if not value['description']] == []


def test_what_can_never_be_overridden_is_not_published(catalog):
    published = request_schema.published(versions.MAX, catalog)
    assert len(published['properties']) + len(
        published['patternProperties']) == len(strategies.OPEN)
    assert not catalog_module.NEVER & published['properties'].keys()


@pytest.mark.parametrize('pattern', [
    r'\d', r'\w+', r'\Ax', r'x\Z', '(?s:.)', '(?P<n>x)', '(?>x)', '.', 'x*+',
    '[[a]', r'[\d]', '(?i)x', r'(x)\1'])
def test_the_check_for_common_regular_expressions_can_fail(pattern):
    with pytest.raises(AssertionError):
        ecma.check(pattern)


# --- what a schema says -----------------------------------------------------

def test_an_integer_is_text_that_spells_an_integer(catalog):
    made = catalog['hw_maxphysaddr_bits'].schema()
    assert made == {
        'type': 'string', 'description': made['description'],
        'pattern': '^(0|[1-9][0-9]{0,1})$',
        'not': {'type': 'string', 'pattern': property_module.UNSAFE},
        'contentMediaType': 'application/json',
        'contentSchema': {'type': 'integer', 'minimum': 32, 'maximum': 64}}


def test_a_boolean_is_text_that_spells_a_boolean(catalog):
    made = catalog['hw_boot_menu'].schema()
    assert made == {
        'type': 'string', 'description': made['description'],
        'enum': ['true', 'false'], 'contentMediaType': 'application/json',
        'contentSchema': {'type': 'boolean'}}


def test_an_enumeration_lists_what_nova_takes(catalog):
    made = catalog['hw_input_bus'].schema()
    assert made == {'type': 'string', 'description': made['description'],
                    'enum': ['usb', 'virtio']}


def test_text_is_bounded(catalog):
    made = catalog['os_distro'].schema()
    assert made == {
        'type': 'string', 'description': made['description'],
        'minLength': 1, 'maxLength': 255,
        'not': {'type': 'string', 'pattern': property_module.UNSAFE}}


@pytest.mark.parametrize('field', [
    'hw_boot_menu', 'hw_input_bus', 'hw_cpu_sockets', 'os_distro',
    'hw_mem_page_size', 'traits_required', 'hw_numa_cpus'])
def test_null_is_a_value_only_where_removal_is_taken(catalog, field):
    prop = catalog[field]
    for removal in (True, False):
        valid = jsonschema.Draft202012Validator(
            prop.schema(removal=removal)).is_valid
        assert valid(None) is removal
        assert not valid(1)
        assert not valid('')


def test_making_a_schema_with_removal_leaves_the_catalogue_as_it_is(catalog):
    catalog['hw_input_bus'].schema(removal=True)
    assert catalog['hw_input_bus'].schema()['enum'] == [
        'usb', 'virtio']


@pytest.mark.parametrize('version', versions.VERSIONS, ids=str)
@pytest.mark.parametrize('raw', [
    {}, {'hw_boot_menu': 'true'}, {'hw_numa_mem.127': '1'},
    {'trait:CUSTOM_A': 'required', 'os_distro': '\u65e5'},
    {f'hw_numa_mem.{n}': '1' for n in range(128)},
])
def test_a_request_that_the_schema_takes(version, raw):
    assert VALIDATORS[version].is_valid(raw)


@pytest.mark.parametrize('version', versions.VERSIONS, ids=str)
@pytest.mark.parametrize('raw', [
    None, [], 'x', {'nonsense': 'x'}, {'hw_boot_menu': True},
    {'hw_boot_menu': 'yes'}, {'hw_disk_bus': 'floppy'},
    {'hw_cpu_sockets': '02'}, {'hw_cpu_sockets': '999999'},
    {'hw_cpu_sockets': '2\n'}, {'hw_numa_mem.128': '1'},
    {'hw_numa_mem.0\n': '1'}, {'hw_numa_mem': '1'}, {'trait:a': 'required'},
    {'trait:A\n': 'required'}, {'trait:A': 'forbidden'}, {'vm_mode': 'hvm'},
    {'img_signature': 'x'}, {'os_distro': 'a\0'}, {'os_distro': 'a\ud800'},
    {'os_distro': 'a\U0001f600'}, {'os_distro': 'a' * 256},
    {'hw_numa_cpus.0': '0-99999999999'},
    {f'hw_numa_{f}.{n}': '1' for n in range(65) for f in ('mem', 'cpus')},
])
def test_a_request_that_the_schema_refuses(version, raw):
    assert not VALIDATORS[version].is_valid(raw)


# --- laws -------------------------------------------------------------------

@hypothesis.given(strategies.requests())
def test_what_is_parsed_is_valid(parser, raw):
    overrides = parser.parse(raw, removals=True)
    assert VALIDATORS[versions.MAX].is_valid(overrides)
    assert VALIDATORS[versions.MIN].is_valid(overrides) == (
        None not in overrides.values())


#: What is checked besides the schema: ranges, bytes, order, Nova's grammar.
BESIDE = {'an integer from', 'bytes of UTF-8', 'ends before it begins',
          'up to 4095', 'comparisons with a version'}


@hypothesis.given(
    strategies.names_of('os_distro') | strategies.pairs().map(lambda p: p[0]),
    strategies.any_text)
def test_what_is_valid_is_parsed_to_itself_but_for_what_no_schema_says(
        parser, name, value):
    valid = VALIDATORS[versions.MIN].is_valid({name: value})
    try:
        parsed = parser.parse({name: value}, removals=False)
    except errors.Invalid as exc:
        assert not valid or any(
            said in exc.problems[0].reason for said in BESIDE)
    else:
        assert valid == (parsed == {name: value})
