"""The JSON Schema of a request, and its published copy."""


import hypothesis
import jsonschema
from nova.objects import image_meta
import pytest

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.properties import book
from nova_image_override.properties import property as property_module
from nova_image_override.properties import request_schema
from testing import release
from tests.unit import ecma
from tests.unit import strategies
from tests.unit.properties.published import copy
from tests.unit.properties.published import FOLDER
from tools import schemas

PUBLISHED = schemas.published(strategies.CATALOG)
VALIDATOR = jsonschema.Draft202012Validator(PUBLISHED)


# --- what is published ------------------------------------------------------

def is_known(field, value):
    """Return whether the running Nova's ImageMetaProps takes a value."""
    if value is None:
        return True
    try:
        image_meta.ImageMetaProps.fields[field].coerce(None, field, value)
    except ValueError:
        return False
    return True


def test_the_copy_differs_from_what_is_made_only_as_the_releases_of_nova_do():
    """It is made with the newest Nova; older ones lack some of it."""
    expected = copy()
    expected['properties'] = {
        field: schema for field, schema in expected['properties'].items()
        if field in image_meta.ImageMetaProps.fields}
    for field, schema in expected['properties'].items():
        if 'enum' in schema:
            schema['enum'] = [value for value in schema['enum']
                              if is_known(field, value)]
    assert expected == PUBLISHED, 'run: make schemas'


def test_one_copy_of_each_version_is_kept():
    assert [path.name.partition('-')[0] for path in sorted(
        FOLDER.iterdir())] == list(versions.HISTORY)


def test_what_is_published_is_valid_in_common_regular_expressions():
    assert PUBLISHED['$schema'] == request_schema.DIALECT
    jsonschema.Draft202012Validator.check_schema(PUBLISHED)
    patterns = ecma.of(PUBLISHED)
    assert len(patterns) > 3
    for pattern in patterns:
        ecma.check(pattern)


def test_no_property_is_published_without_a_description():
    properties = {**PUBLISHED['properties'], **PUBLISHED['patternProperties']}
    assert len(properties) > 60
    assert [name for name, value in properties.items()
            if not value['description']] == []


def test_what_can_never_be_overridden_is_not_published():
    assert len(PUBLISHED['properties']) + len(
        PUBLISHED['patternProperties']) == len(strategies.OPEN)
    assert not any(book.RECORDS[name].never
                   for name in PUBLISHED['properties'])


@pytest.mark.parametrize('pattern', [
    r'\d', r'\w+', r'\Ax', r'x\Z', '(?s:.)', '(?P<n>x)', '(?>x)', '.', 'x*+',
    '[[a]', r'[\d]', '(?i)x', r'(x)\1'])
def test_the_check_for_common_regular_expressions_can_fail(pattern):
    with pytest.raises(AssertionError):
        ecma.check(pattern)


# --- what a schema says -----------------------------------------------------

SAFE = {'type': 'string', 'pattern': property_module.UNSAFE}


@pytest.mark.parametrize(('field', 'expected'), [
    ('hw_maxphysaddr_bits', {
        'pattern': '^(0|[1-9][0-9]{0,1})$', 'not': SAFE,
        'contentMediaType': 'application/json',
        'contentSchema': {'type': 'integer', 'minimum': 32, 'maximum': 64},
        'drivers': ['libvirt']}),
    ('hw_boot_menu', {
        'enum': ['true', 'false'], 'contentMediaType': 'application/json',
        'contentSchema': {'type': 'boolean'}, 'drivers': ['libvirt']}),
    ('hw_input_bus', {'enum': ['usb', 'virtio'], 'drivers': ['libvirt']}),
    ('os_distro', {
        'minLength': 1, 'maxLength': 255, 'not': SAFE,
        'drivers': ['libvirt', 'vmwareapi', 'zvm']})])
def test_a_value_is_text_that_spells_what_nova_takes(catalog, field, expected):
    release.need(field)
    made = catalog[field].schema()
    assert made == {
        'type': 'string', 'description': made['description'], **expected}


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


@pytest.mark.parametrize('raw', [
    {}, {'hw_boot_menu': 'true'}, {'hw_boot_menu': None},
    {'hw_numa_mem.127': '1'},
    {'trait:CUSTOM_A': 'required', 'os_distro': '\u65e5'},
    {f'hw_numa_mem.{n}': '1' for n in range(128)},
])
def test_a_request_that_the_schema_takes(raw):
    assert VALIDATOR.is_valid(raw)


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
def test_a_request_that_the_schema_refuses(raw):
    assert not VALIDATOR.is_valid(raw)


# --- laws -------------------------------------------------------------------

@hypothesis.given(strategies.requests())
def test_what_is_parsed_is_valid(parser, raw):
    assert VALIDATOR.is_valid(parser.parse(raw).values)


#: What is checked besides the schema: ranges, bytes, order, Nova's grammar.
BESIDE = {'an integer from', 'bytes of UTF-8', 'ends before it begins',
          'up to 4095', 'comparisons with a version'}


@hypothesis.given(
    strategies.names_of('os_distro') | strategies.pairs().map(lambda p: p[0]),
    strategies.any_text)
def test_what_is_valid_is_parsed_to_itself_but_for_what_no_schema_says(
        parser, name, value):
    valid = VALIDATOR.is_valid({name: value})
    try:
        parsed = parser.parse({name: value}).values
    except errors.Invalid as exc:
        assert not valid or any(
            said in exc.problems[0].reason for said in BESIDE)
    else:
        assert valid == (parsed == {name: value})
