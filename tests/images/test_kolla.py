"""Kolla's Dockerfiles with our override, built with Nova 34 on Debian 13.

They are Kolla's own, but for packages that nova-api does without and archives
that are not Debian's (``kolla-overrides.j2``). buildah builds them: Kolla would
have Docker or Podman do it.
"""

import pathlib
import re
import tarfile

import pytest
import webob.static

from testing import wsgi_server
from tests import environments
from tests.images import image
from tests.kits import kit
from tests.kits import kolla
from tests.kits import web_servers

RELEASE = '34'


def sources(folder):
    """Make the archives that kolla-build would fetch; return them by name."""
    pins = environments.ROOT / 'constraints' / f'nova-{RELEASE}.txt'
    with tarfile.open(folder / 'openstack-base-archive', 'w') as archive:
        archive.add(pins, 'requirements/upper-constraints.txt')
    (folder / 'plugins').mkdir()
    with tarfile.open(folder / 'plugins-archive', 'w') as archive:
        archive.add(folder / 'plugins', 'plugins')
    (version,) = re.findall('^nova==(.*)$', pins.read_text(), re.M)
    nova = image.FOLDER / f'nova-{version}.tar.gz'
    if not nova.exists():
        kit.run(environments.ROOT / f'.venv/nova-{RELEASE}/bin/python', '-m',
                'pip', 'download', '--quiet', '--no-deps', '--no-binary=:all:',
                '--no-build-isolation', f'--dest={nova.parent}',
                f'nova=={version}')
    (folder / 'nova-base-archive').symlink_to(nova)
    return {path.name: path for path in folder.glob('*-archive')}


@pytest.fixture(scope='module')
def images(debian, wheel, tmp_path_factory):
    """Build the images, in Kolla's order; return their names."""
    folder = tmp_path_factory.mktemp('kolla')
    image.base('kolla-debian')
    (folder / 'sources').mkdir()
    archives = sources(folder / 'sources')
    names = {}
    with wsgi_server.serving(webob.static.DirectoryApp(str(wheel))) as url:
        # As the README says: the URL of the wheel in place of the example's.
        ours = folder / 'template-overrides.j2'
        text = kolla.OVERRIDES.read_text()
        assert 'https://wheels.example.com' in text
        ours.write_text(text.replace('https://wheels.example.com', url))
        dockerfiles = kolla.render(
            folder, ours, pathlib.Path(__file__).parent / 'kolla-overrides.j2')
        for name in ('base', 'openstack-base', 'nova-base', 'nova-api',
                     'nova-compute'):
            context = dockerfiles[name].parent
            for archive in re.findall(
                    r'^ADD (\S+-archive) ', dockerfiles[name].read_text(),
                    re.M):
                (context / archive).write_bytes(
                    archives[archive].read_bytes())
            names[name] = image.build(
                f'localhost/kolla/{name}:test', dockerfiles[name], context)
    return names


def test_nova_api_starts_and_says_what_is_allowed(images, identity, log):
    with image.container(images['nova-api']) as container:
        container.configure(identity)
        container.assert_nova_api_would_start()
        port = web_servers.free_port()
        # Kolla-Ansible's nova-api-uwsgi.ini names the same module and plugin.
        container.assert_discovery(
            ['uwsgi-core', '--plugins', 'python3',
             '--virtualenv', '/var/lib/kolla/venv',
             '--module', 'nova.wsgi.osapi_compute:application',
             '--http-socket', f'127.0.0.1:{port}',
             '--need-app', '--lazy-apps', '--die-on-term'], port, log)


def test_nova_compute_is_the_other_command(images):
    with image.container(images['nova-compute']) as container:
        said = container.run('nova-compute', '--version', user='nova')
        assert said.startswith(f'{RELEASE}.'), said
