"""What Glance injects on import, read with Glance's own option types."""

import sys
import textwrap

import pytest

from nova_image_override import errors
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.properties import catalog as catalog_module
from tests.unit.authorization.judged import MEMBER
from tests.unit.strategies import overrides_of

ON = '[image_import_opts]\nimage_import_plugins = [inject_image_metadata]\n'
GROUP = '[inject_metadata_properties]\n'
IGNORED = GROUP + 'inject = x_a:1\nignore_user_roles = '


@pytest.fixture
def load(tmp_path):
    """Read files with these texts, in this order."""
    def load(*texts):
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f'{number}.conf'
            path.write_text(textwrap.dedent(text))
            paths.append(str(path))
        return metadata_injection.load(paths)
    return load


def test_the_properties_are_those_of_the_option(load):
    found = load(ON + GROUP + 'inject = x_a:1,hw_vif_model:virtio\n')
    assert found.properties == {'x_a': '1', 'hw_vif_model': 'virtio'}


@pytest.mark.parametrize(('text', 'roles', 'injected'), [
    (ON + GROUP + 'inject = x_a:1\n', {'member'}, {'x_a'}),
    (ON + GROUP + 'inject = x_a:1\n', {'member', 'admin'}, set()),
    # The deployer names the roles that are ignored.
    (ON + IGNORED + 'builder, other\n', {'admin'}, {'x_a'}),
    (ON + IGNORED + 'builder, other\n', {'builder'}, set()),
    # One in upper case is nobody's, as in Glance.
    (ON + IGNORED + 'Admin\n', {'admin'}, {'x_a'}),
    # The plugin is off.
    (GROUP + 'inject = x_a:1\n', {'member'}, set()),
])
def test_whoever_has_no_ignored_role_gets_the_properties(
        load, text, roles, injected):
    found = load(text)
    assert found.names(roles) == injected
    assert found.enabled is (ON in text)


def test_nothing_is_injected_without_files():
    assert metadata_injection.load([]).names({'member'}) == set()


def test_the_later_file_wins(load):
    found = load(
        ON + GROUP + 'inject = x_a:1\n',
        GROUP + 'inject = x_b:2\n')
    assert found.names({'member'}) == {'x_b'}


@pytest.mark.parametrize('plugins', [
    '["image_conversion", inject_image_metadata]',
    '["inject_image_metadata", "image_conversion"]'])
def test_the_plugin_may_be_one_of_several(load, plugins):
    assert load(
        f'[image_import_opts]\nimage_import_plugins = {plugins}\n'
        + GROUP + 'inject = x_a:1\n').names({'member'}) == {'x_a'}


def test_a_trait_is_cut_where_glance_cuts_it(load):
    found = load(ON + GROUP + 'inject = trait:HW_X:required\n')
    assert found.properties == {'trait': 'HW_X:required'}


def test_the_environment_is_novas_and_not_read(load, monkeypatch):
    monkeypatch.setenv('OS_INJECT_METADATA_PROPERTIES__INJECT', 'x_b:1')
    found = load(ON + GROUP + 'inject = x_a:1\n')
    assert found.names({'member'}) == {'x_a'}


@pytest.mark.parametrize('name', ['nova-api', 'glance', 'glance-api'])
def test_only_the_files_that_are_named_are_read(
        load, name, tmp_path, monkeypatch):
    # Where oslo.config looks for a program's files.
    for folder in (tmp_path, tmp_path / '.glance'):
        (folder / f'{name}.conf.d').mkdir(parents=True)
        (folder / f'{name}.conf.d' / '1.conf').write_text(
            GROUP + 'inject = x_b:1\n')
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.setattr(sys, 'argv', [f'/usr/bin/{name}'])
    assert load(ON + GROUP + 'inject = x_a:1\n').names({'member'}) == {'x_a'}


@pytest.mark.parametrize(('text', 'why'), [
    ('', 'is empty'),
    ('# only comments\n', 'is empty'),
    ('inject = x_a:1 in no section\n[broken', 'Section must be started'),
    ('\ufeff' + ON, 'begins with a byte order mark'),
    (ON + GROUP + 'inject = x_a\n', 'Value should be '),
    (ON + GROUP + 'inject = x_a:1,\n', 'Value should be '),
    (ON + GROUP + 'inject = x_a:"1,2"\n', 'Value should be '),
    (ON + GROUP + 'inject = x_a:$nothing\n', 'no such option nothing'),
    ('[image_import_opts]\nimage_import_plugins = inject_image_metadata\n',
     'Value should start with'),
])
def test_a_bad_file_refuses_the_start_with_one_line(load, text, why):
    with pytest.raises(errors.StartupError, match=why) as caught:
        load(text)
    assert '\n' not in str(caught.value)
    assert 'glance_image_import_files' in str(caught.value)
    assert '0.conf' in str(caught.value)


def test_what_is_wrong_in_one_of_several_files_is_told_with_all(
        load, tmp_path):
    with pytest.raises(errors.StartupError) as caught:
        load(ON, GROUP + 'inject = x_a\n')
    assert str(caught.value).startswith(
        '[image_override] glance_image_import_files: '
        f'{tmp_path}/0.conf, {tmp_path}/1.conf: ')


def test_a_missing_second_file_refuses_the_start(tmp_path, load):
    (tmp_path / 'first.conf').write_text(ON)
    with pytest.raises(errors.StartupError, match=r'second\.conf.*No such'):
        metadata_injection.load([str(tmp_path / 'first.conf'),
                        str(tmp_path / 'second.conf')])


@pytest.mark.parametrize(('injected', 'said'), [
    ('hw_disk_bus', 'hw_disk_bus'),
    ('vmware_adaptertype', 'vmware_adaptertype, which is hw_disk_bus too,')])
def test_a_refusal_says_which_name_is_injected(injected, said):
    (problem,) = refusals({'hw_disk_bus': 'ide'}, {injected: 'x'})
    assert problem == errors.Problem(
        'hw_disk_bus', errors.INJECTED,
        f"this cloud's image service sets {said} on the images that you "
        'import')


def refusals(overrides, injected):
    """Return the problems of a user to whose images INJECTED is added."""
    enforcer = enforcer_module.Enforcer(
        catalog_module.running(), allowed=['*'],
        injection=metadata_injection.Injection(
            injected, enabled=True, configured=True))
    return tuple(enforcer.refusals(MEMBER, overrides_of(overrides), [{}]))


def test_what_is_not_injected_is_not_refused():
    assert refusals({'hw_disk_bus': 'ide'}, {'os_type': 'x'}) == ()
