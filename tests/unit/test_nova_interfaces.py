"""Every Nova name that this package uses is checked at start.

The names in use are found in the package's own syntax trees.
"""

import dataclasses
import inspect
import pathlib

import oslo_messaging
import pytest

from nova_image_override import errors
from nova_image_override.nova_interfaces import api
from nova_image_override.nova_interfaces import commands
from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import compute
from nova_image_override.nova_interfaces import interface
from tests.unit import nova_names

PACKAGE = pathlib.Path(interface.__file__).parents[1]

#: What each room, named by its folder, may use: what is verified where it runs.
ROOMS = {
    'api': api.INTERFACES,
    'compute': compute.INTERFACES,
    'authorization': (*common.INTERFACES, *common.RULES),
    'cmd': (*commands.INTERFACES, *compute.COMMAND),
    '': common.INTERFACES,
}

#: Names whose use no syntax tree shows, and how they are used.
UNSEEN = {
    'nova.api.openstack.compute.routes._create_controller':
        'makes_servers compares with it',
    'nova.compute.resource_tracker.ResourceTracker.__init__':
        'our subclass is called',
    'nova.image.glance.API.get': 'rescue_images.py wraps it',
    **dict.fromkeys((
        'nova.objects.CellMapping.name', 'nova.objects.CellMapping.uuid'),
        'computes.py has them of a list'),
    'nova.objects.BuildRequest.instance': 'server_filter.py has it of a list',
    'nova.objects.register_all': 'interface.verify calls it',
    'nova.volume.cinder.API.get': 'rescue_images.py wraps it',
    **dict.fromkeys((
        'nova.virt.hardware.get_maxphysaddr_mode',
        'nova.virt.hardware.get_packed_virtqueue_constraint',
        'nova.virt.hardware.get_pmu_constraint',
        'nova.virt.hardware.get_realtime_cpu_constraint',
        'nova.virt.hardware.get_secure_boot_constraint',
        'nova.virt.hardware.get_sound_model',
        'nova.virt.hardware.get_usb_model'),
        'constraints.py calls what is in CONSTRAINTS'),
}


@pytest.fixture(scope='module', autouse=True)
def objects():
    interface.verify([])


def modules():
    """Yield the room and path of each module that runs with Nova."""
    for path in sorted(PACKAGE.rglob('*.py')):
        place = path.relative_to(PACKAGE)
        room = place.parts[0] if len(place.parts) > 1 else ''
        if room not in ('client', 'nova_interfaces'):
            yield room if room in ROOMS else '', path


def uses():
    for room, path in modules():
        for use in nova_names.found(path.read_text())[0]:
            yield room, f'{path.relative_to(PACKAGE)}:{use.line}', use


@pytest.fixture(scope='module')
def used():
    return list(uses())


def listed(room):
    return {str(each): each for each in ROOMS[room]}


def test_every_name_that_is_used_is_verified_where_it_is_used(used):
    assert not sorted({
        (place, use.name) for room, place, use in used
        if use.name not in listed(room)})


def test_every_name_that_is_verified_is_used(used):
    names = {use.name for _, _, use in used} | set(UNSEEN)
    assert not sorted({
        name for room in ROOMS for name in listed(room)} - names)


def test_nothing_is_unseen_that_a_syntax_tree_shows(used):
    assert not {use.name for _, _, use in used} & set(UNSEEN)


def test_every_attribute_of_nova_s_objects_is_known():
    assert not [(path.name, *unknown) for _, path in modules()
                for unknown in nova_names.found(path.read_text())[1]]


def test_every_call_is_verified_with_its_own_arguments(used):
    for room, place, use in used:
        each = listed(room).get(use.name)
        if use.call is not None and isinstance(each, interface.Called):
            assert use.call == (
                len(each.by_position), frozenset(each.by_name)), place


def test_every_name_that_is_called_is_verified_as_such(used):
    for room, place, use in used:
        if use.call is not None:
            assert isinstance(listed(room)[use.name], (
                interface.Called, interface.Overridden)), place


def test_every_method_that_is_overridden_is_verified_as_such(used):
    for room, place, use in used:
        if use.overridden and not use.name.endswith('.__init__'):
            assert isinstance(
                listed(room)[use.name], interface.Overridden), place


@pytest.mark.parametrize('verify', [
    api.verify, compute.verify, commands.verify])
def test_the_running_release_has_everything(verify):
    verify()


# --- what the search finds --------------------------------------------------

@pytest.mark.parametrize(('source', 'expected'), [
    ('from nova import utils\nutils.safe_truncate(1, 2)',
     'nova.utils.safe_truncate'),
    ('import nova.conf\nnova.conf.CONF.register_opts(1)', 'nova.conf.CONF'),
    ('def f():\n    from nova import utils as u\n    u.safe_truncate',
     'nova.utils.safe_truncate'),
    ('from nova.compute import api\nclass A(api.API):\n'
     '    def rescue(self): pass', 'nova.compute.api.API.rescue'),
    ('from nova.compute import api\nclass A(api.API):\n'
     '    def own(self): self._get_image()', 'nova.compute.api.API._get_image'),
    ('from nova.compute import api\nclass A(api.API):\n'
     '    def own(self): super().get()', 'nova.compute.api.API.get'),
    ('def f(instance): instance.system_metadata',
     'nova.objects.Instance.system_metadata'),
    ('def f(self): self._flavor.extra_specs',
     'nova.objects.Flavor.extra_specs'),
    ('from nova import objects\ndef f(x: objects.ComputeNode): x.stats',
     'nova.objects.ComputeNode.stats'),
    ('from nova import objects\n'
     'x = objects.RequestSpec.get_by_instance_uuid(1, 2)\nx.save()',
     'nova.objects.RequestSpec.save'),
    ('from nova import exception\ntry: pass\n'
     'except exception.NovaException as e: e.format_message()',
     'nova.exception.NovaException.format_message'),
])
def test_a_use_is_found(source, expected):
    assert expected in {use.name for use in nova_names.found(source)[0]}


@pytest.mark.parametrize('source', [
    'import novaclient\nnovaclient.Client()',
    'from nova_image_override import errors\nerrors.Invalid([])',
    'from nova.compute import api\nclass A(api.API):\n'
    '    def __init__(self): self.own = 1\n    def other(self): self.own',
    'def f(req): req.headers',
])
def test_what_is_not_nova_s_is_left_out(source):
    names = {use.name for use in nova_names.found(source)[0]}
    assert names <= {'nova.compute.api.API', 'nova.compute.api.API.__init__'}


# --- what is reported for a Nova of a different shape -----------------------

MODULE = 'tests.unit.test_nova_interfaces'


class Nova:
    """A stand-in for one of Nova's classes."""

    value = 7

    def __init__(self):
        self.kept = driver = 1
        print(driver)

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
    interface.InstanceAttribute(OWNER, 'value'),
    interface.InstanceAttribute(OWNER, 'kept'),
    interface.Called(OWNER, 'called', 'first, second'),
    interface.Called(OWNER, 'called', 'first, second, third='),
    interface.Called(OWNER, 'called', 'first, second='),
    interface.Called(OWNER, 'called', '_, _'),
    interface.Called(MODULE, 'Nova', ''),
    interface.Called(OWNER, 'static', 'first, second'),
    interface.Overridden(OWNER, 'called', 'self, first, ...'),
    interface.Overridden(OWNER, 'called', 'self, first, second, third'),
    interface.Overridden(OWNER, 'called', 'self, first, ..., third'),
    interface.Overridden(OWNER, 'static', 'first, second'),
    # Its decorator hides its parameters.
    interface.Overridden(OWNER, 'expecting', 'self, first, second, third'),
    interface.Overridden(OWNER, 'expecting', 'self, first, ..., third'),
    interface.Called(OWNER, 'expecting', 'first, second'),
    interface.Shaped(OWNER, 'value', 'seven', lambda value: value == 7),
    interface.Called(OWNER, 'missing', '', image_property='hw_missing'),
])
def test_a_name_of_the_expected_shape_passes(sound):
    interface.verify([sound])


@pytest.mark.parametrize(('unsound', 'told'), [
    (interface.Interface('nova.no_module', 'x'), 'has no nova.no_module.x ('),
    (interface.Interface(OWNER, 'missing'), f'has no {MODULE}.Nova.missing'),
    (interface.InstanceAttribute(OWNER, 'missing'), 'has no '),
    # A local variable of the constructor, or a name that it reads.
    (interface.InstanceAttribute(OWNER, 'driver'), 'has no '),
    (interface.InstanceAttribute(OWNER, 'print'), 'has no '),
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
    (interface.Overridden(OWNER, 'missing', 'self'), 'has no '),
    (interface.Overridden(OWNER, 'swapped', 'self, first, ...'),
     'swapped(self, second, first), not (self, first, ...)'),
    (interface.Overridden(OWNER, 'needs', 'self, first, second'),
     'needs(self, first, second, added), not (self, first, second)'),
    (interface.Overridden(OWNER, 'called', 'self, first, ..., fourth'),
     'called(self, first, second, third), not (self, first, ..., fourth)'),
    # A leading parameter is not among those that follow.
    (interface.Overridden(OWNER, 'called', 'self, first, ..., first'),
     'called(self, first, second, third), not (self, first, ..., first)'),
    (interface.Overridden(OWNER, 'expecting', 'self, second, ...'),
     'expecting(self, first, second, third), not (self, second, ...)'),
    (interface.Called(OWNER, 'expecting', 'first'), "argument: 'second'"),
    (interface.Overridden(OWNER, 'static', 'self, first, second'),
     'static(first, second), not (self, first, second)'),
    (interface.Shaped(OWNER, 'value', 'eight', lambda value: value == 8),
     f'has another {MODULE}.Nova.value, not eight'),
])
def test_another_shape_is_told_in_one_line(unsound, told):
    with pytest.raises(errors.UnsupportedNova) as raised:
        interface.verify([unsound])
    assert str(raised.value).startswith('This Nova has ')
    assert told in str(raised.value)
    assert '\n' not in str(raised.value)


@pytest.mark.parametrize(('parameters', 'told'), [
    (['self', 'context', 'instance', 'target_state'],
     '(self, context, instance, target_state), not '),
    (['self', 'instance', 'context', 'reimage_boot_volume'],
     '(self, instance, context, reimage_boot_volume), not '),
])
def test_a_rebuild_with_other_parameters_stops_nova_compute(
        monkeypatch, parameters, told):
    def rebuild_instance(*args, **kwargs):
        pass

    rebuild_instance.__signature__ = inspect.Signature([
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for name in parameters])
    monkeypatch.setattr('nova.compute.manager.ComputeManager.rebuild_instance',
                        oslo_messaging.expected_exceptions(KeyError)(
                            rebuild_instance))
    with pytest.raises(errors.UnsupportedNova) as raised:
        compute.verify()
    assert f'ComputeManager.rebuild_instance{told}' in str(raised.value)


def test_every_difference_is_told_at_once():
    with pytest.raises(errors.UnsupportedNova) as raised:
        interface.verify([interface.Interface(OWNER, 'one'),
                          interface.Interface(OWNER, 'value'),
                          interface.Interface(OWNER, 'two')])
    assert str(raised.value) == (
        f'This Nova has no {MODULE}.Nova.one; has no {MODULE}.Nova.two: '
        'nova-image-override does not support it.')


@pytest.mark.parametrize('each', api.INTERFACES + compute.INTERFACES
                         + commands.INTERFACES, ids=str)
def test_every_one_that_is_renamed_stops_the_start(each):
    """The running release has a different name for it from the one listed."""
    renamed = dataclasses.replace(each, name=f'{each.name}_was')
    if each.needed:
        assert f'{renamed}' in renamed.problem()


@pytest.mark.parametrize('each', [
    each for each in api.INTERFACES if isinstance(each, interface.Called)
    and each.owner == 'nova.virt.hardware'], ids=str)
def test_a_new_argument_of_a_check_of_nova_s_stops_the_start(
        each, monkeypatch):
    if not each.needed:
        pytest.skip('this release has no such image property')

    def check(flavor, image_meta, added):
        pass

    monkeypatch.setattr(interface.resolve(each.owner), each.name, check)
    with pytest.raises(errors.UnsupportedNova, match=each.name):
        api.verify()
