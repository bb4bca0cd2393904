"""Tempest finds the plugin, its options and its tests."""

import configparser
import os
import pathlib
import re
import subprocess
import sys
import sysconfig

from oslo_config import cfg
import pytest
from tempest import config
from tempest.test_discover import plugins

from nova_image_override_tempest_plugin import config as options
from nova_image_override_tempest_plugin import plugin as plugin_module

BIN = pathlib.Path(sysconfig.get_path('scripts'))
PACKAGE = pathlib.Path(plugin_module.__file__).parent


def run(*command, cwd=None):
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True,
        text=True, timeout=300,
        # stestr lists tests in the Python that this names; make names one.
        env={**os.environ, 'PYTHON': sys.executable})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def plugin():
    """The plugin, as Tempest loads it by its entry point."""
    manager = plugins.TempestTestPluginManager()
    return manager.ext_plugins['image_props_override'].obj


@pytest.fixture
def conf(plugin):
    """Tempest's options and the plugin's, and nobody else's."""
    result = cfg.ConfigOpts()
    config.register_opt_group(
        result, config.service_available_group, config.ServiceAvailableGroup)
    plugin.register_opts(result)
    return result


@pytest.fixture
def written(tmp_path, conf):
    """Return the options as a tempest.conf sets them."""
    def read(text):
        (tmp_path / 'tempest.conf').write_text(text)
        conf(['--config-file', str(tmp_path / 'tempest.conf')], project='')
        return conf.image_props_override

    return read


@pytest.fixture(scope='module')
def names(tmp_path_factory):
    """The plugin's tests, as Tempest lists them."""
    folder = tmp_path_factory.mktemp('tempest')
    (folder / 'tempest.conf').write_text('')
    run(BIN / 'stestr', 'init', cwd=folder)
    listed = run(
        BIN / 'tempest', 'run', '--config-file', 'tempest.conf',
        '--list-tests', '--regex', f'^{PACKAGE.name}', cwd=folder)
    return re.findall(rf'^{PACKAGE.name}\S+', listed, re.M)


def written_tests():
    """Return every test that is in a file: its file and its name."""
    return {
        f'{path.stem}.{name}' for path in PACKAGE.rglob('test_*.py')
        for name in re.findall(r'^    def (test_\w+)', path.read_text(), re.M)}


def test_tempest_knows_the_plugin_by_its_entry_point(plugin):
    assert isinstance(plugin, plugin_module.ImagePropsOverridePlugin)
    assert 'image_props_override' in run(BIN / 'tempest', 'list-plugins')


def test_a_cloud_needs_no_option(written, conf):
    group = written('')
    assert group.overrides['hw_boot_menu'] == 'true'
    assert group.guest_overrides == {}
    assert group.rebuild
    assert conf.service_available.image_props_override
    for pattern in group.guest_pattern, group.guest_pattern_without:
        re.compile(pattern)


def test_options_are_read_from_their_group(written, conf):
    group = written('''
[service_available]
image_props_override = false
[image_props_override]
guest_overrides = hw_disk_bus:scsi,hw_scsi_model:virtio-scsi
kernel_arguments = root=/dev/sda1 console=ttyAMA0
rebuild = false
''')
    assert group.guest_overrides == {
        'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi'}
    assert group.kernel_arguments == 'root=/dev/sda1 console=ttyAMA0'
    assert not group.rebuild
    assert not conf.service_available.image_props_override


@pytest.mark.parametrize(('name', 'value'), [
    ('rebuild', 'perhaps'), ('overrides', 'hw_pmu')])
def test_an_option_that_cannot_be_read_is_refused(written, name, value):
    with pytest.raises(cfg.ConfigFileValueError):
        getattr(written(f'[image_props_override]\n{name} = {value}\n'), name)


def test_every_option_is_in_the_sample_of_tempest(tmp_path):
    sample = tmp_path / 'sample.conf'
    run(BIN / 'oslo-config-generator', '--namespace', 'tempest.config',
        '--output-file', sample)
    text = sample.read_text()
    # What is in it is commented out; a sample must also be a file that works.
    configparser.ConfigParser(strict=False).read_string(text)
    _, _, ours = text.partition(f'[{options.GROUP.name}]\n')
    ours = ours.partition('\n[')[0]
    assert set(re.findall(r'^#(\w+) =', ours, re.M)) == {
        option.name for option in options.OPTIONS}
    assert '#image_props_override = true' in text


def test_every_option_says_what_it_means():
    for option in (*options.OPTIONS, options.AVAILABLE):
        assert option.help.endswith('.'), option.name


def test_tempest_runs_every_test_that_is_written(names):
    assert {'.'.join(name.partition('[')[0].split('.')[-3::2])
            for name in names} == written_tests()


def test_no_two_tests_have_one_id(names):
    ids = [re.search(r'id-[0-9a-f-]{36}', name).group() for name in names]
    assert len(set(ids)) == len(ids)
    run(BIN / 'check-uuid', '--package', PACKAGE.name, cwd=PACKAGE.parent)


def test_the_plugin_needs_nothing_of_nova(names):
    modules = {name.partition('[')[0].rsplit('.', 2)[0] for name in names}
    done = run(sys.executable, '-W', 'ignore', '-c',
               f'import sys, {", ".join(sorted(modules))}\n'
               'print(*sys.modules)')
    loaded = done.split()
    assert 'tempest' in loaded
    assert not {name.partition('.')[0] for name in loaded} & {
        'nova', 'oslo_policy', 'oslo_versionedobjects', 'os_traits'}
    assert {name for name in loaded if name.startswith('nova_image_override.')
            } <= {f'nova_image_override.{name}' for name in (
                'errors', 'versions', 'client', 'client.answers')}
