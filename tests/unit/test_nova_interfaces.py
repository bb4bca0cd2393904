"""What the package uses of Nova is checked when a service starts."""

import dataclasses
import inspect
import subprocess
import sys

import oslo_messaging
import pytest

from nova_image_override import errors
from nova_image_override.nova_interfaces import api
from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import compute
from nova_image_override.nova_interfaces import interface

MODULE = 'tests.unit.test_nova_interfaces'


@pytest.fixture(scope='module', autouse=True)
def objects():
    interface.verify([])


@pytest.mark.parametrize('verify', [
    api.verify, compute.verify,
    lambda: interface.verify(common.COMMANDS)])
def test_the_running_release_has_everything(verify):
    verify()


# --- names that are called, and fields of objects ---------------------------

class Nova:
    """A stand-in for one of Nova's classes."""

    value = 7
    fields = {'field': object()}

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

    @oslo_messaging.expected_exceptions(KeyError)
    def expecting(self, first, second, third=None):
        pass


OWNER = f'{MODULE}:Nova'


@pytest.mark.parametrize('sound', [
    interface.Interface(OWNER, 'value'),
    interface.Interface(OWNER, 'field'),
    interface.Called(OWNER, 'called', 'first, second'),
    interface.Called(OWNER, 'called', 'first, second, third='),
    interface.Called(OWNER, 'called', 'first, second='),
    interface.Called(OWNER, 'called', '_, _'),
    interface.Called(MODULE, 'Nova', ''),
    interface.Called(OWNER, 'static', 'first, second'),
    # Its decorator hides its parameters.
    interface.Called(OWNER, 'expecting', 'first, second'),
    interface.Shaped(OWNER, 'value', 'seven', lambda value: value == 7),
    interface.Called(OWNER, 'missing', '', image_property='hw_missing'),
])
def test_a_name_of_the_expected_shape_passes(sound):
    interface.verify([sound])


@pytest.mark.parametrize(('unsound', 'told'), [
    (interface.Interface('nova.no_module', 'x'), 'has no nova.no_module.x ('),
    (interface.Interface(OWNER, 'missing'), f'has no {MODULE}.Nova.missing'),
    (interface.Called(OWNER, 'missing', ''), 'has no '),
    (interface.Called(
        OWNER, 'missing', '', image_property='hw_disk_bus'), 'has no '),
    (interface.Called(OWNER, 'needs', 'first, second'), "argument: 'added'"),
    (interface.Called(OWNER, 'names', 'first'), "argument: 'added'"),
    (interface.Called(OWNER, 'called', 'first'), "argument: 'second'"),
    (interface.Called(OWNER, 'called', 'first, second, fourth='),
     "argument 'fourth'"),
    (interface.Called(OWNER, 'called', 'first, second, third'), 'too many'),
    (interface.Called(OWNER, 'swapped', 'first, second'),
     'swapped(second, first), not (first, second)'),
    (interface.Called(OWNER, 'expecting', 'first'), "argument: 'second'"),
    (interface.Shaped(OWNER, 'value', 'eight', lambda value: value == 8),
     f'has another {MODULE}.Nova.value, not eight'),
])
def test_another_shape_is_told_in_one_line(unsound, told):
    with pytest.raises(errors.UnsupportedNova) as raised:
        interface.verify([unsound])
    assert str(raised.value).startswith('This Nova has ')
    assert told in str(raised.value)
    assert '\n' not in str(raised.value)


def test_every_difference_is_told_at_once():
    with pytest.raises(errors.UnsupportedNova) as raised:
        interface.verify([interface.Interface(OWNER, 'one'),
                          interface.Interface(OWNER, 'value'),
                          interface.Interface(OWNER, 'two')])
    assert str(raised.value) == (
        f'This Nova has no {MODULE}.Nova.one; has no {MODULE}.Nova.two: '
        'nova-image-override does not support it.')


@pytest.mark.parametrize('each', api.INTERFACES + compute.INTERFACES
                         + common.COMMANDS, ids=str)
def test_every_one_that_is_renamed_stops_the_start(each):
    """The running release has a different name for it from the one listed."""
    renamed = dataclasses.replace(each, name=f'{each.name}_was', **(
        {'formerly': ''} if isinstance(each, interface.Called) else {}))
    if each.needed:
        assert f'{renamed}' in renamed.problem()


@pytest.mark.parametrize('each', [
    each for each in api.INTERFACES if isinstance(each, interface.Called)
    and each.owner == 'nova.virt.hardware' and each.needed], ids=str)
def test_a_new_argument_of_a_check_of_novas_stops_the_start(
        each, monkeypatch):
    def check(flavor, image_meta, added):
        pass

    monkeypatch.setattr(interface.resolve(each.owner), each.name, check)
    with pytest.raises(errors.UnsupportedNova, match=each.name):
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
    interface.verify_overridden(overriding(ours, **{ours.__name__: novas}))


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
            overriding(ours, **{ours.__name__: novas}))
    assert f'has nova.base.Base.{ours.__name__}' in str(raised.value)
    assert f'{told}, not ({", ".join(inspect.signature(ours).parameters)})' \
        in str(raised.value)


def test_one_that_nova_does_not_have_is_told():
    with pytest.raises(errors.UnsupportedNova,
                       match=r'has no nova\.base\.Base\.takes_all:'):
        interface.verify_overridden(overriding(takes_all))


def ours():
    """Yield each class of ours that overrides methods of Nova."""
    for module in ('api.compute_api', 'api.faults', 'api.servers',
                   'compute.manager'):
        for each in vars(interface.load(
                f'nova_image_override.{module}')).values():
            if (inspect.isclass(each) and each.__module__.endswith(module)
                    and each.__mro__[1].__module__.startswith('nova.')):
                yield each


def test_there_are_classes_that_override():
    assert len([*ours()]) == 8


@pytest.mark.parametrize('owner', ours(), ids=lambda each: each.__name__)
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
import nova.api.openstack.compute.routes
import nova.compute.task_states
import nova.exception
import nova.virt.hardware
from nova_image_override.api import router
del {name}
try:
    router.APIRouterV21.factory({{}})
except Exception as exc:
    print(type(exc).__name__, exc)
'''


@pytest.mark.parametrize('name', [
    'nova.compute.task_states.RESIZE_PREP',
    'nova.compute.api.API._validate_and_build_base_options',
    'nova.virt.hardware.get_ephemeral_encryption_format',
    'nova.exception.RequestedVRamTooHigh',
])
def test_a_name_that_nova_does_not_have_is_told_in_one_line(name):
    process = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', WITHOUT.format(name=name)],
        capture_output=True, text=True, timeout=120)
    said = process.stdout.strip().split('\n')[-1]
    assert said.startswith('UnsupportedNova This Nova '), process.stderr
    assert name.rsplit('.', 1)[1] in said
