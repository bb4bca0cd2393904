"""Which parts of Nova read which image properties, from its syntax trees.

A mention counts as a read: a constant that is a field's name, an attribute of
something called properties, a name that is put together from constants, and
what the shared functions (``nova.virt.hardware`` and others) read for their
callers. What nova-api or the scheduler has made of properties counts as well
(``instance.numa_topology``).
"""

import ast
import collections
import functools
import pathlib
import re

import nova
from nova.objects import image_meta

FIELDS = frozenset(image_meta.ImageMetaProps.fields)

ROOT = pathlib.Path(nova.__file__).parent

#: Part of Nova -> where its code is.
PARTS = {
    'libvirt': ('virt/libvirt', 'pci/stats.py'),  # No other has PCI devices.
    'vmwareapi': ('virt/vmwareapi',),
    'ironic': ('virt/ironic',),
    'zvm': ('virt/zvm',),
    'fake': ('virt/fake.py',),
    'scheduler': ('scheduler', 'conductor', 'pci/request.py'),
    'nova-api': ('compute/api.py', 'api', 'image'),
}

#: Modules whose functions read properties for their callers.
SHARED = ('hardware', 'osinfo', 'configdrive')

#: What Nova makes of properties before drivers see it: attribute or key ->
#: the shared functions that make it.
CARRIED = {
    'numa_topology': (
        'hardware._get_numa_node_count_constraint',
        'hardware._get_numa_cpu_constraint',
        'hardware._get_numa_mem_constraint',
        'hardware._get_numa_pagesize_constraint',
        'hardware.get_cpu_policy_constraint',
        'hardware.get_cpu_thread_policy_constraint'),
    'numa_policy': ('hardware.get_pci_numa_policy_constraint',),
    'encrypted': ('hardware.get_ephemeral_encryption_constraint',),
    'encryption_format': ('hardware.get_ephemeral_encryption_format',),
    'config_drive': ('configdrive.required_by',),
}

#: A name under which nova-api reads a property past ImageMetaProps.
ALIASES = {'auto_disk_config': 'hw_auto_disk_config'}


def _pattern(node):
    """Return a regular expression for the texts that NODE can be, or None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [_pattern(node.left), _pattern(node.right)]
        return None if sides == [None, None] else ''.join(
            each or '[a-z]+' for each in sides)
    return None


def _direct(node):
    """Return the fields that one node of a tree mentions."""
    if isinstance(node, ast.Attribute):
        owner = getattr(node.value, 'attr', getattr(node.value, 'id', ''))
        if owner.endswith(('properties', 'props')) or (
                (owner, node.attr) == ('instance', 'os_type')):
            return {node.attr} & FIELDS
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {ALIASES.get(node.value, node.value)} & FIELDS
    if isinstance(node, ast.BinOp):
        pattern = _pattern(node) or ''
        # Not the beginning of a longer name.
        if re.match('(hw|img|os)_.*[a-z]$', pattern):
            return {field for field in FIELDS if re.fullmatch(pattern, field)}
    return set()


def _keys(node):
    """Return the fields whose names a shared function puts together.

    nova/virt/hardware.py _get_flavor_image_meta is given "tpm_model" for
    hw_tpm_model, and "secure_boot" with prefix="os".
    """
    if not isinstance(node, ast.Constant):
        return set()
    return {f'{prefix}_{node.value}' for prefix in ('hw', 'os')} & FIELDS


def _functions(tree):
    """Yield the name and nodes of each function, methods by class."""
    def walk(node, name):
        own = []
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                yield from walk(child, f'{name}.{child.name}'.lstrip('.'))
            else:
                own += ast.walk(child)
        yield name, own
    return walk(tree, '')


@functools.cache
def _of_shared(module):
    """Return function of a shared module -> the fields that it reads."""
    tree = ast.parse((ROOT / 'virt' / f'{module}.py').read_text())
    reads, calls = (collections.defaultdict(set) for _ in range(2))
    for name, nodes in _functions(tree):
        top = name.partition('.')[0]
        for node in nodes:
            reads[top] |= _direct(node) | _keys(node)
            if isinstance(node, ast.Name):
                calls[top].add(node.id)
            if isinstance(node, ast.Attribute):
                calls[top].add(node.attr)
    for _ in range(9):
        for name, called in calls.items():
            for each in called & reads.keys() - {''}:
                reads[name] |= reads[each]
    return reads


def _shared(*names):
    result = set()
    for name in names:
        module, _, function = name.partition('.')
        result |= _of_shared(module).get(function, set())
    return result


def _indirect(node):
    """Return the fields that a node mentions through shared functions."""
    if isinstance(node, ast.Attribute):
        owner = getattr(node.value, 'id', '')
        if owner in SHARED:
            return _shared(f'{owner}.{node.attr}')
        if node.attr in CARRIED:
            return _shared(*CARRIED[node.attr])
    if isinstance(node, ast.Call) and getattr(
            node.func, 'attr', '') == 'get' and node.args and isinstance(
                node.args[0], ast.Constant) and node.args[0].value in CARRIED:
        return _shared(*CARRIED[node.args[0].value])
    return set()


@functools.cache
def found():
    """Return field -> part of Nova -> the functions that mention it.

    Methods are named with their classes, functions with their modules.
    """
    result = {field: collections.defaultdict(set) for field in sorted(FIELDS)}
    for part, places in PARTS.items():
        for place in places:
            path = ROOT / place
            for file in [path] if path.is_file() else path.rglob('*.py'):
                for name, nodes in _functions(ast.parse(file.read_text())):
                    for node in nodes:
                        for field in _direct(node) | _indirect(node):
                            result[field][part].add(
                                name if '.' in name and name[0].isupper()
                                else f'{file.stem}.{name}')
    return result
