"""What the package uses of Nova is checked when a service starts."""

import ast
import inspect
import pathlib
import subprocess
import sys

from nova.objects import image_meta
from nova.virt import hardware
import pytest

import nova_image_override
from nova_image_override import api as api_package
from nova_image_override import compute as compute_package
from nova_image_override import errors
from nova_image_override import hosts as hosts_package
from nova_image_override.nova_interfaces import api
from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import compute
from nova_image_override.nova_interfaces import interface
from nova_image_override.nova_interfaces import scheduler

MODULE = 'tests.unit.test_nova_interfaces'


def commands():
    interface.verify(common.INTERFACES, common.RULES, common.COMMANDS)


@pytest.fixture(scope='module', autouse=True)
def objects():
    interface.verify([])


@pytest.mark.parametrize('verify', [
    api.verify, compute.verify, scheduler.verify, commands])
def test_the_running_release_has_everything(verify):
    verify()


# --- names that are called --------------------------------------------------

class Nova:
    """A stand-in for one of Nova's classes."""

    value = 7

    def called(self, first, second, *, third=None):
        pass

    def needs(self, first, second, added):
        pass

    def names(self, first, *, added):
        pass

    def swapped(self, second, first):
        pass

    @staticmethod
    def static(first, second):
        pass


OWNER = f'{MODULE}:Nova'


def called(name, arguments, **options):
    return interface.Called(OWNER, name, 'a test', arguments, **options)


def is_seven(name, shape='seven', number=7):
    return interface.Shaped(
        OWNER, name, 'a test', shape, lambda value: value == number)


@pytest.mark.parametrize('sound', [
    called('called', 'first, second'),
    called('called', 'first, second, third='),
    called('called', 'first, second='),
    called('called', '_, _'),
    called('gone', 'first, second', formerly='called'),
    interface.Called(MODULE, 'Nova', 'a test', ''),
    called('static', 'first, second'),
    is_seven('value'),
    called('missing', '', image_properties=('hw_missing',)),
])
def test_a_name_of_the_expected_shape_passes(sound):
    interface.verify([sound])


@pytest.mark.parametrize(('unsound', 'told'), [
    (interface.Called('nova.no_module', 'x', 'a test', ''),
     'has no nova.no_module.x ('),
    (called('missing', ''), f'has no {MODULE}.Nova.missing'),
    (called('missing', '', formerly='gone'), f'has no {MODULE}.Nova.missing'),
    (is_seven('missing'), f'has no {MODULE}.Nova.missing'),
    (called('missing', '', image_properties=('hw_missing', 'hw_disk_bus')),
     f'has no {MODULE}.Nova.missing'),
    (called('needs', 'first, second'), "argument: 'added'"),
    (called('names', 'first'), "argument: 'added'"),
    (called('called', 'first'), "argument: 'second'"),
    (called('called', 'first, second, fourth='), "argument 'fourth'"),
    (called('called', 'first, second, third'), 'too many'),
    (called('swapped', 'first, second'),
     'swapped(second, first), not (first, second)'),
    (is_seven('value', 'eight', 8),
     f'has another {MODULE}.Nova.value, not eight'),
])
def test_another_shape_is_told_in_one_line(unsound, told):
    with pytest.raises(errors.UnsupportedNova) as raised:
        interface.verify([unsound])
    assert str(raised.value).startswith('This Nova has ')
    assert told in str(raised.value)
    assert '\n' not in str(raised.value)


def test_every_difference_of_every_list_is_told_at_once():
    with pytest.raises(errors.UnsupportedNova) as raised:
        interface.verify([called('one', ''), is_seven('value')],
                         [called('two', '')])
    assert str(raised.value) == (
        f'This Nova has no {MODULE}.Nova.one; has no {MODULE}.Nova.two: '
        'nova-image-override does not support it.')


#: Nova lacks the name.
GONE = object()


def change(monkeypatch, owner, name, value):
    """Give Nova another function, or another value, or none."""
    if value is GONE:
        monkeypatch.delattr(interface.resolve(owner), name)
    else:
        monkeypatch.setattr(interface.resolve(owner), name, value)


#: A name of each kind, and what a release could make of it.
CHANGES = [
    # functions
    (api.verify, 'nova.block_device', 'prepend_dev', GONE),
    (commands, 'nova.context', 'get_admin_context', lambda added: None),
    (scheduler.verify, 'nova.scheduler.client.report',
     'SAME_SUBTREE_VERSION', GONE),
    # a function that checks image properties
    (api.verify, 'nova.virt.hardware', 'numa_get_constraints',
     lambda image_meta, flavor: None),
    # methods
    (api.verify, 'nova.objects:RequestSpec', 'ensure_project_and_user_id',
     lambda self: None),
    (api.verify, 'nova.objects:Instance', 'save',
     lambda self, expected_vm_state=None: None),
    (compute.verify, 'nova.image.glance:API', 'get', lambda self: None),
    # one that releases name differently
    (api.verify, 'nova.api.openstack.wsgi:Resource',
     api.REGISTER_ACTIONS.get().__name__, lambda self: None),
    # classes
    (api.verify, 'nova.compute.utils', 'EventReporter', lambda context: None),
    (compute.verify, 'nova.compute.resource_tracker:ResourceTracker',
     '__init__', lambda self, host: None),
    # values
    (api.verify, 'nova.objects.image_meta:ImageMetaProps', 'NUMA_NODES_MAX',
     GONE),
    (compute.verify, 'nova.objects.image_meta:ImageMetaProps',
     '_legacy_property_map', ['vm_mode']),
    (api.verify, 'nova.api.validation.extra_specs.validators', 'VALIDATORS',
     {}),
    (api.verify, 'nova.api.openstack.compute.servers:ServersController',
     'wsgi_actions', {}),
    (api.verify, 'nova.api.openstack.compute.routes', 'ROUTE_LIST', []),
]


@pytest.mark.parametrize(('verify', 'owner', 'name', 'value'), CHANGES)
def test_a_nova_that_has_changed_a_name_stops_the_start(
        monkeypatch, verify, owner, name, value):
    change(monkeypatch, owner, name, value)
    with pytest.raises(errors.UnsupportedNova) as raised:
        verify()
    assert name in str(raised.value)


def test_a_function_is_not_missed_if_no_property_that_it_checks_is_there(
        monkeypatch):
    monkeypatch.delattr(hardware, 'get_vtpm_constraint')
    for name in 'hw_tpm_model', 'hw_tpm_version':
        with pytest.raises(errors.UnsupportedNova, match='get_vtpm_constrain'):
            api.verify()
        monkeypatch.delitem(image_meta.ImageMetaProps.fields, name)
    api.verify()


# --- methods that are overridden --------------------------------------------

def overriding(method, **nova):
    """Return a class that overrides the methods of a class of Nova."""
    base = type('Base', (), {'__module__': 'nova.base', **nova})
    return type('Ours', (base,), {method.__name__: interface.overrides(method)})


def lacks_nothing(self, first, *args, third=None, **kwargs):
    pass


def takes_all(self, first, second):
    pass


@pytest.mark.parametrize(('ours', 'novas'), [
    (lacks_nothing, lambda self, first, second, third: None),
    (lacks_nothing, lambda self, first, third=None: None),
    (takes_all, lambda self, first, second: None),
    (takes_all, staticmethod(lambda first, second: None)),
])
def test_a_method_of_the_same_shape_can_be_overridden(ours, novas):
    interface.verify_overridden([overriding(ours, **{ours.__name__: novas})])


@pytest.mark.parametrize(('ours', 'novas', 'told'), [
    (lacks_nothing, lambda self, other, third: None, '(self, other, third)'),
    (lacks_nothing, lambda self, first, second: None, '(self, first, second)'),
    (takes_all, lambda self, second, first: None, '(self, second, first)'),
    (takes_all, lambda self, first, second, added: None, 'second, added)'),
    (takes_all, lambda self, first: None, '(self, first)'),
])
def test_one_of_another_shape_is_told(ours, novas, told):
    with pytest.raises(errors.UnsupportedNova) as raised:
        interface.verify_overridden(
            [overriding(ours, **{ours.__name__: novas})])
    assert f'has nova.base.Base.{ours.__name__}' in str(raised.value)
    assert f'{told}, not ({", ".join(inspect.signature(ours).parameters)})' \
        in str(raised.value)


def test_one_that_nova_does_not_have_is_told():
    with pytest.raises(errors.UnsupportedNova,
                       match=r'has no nova\.base\.Base\.takes_all:'):
        interface.verify_overridden([overriding(takes_all)])


#: The classes of ours that a start checks, and what checks them.
FOUND = {owner: verify for package, verify in (
    (api_package, api.verify), (compute_package, compute.verify),
    (hosts_package, scheduler.verify))
    for owner in interface.classes(package.__name__)
    if any(interface.overridden(owner))}


def test_every_class_that_declares_an_override_is_found_wherever_it_is():
    root = pathlib.Path(nova_image_override.__file__).parent
    declared = {
        ('.'.join(path.relative_to(root.parent).with_suffix('').parts),
         node.name)
        for path in root.rglob('*.py')
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
        and any('interface.overrides' in map(ast.unparse, each.decorator_list)
                for each in node.body if isinstance(each, ast.FunctionDef))}
    assert declared
    assert declared == {
        (owner.__module__, owner.__qualname__) for owner in FOUND}


NEW = '''
from nova.compute import manager
from nova_image_override.nova_interfaces import interface

class Added(manager.ComputeManager):
    @interface.overrides
    def {method}:
        """Do something."""
'''


@pytest.mark.parametrize(('package', 'verify'), [
    (api_package, api.verify), (compute_package, compute.verify)])
@pytest.mark.parametrize(('method', 'told'), [
    ('rescue_instance(self, context)', 'ComputeManager.rescue_instance'),
    ('no_such_method(self)', 'has no nova.compute.manager.ComputeManager.no_'),
])
def test_a_class_that_is_added_in_a_module_of_its_own_is_checked(
        monkeypatch, tmp_path, package, verify, method, told):
    name = f'added_{method.partition("(")[0]}'
    (tmp_path / f'{name}.py').write_text(NEW.format(method=method))
    monkeypatch.setattr(package, '__path__', [*package.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, f'{package.__name__}.{name}', False)
    with pytest.raises(errors.UnsupportedNova, match=told):
        verify()


def test_a_module_that_lacks_a_name_of_nova_stops_the_start(
        monkeypatch, tmp_path):
    (tmp_path / 'lacking.py').write_text('from nova.compute import no_such\n')
    monkeypatch.setattr(
        api_package, '__path__', [*api_package.__path__, str(tmp_path)])
    with pytest.raises(errors.UnsupportedNova, match=r'lacks .*no_such'):
        api.verify()


@pytest.mark.parametrize(
    ('owner', 'name'), [(owner, name) for owner in FOUND
                        for name, _ in interface.overridden(owner)],
    ids=lambda each: getattr(each, '__name__', each))
def test_a_method_of_novas_with_other_parameters_stops_the_start(
        monkeypatch, owner, name):
    monkeypatch.setattr(interface.base_of(owner), name, lambda: None)
    with pytest.raises(errors.UnsupportedNova,
                       match=rf'{interface.base_of(owner).__name__}\.{name}\('):
        FOUND[owner]()


@pytest.mark.parametrize('owner', [
    each for package in (api_package, compute_package)
    for each in interface.classes(package.__name__)
    if each.__mro__[1].__module__.startswith('nova.')],
    ids=lambda each: each.__name__)
def test_what_is_overridden_is_declared(owner):
    declared = {name for name, _ in interface.overridden(owner)}
    assert declared == {
        name for name, value in vars(owner).items()
        if inspect.isfunction(getattr(value, 'func', value))
        and hasattr(owner.__mro__[1], name) and name != '__init__'}


def test_an_attribute_that_novas_constructor_does_not_set_is_told():
    novas = type('Novas', (), {'__module__': 'nova.base', 'value': 7})
    with pytest.raises(errors.UnsupportedNova,
                       match='gives Novas no one, two:'):
        interface.require(type('Ours', (novas,), {})(), 'one', 'value', 'two')


# --- names that are used when our modules are imported ----------------------

WITHOUT = '''
import os
import sys
import nova.api.openstack.compute.routes
import nova.compute.api
import nova.compute.task_states
import nova.exception
import nova.virt.hardware
for name in sys.argv[1:]:
    if not os.fork():
        owner, _, attribute = name.rpartition('.')
        delattr(eval(owner), attribute)
        from nova_image_override.api import router
        try:
            router.APIRouterV21.factory({})
        except Exception as exc:
            print(type(exc).__name__, exc, flush=True)
        os._exit(0)
    os.wait()
'''

NAMES = [
    'nova.compute.task_states.RESIZE_PREP',
    'nova.compute.api.API._validate_and_build_base_options',
    'nova.virt.hardware.get_ephemeral_encryption_format',
    'nova.exception.RequestedVRamTooHigh',
]


def test_a_name_that_nova_does_not_have_is_told_in_one_line():
    process = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', WITHOUT, *NAMES],
        capture_output=True, text=True, timeout=120)
    lines = process.stdout.splitlines()
    assert len(lines) == len(NAMES), process.stderr
    for line, name in zip(lines, NAMES):
        assert line.startswith('UnsupportedNova This Nova ')
        assert name.rsplit('.', 1)[1] in line
