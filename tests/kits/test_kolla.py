"""Kolla renders the images, Kolla-Ansible merges nova.conf: their own code."""

import configparser
import json
import re

import pytest

from tests.kits import kit
from tests.kits import kolla


@pytest.fixture(scope='module')
def dockerfiles(tmp_path_factory):
    """Return the texts of the Dockerfiles by image."""
    return {name: path.read_text() for name, path in kolla.render(
        tmp_path_factory.mktemp('kolla'), kolla.OVERRIDES).items()}


def test_every_image_of_nova_gets_the_package_with_nova_itself(dockerfiles):
    (line,) = re.findall(
        r'^ *&& (.* install .* /nova\b.*) \\$', dockerfiles['nova-base'],
        re.M)
    assert any('/nova_image_override-' in each for each in line.split())


def test_the_image_of_nova_api_has_the_line_in_the_file_of_its_nova(
        dockerfiles):
    line = 'APIRouterV21.factory/\' /etc/nova/api-paste.ini'
    assert line in dockerfiles['nova-api']
    # This is where nova-base has copied it to.
    assert 'cp -r /nova/etc/nova/* /etc/nova/' in dockerfiles['nova-base']
    for name in set(dockerfiles) - {'nova-api'}:
        assert line not in dockerfiles[name], name


def test_the_image_of_nova_compute_starts_the_other_command(dockerfiles):
    link = 'ln -sf nova-compute-image-override /var/lib/kolla/venv/bin/'
    assert f'{link}nova-compute\n' in dockerfiles['nova-compute']
    # As root, before the image switches to nova.
    text = dockerfiles['nova-compute']
    assert text.index(link) < text.index('USER nova')


def roles():
    return kit.program('kolla-build').parents[1] / (
        'share/kolla-ansible/ansible')


def test_kolla_ansible_starts_it_by_the_name_that_is_linked():
    template = roles() / 'roles/nova-cell/templates/nova-compute.json.j2'
    assert json.loads(template.read_text().split('\n')[1].strip(' ,').join(
        '{}')) == {'command': 'nova-compute'}


def test_kolla_ansible_runs_nova_api_where_nova_ignores_api_paste_config():
    template = roles() / 'roles/nova/templates/nova-api.json.j2'
    assert '"command": "uwsgi ' in template.read_text()


def test_kolla_ansible_merges_the_lists_into_its_nova_conf(tmp_path):
    """In the order of roles/nova/tasks/config.yml."""
    theirs = tmp_path / 'theirs.conf'
    theirs.write_text('[DEFAULT]\ndebug = False\n\n[wsgi]\n'
                      'api_paste_config = /etc/nova/api-paste.ini\n')
    merged = tmp_path / 'nova.conf'
    play = [{
        'hosts': 'localhost', 'gather_facts': False, 'tasks': [{
            'merge_configs': {
                'sources': [str(theirs),
                            str(kit.DEPLOY / 'kolla' / 'nova-api.conf')],
                'dest': str(merged)}}]}]
    (tmp_path / 'play.yml').write_text(json.dumps(play))
    kit.run(
        kit.program('ansible-playbook'), '-c', 'local', '-i', 'localhost,',
        tmp_path / 'play.yml', cwd=tmp_path, env={
            'ANSIBLE_ACTION_PLUGINS': str(roles() / 'action_plugins'),
            'ANSIBLE_LOCALHOST_WARNING': 'false',
            'HOME': str(tmp_path), 'LC_ALL': 'C.UTF-8',
            'PATH': f'{kit.program("ansible-playbook").parent}:/usr/bin:/bin',
        })
    parser = configparser.ConfigParser()
    parser.read(merged)
    kit.assert_a_list_that_nova_api_takes(
        parser['image_override']['allowed_properties'])
    assert parser['DEFAULT']['debug'] == 'False'


def test_only_the_two_images_have_the_tag():
    said = re.findall(r'^ +(\w+_tag): ',
                      (kit.DEPLOY / 'kolla' / 'README.md').read_text(), re.M)
    known = {
        name: role for role in ('nova', 'nova-cell') for name in re.findall(
            r'^(\w+_tag): ', (roles() / f'roles/{role}/defaults/main.yml'
                              ).read_text(), re.M)}
    assert {name: known.get(name) for name in said} == {
        'nova_api_tag': 'nova', 'nova_compute_tag': 'nova-cell'}
