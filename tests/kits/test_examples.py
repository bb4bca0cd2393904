"""Examples whose tools cannot be run: their content is compared with what the
package has.
"""

import configparser
import fnmatch
import re

import pytest
import yaml

from nova_image_override import conf
from testing import paste_config
from tests import environments
from tests.kits import kit


def scripts():
    parser = configparser.ConfigParser()
    parser.read(environments.ROOT / 'setup.cfg')
    return {line.partition('=')[0].strip() for line in parser[
        'options.entry_points']['console_scripts'].splitlines() if line}


def ini(text):
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


def openstack_ansible():
    said = kit.read('openstack-ansible/user_variables.yml')
    return (said['nova_api_paste_ini_overrides'],
            said['nova_nova_conf_overrides'])


def openstack_helm():
    said = kit.read('openstack-helm/values.yaml')['conf']
    return said['paste'], said['nova']


def rhoso():
    said = kit.read('rhoso/controlplane.yaml')['spec']['nova']['template'][
        'apiServiceTemplate']
    return (ini(said['defaultConfigOverwrite']['api-paste.ini']),
            ini(said['customServiceConfig']))


@pytest.mark.parametrize('example', [openstack_ansible, openstack_helm, rhoso],
                         ids=lambda example: example.__name__)
def test_line_and_options_are_those_that_nova_api_takes(example):
    pipeline, options = example()
    assert pipeline == {kit.SECTION: {kit.KEY: paste_config.APP}}
    (group,) = options
    assert group == conf.GROUP.name
    assert set(options[group]) <= {option.name for option in conf.OPTS}
    kit.assert_a_list_that_nova_api_takes(options[group]['allowed_properties'])


def test_openstack_ansible_starts_a_command_that_is_installed():
    unit = kit.read('openstack-ansible/user_variables.yml')[
        'nova_compute_init_overrides']['Service']
    assert unit['ExecStart'].rpartition('/')[2] in scripts()


@pytest.mark.parametrize(
    'path', ['openstack-helm/Dockerfile', 'rhoso/Containerfile'])
def test_images_link_a_command_that_is_installed(path):
    text = (kit.DEPLOY / path).read_text()
    linked = re.search(r'ln -sf (\S+) \S*nova-compute"?;? ?', text)[1]
    assert linked in scripts()
    (shell,) = re.findall(r'^RUN ((?:.*\\\n)*.*)', text, re.M)
    kit.run('bash', '-n', '-c', shell)


@pytest.mark.parametrize('path', sorted(
    each for each in kit.DEPLOY.rglob('*')
    if each.is_file() and 'pip' in each.read_text()
    and each.suffix != '.md'), ids=lambda path: path.parent.name)
def test_kits_install_the_wheel_that_make_packages_builds(path):
    metadata = configparser.ConfigParser()
    metadata.read(environments.ROOT / 'setup.cfg')
    wheel = (f'nova_image_override-{metadata["metadata"]["version"]}'
             '-py3-none-any.whl')
    named = re.findall(r'nova_image_override-[^\s\']*', path.read_text())
    assert named
    assert all(fnmatch.fnmatch(wheel, each) for each in named)


def test_puppet_has_both_lines():
    text = (kit.DEPLOY / 'puppet' / 'image_override.pp').read_text()
    for factory in (paste_config.APP, paste_config.NOVA_APP):
        assert f"'{factory}'" in text
    assert f'{kit.SECTION}/{kit.KEY}' in text


@pytest.mark.parametrize(
    'path', sorted(kit.DEPLOY.glob('**/*.y*ml')), ids=lambda path: path.name)
def test_every_file_of_yaml_can_be_read(path):
    assert yaml.safe_load(path.read_text())


@pytest.mark.parametrize(
    'path', kit.readmes(), ids=lambda path: path.parent.name)
def test_every_kit_is_one_screen_and_tells_the_way_back(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 48
    assert '## The way back' in text or 'Not possible' in text
    overview = (kit.DEPLOY / 'README.md').read_text()
    assert f'({path.relative_to(kit.DEPLOY)})' in overview
    # The files that it names exist.
    for name in re.findall(r'\bdeploy/[\w/.-]*\w', text):
        assert (environments.ROOT / name).exists(), name
