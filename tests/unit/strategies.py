"""What hypothesis draws: requests good and bad, images, globs, lists.

Everything is built from the running Nova's catalogue, so each release is tried
with its own fields and values.
"""
from __future__ import annotations

import fnmatch
import itertools
import typing

from hypothesis import strategies as st
from nova.objects import image_meta

from nova_image_override import metadata_keys
from nova_image_override import override
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.properties import families
from nova_image_override.properties import property as property_module

CATALOG = catalog_module.running()

#: Properties that some deployment can permit.
OPEN = {field: prop for field, prop in CATALOG.items() if not prop.record.never}
SINGLE = {field: prop for field, prop in OPEN.items() if not prop.family}
FAMILIES = {field: prop for field, prop in OPEN.items() if prop.family}

#: How many characters of a trait's name can be stored.
LONGEST_TRAIT = metadata_keys.NAME_LENGTH_MAX - len('trait:')

#: Any text that Nova's JSON parser produces, lone surrogates included.
any_text = st.text(st.characters(exclude_categories=()))

#: Anything that JSON can express.
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(any_text, inner, max_size=4), max_leaves=12)

_indexes = st.integers(0, families.NUMA_NODES_MAX - 1)
_traits = st.text('ABCXYZ019_', min_size=1, max_size=12) | st.sampled_from(
    ['HW_CPU_X86_AVX', 'CUSTOM_GOLD', 'A' * LONGEST_TRAIT])


def overrides_of(
    values: typing.Mapping[str, str | None],
    preset: override.UsedPreset | None = None, *, is_kept: bool = False,
) -> override.Overrides:
    """The overrides called as in VALUES, which are taken as they are."""
    return override.Overrides(tuple(
        override.Override(CATALOG.resolve(name), name, value)
        for name, value in values.items()), preset, is_kept)


def names_of(field: str) -> st.SearchStrategy[str]:
    """Names that requests may use for FIELD."""
    prop = CATALOG[field]
    if prop.spelling.endswith('.N'):
        return st.builds(f'{field}.{{}}'.format, _indexes)
    if prop.spelling == 'trait:NAME':
        return st.builds('trait:{}'.format, _traits)
    return st.just(field)


@st.composite
def cased(draw: st.DrawFn, text: str) -> str:
    """TEXT with the case of some letters changed."""
    flips = draw(st.lists(
        st.booleans(), min_size=len(text), max_size=len(text)))
    return ''.join(
        c.swapcase() if flip else c
        for c, flip in zip(text, flips))


@st.composite
def cpu_lists(draw: st.DrawFn) -> str:
    """CPU lists short enough to be stored, and small enough to be taken."""
    items = []
    count = draw(st.integers(1, 20))
    for _ in range(count):
        first = draw(st.integers(0, 4095))
        last = draw(st.none() | st.integers(
            first, min(4095, first + 4096 // count - 1)))
        items.append(draw(st.sampled_from(['', '^'])) + (
            f'{first}' if last is None else f'{first}-{last}'))
    return ','.join(items)


_FREE = {
    'hw_auto_disk_config': st.sampled_from(['true', 'false', 'disabled']),
    'hw_cpu_realtime_mask': cpu_lists(),
    'hw_disk_type': st.from_regex('[A-Za-z0-9][A-Za-z0-9._-]{0,80}',
                                  fullmatch=True),
    'hw_machine_type': st.sampled_from(['q35', 'pc-i440fx-7.2', 's390-ccw']),
    'hw_mem_page_size': st.sampled_from(['small', 'large', 'any'])
    | st.integers(1, 10**9 - 1).map(str)
    | st.builds('{}{}{}B'.format, st.integers(1, 900),
                st.sampled_from('KMG'), st.sampled_from(['', 'i'])),
    'hw_numa_cpus': cpu_lists(),
    'img_hv_requested_version': st.lists(
        st.builds('{}{}.{}'.format,
                  st.sampled_from(['<', '<=', '==', '>=', '>', '!=']),
                  st.integers(0, 99), st.integers(0, 99)),
        min_size=1, max_size=4).map(','.join),
}

_plain_text = st.text(
    st.characters(exclude_categories=('Cc', 'Cs', 'Zl', 'Zp'),
                  exclude_characters='\ufffe\uffff', max_codepoint=0xffff),
    min_size=1).filter(lambda text: len(text.encode()) <= 255)


def values_of(field: str) -> st.SearchStrategy[str]:
    """Values of FIELD that are accepted, in any of their spellings."""
    prop = CATALOG[field]
    if isinstance(prop, property_module.Boolean):
        return st.sampled_from(
            ['true', 'false', '1', '0', 'on', 'off', 'yes', 'no', 't', 'f',
             'y', 'n']).flatmap(cased)
    if isinstance(prop, property_module.Integer):
        numbers = st.integers(
            prop.record.limits.minimum, prop.record.limits.maximum)
        return st.builds('{}{}'.format, st.sampled_from(['', '0', '000']),
                         numbers)
    if isinstance(prop, property_module.Enumeration):
        return st.sampled_from(prop.values)
    return _FREE.get(field, _plain_text)


@st.composite
def pairs(
    draw: st.DrawFn, fields: typing.Iterable[str] = tuple(OPEN), *,
    removals: bool = False,
) -> tuple[str, str | None]:
    """One name and a value that is accepted."""
    field = draw(st.sampled_from(sorted(fields)))
    value = values_of(field)
    return draw(names_of(field)), draw(st.none() | value if removals else value)


def requests() -> st.SearchStrategy[dict[str, str | None]]:
    """Overrides that are accepted, in any spelling of their values."""
    return st.lists(pairs(removals=True), max_size=12).map(dict)


# --- names that are almost right --------------------------------------------

_LOOK_ALIKE = str.maketrans('aeiopcx_.:', '\u0430\u0435\u0456\u043e\u0440'
                            '\u0441\u0445\uff3f\u2024\ua789')
_SPOILERS = (
    str.upper, str.title, lambda n: n + '\n', lambda n: n + '\0',
    lambda n: ' ' + n, lambda n: n + ' ', lambda n: '\ufeff' + n,
    lambda n: n.translate(_LOOK_ALIKE), lambda n: n.replace('_', '-'),
    lambda n: n + '.0', lambda n: n + '\u200b', lambda n: 'image_' + n,
    lambda n: n.replace('_', '\u0332_'), lambda n: n[:-1], lambda n: n * 40)


@st.composite
def misnamed(draw: st.DrawFn) -> str:
    """A name that is not a property, most often close to one."""
    name, _ = draw(pairs(tuple(CATALOG)))
    spoiled = draw(st.sampled_from(_SPOILERS))(name)
    return draw(
        st.sampled_from([spoiled, name[:3] + spoiled, *CATALOG.legacy,
                         'hw_numa_cpus', 'hw_numa_mem', 'traits_required'])
        | any_text)


# --- images -----------------------------------------------------------------

def _legacy() -> st.SearchStrategy[tuple[str, str]]:
    """A property under a legacy name."""
    def pair(name: str) -> st.SearchStrategy[tuple[str, typing.Any]]:
        if name == 'vmware_adaptertype':
            value = st.sampled_from(['ide', 'lsiLogic', 'lsiLogicsas',
                                     'busLogic', 'paraVirtual', ''])
        else:
            value = values_of(CATALOG.legacy[name][0])
        return st.tuples(st.just(name), value)
    return st.sampled_from(sorted(
        name for name, fields in CATALOG.legacy.items()
        if set(fields) <= set(OPEN))).flatmap(pair)


_foreign = st.sampled_from([
    ('kernel_id', '5cf8ae7e-0b4d-4a7b-9f0a-9f8f3a5d5b4e'),
    ('os_glance_failed_import', ''), ('owner_specified.x', 'y'),
    ('hw_numa_cpus', '0-3'), ('hw_numa_cpus.00', '0'), ('hw_numa_mem.x', '1'),
    ('traits_required', 'HW_CPU_X86_AVX'), ('trait:CUSTOM_GOLD', 'forbidden'),
    ('img_owner_id', 'someone'), ('img_bdm_v2', True),
    ('img_mappings', [{'virtual': 'root', 'device': '/dev/vda'}]),
    ('hw_boot_menu', True), ('hw_cpu_sockets', 2), ('hw_device_id', ' 7 '),
])

_few_nodes = st.lists(
    st.tuples(
        st.builds('{}.{}'.format,
                  st.sampled_from(['hw_numa_cpus', 'hw_numa_mem']),
                  st.integers(0, 3)),
        st.integers(1, 9).map(str)), max_size=4)


def images() -> st.SearchStrategy[dict[str, typing.Any]]:
    """Image properties that Nova can read, under current and legacy names."""
    return st.builds(
        lambda *parts: dict(itertools.chain(*parts)),
        st.lists(pairs(), max_size=8), st.lists(_legacy(), max_size=6),
        st.lists(_foreign, max_size=4), _few_nodes)


@st.composite
def laid_over(draw: st.DrawFn) -> tuple[
        dict[str, typing.Any], dict[str, str | None]]:
    """An image, and a request that names some of what it has."""
    image = draw(images())
    fields = {CATALOG.field_of(name) for name in image} | {
        field for name in image for field in CATALOG.legacy.get(name, ())}
    near = sorted(fields & set(OPEN)) or sorted(OPEN)
    asked = draw(st.lists(
        pairs(near, removals=True) | pairs(removals=True), max_size=10))
    nodes = draw(st.lists(st.sampled_from(
        ['hw_numa_cpus', 'hw_numa_mem']), max_size=3))
    asked += [(f'{field}.{draw(st.integers(0, 4))}',
               draw(st.none() | st.integers(1, 9).map(str)))
              for field in nodes]
    return image, dict(asked)


def read(properties: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Return what Nova reads of image properties: field -> value."""
    props = image_meta.ImageMeta.from_dict(
        {'properties': properties}).properties
    result = {field: getattr(props, field) for field in props.fields
              if props.obj_attr_is_set(field)}
    if 'traits_required' in result:
        result['traits_required'] = sorted(result['traits_required'])
    return result


# --- globs and lists --------------------------------------------------------

@st.composite
def globs_of(draw: st.DrawFn, text: str) -> str:
    """A glob that matches TEXT."""
    glob = text
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(glob)))
        stop = draw(st.integers(start, len(glob)))
        part = glob[start:stop]
        if '[' in part or ']' in part or glob[:start].count('[') != glob[
                :start].count(']'):
            continue
        new = '*'
        if len(part) == 1 and part.isalnum():
            new = draw(st.sampled_from(
                ['*', '?', f'[{part}_]', f'[!{"x" if part != "x" else "y"}]']))
        glob = glob[:start] + new + glob[stop:]
    assert fnmatch.fnmatchcase(text, glob)
    return glob


def can_stand_in_a_list(value: str) -> bool:
    """Return whether an entry can spell VALUE: no separator, glob or blank."""
    return value == value.strip() and not set('|*?[]') & set(value)


@st.composite
def entries(
    draw: st.DrawFn, fields: typing.Iterable[str] = tuple(OPEN), *,
    values: bool | None = None, whole: bool = False,
) -> str:
    """One entry of a list that concerns one of FIELDS.

    :param values: whether it has values; None leaves it open
    :param whole: name the field rather than a member of its family
    """
    field = draw(st.sampled_from(sorted(fields)))
    name = draw(globs_of(field if whole else draw(names_of(field))))
    if not (draw(st.booleans()) if values is None else values):
        return name
    texts = draw(st.lists(
        # Globs are matched against the canonical spelling.
        values_of(field).filter(can_stand_in_a_list).flatmap(
            lambda text: st.just(text)
            | globs_of(CATALOG[field].canonical(text))),
        max_size=3))
    return f'{name}={"|".join(texts)}' if texts else name
