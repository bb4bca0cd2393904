"""Images that buildah builds, and what runs in them.

They begin with a Debian that debootstrap makes, and stay in ``.venv/images``:
the next run takes what has not changed from there.
"""

import collections.abc
import contextlib
import os
import pathlib
import re
import shutil
import signal
import typing

from tests import environments
from tests.kits import kit
from tests.kits import web_servers

FOLDER = environments.ROOT / '.venv' / 'images'

#: What the images of other tools are like.
CONTAINERFILE = pathlib.Path(__file__).parent / 'Containerfile'

#: Debian's release, which Kolla's images begin with too.
RELEASE = 'trixie'
DEBIAN = f'localhost/debian:{RELEASE}'

#: Containers have no namespaces of their own: this may be in one itself.
ENVIRONMENT = {**os.environ, 'BUILDAH_ISOLATION': 'chroot'}

#: Serves a WSGI script on loopback, as Apache and uWSGI load one.
SCRIPT_SERVER = '''\
import runpy
import sys
from wsgiref import simple_server

script, port = sys.argv[1:]
del sys.argv[1:]
application = runpy.run_path(script, run_name='server')['application']
simple_server.make_server(
    '127.0.0.1', int(port), application).serve_forever()
'''

STORAGE = (f'--root={FOLDER}/storage', f'--runroot={FOLDER}/run')


def buildah(*arguments: object) -> str:
    """Run buildah with the images' storage; return what it prints."""
    return kit.run('buildah', *STORAGE, *map(str, arguments), env=ENVIRONMENT)


def debian() -> None:
    """Make the image that all others begin with, unless it is there."""
    if DEBIAN in buildah('images', '--format={{.Name}}:{{.Tag}}').split():
        return
    root = FOLDER / 'debian'
    root.parent.mkdir(parents=True, exist_ok=True)
    kit.run('sh', '-euc', f'. tools/debian_root.sh; make_root {RELEASE} {root}',
            cwd=environments.ROOT)
    # With what this machine needs to reach its package index.
    shutil.copy('/etc/ssl/certs/ca-certificates.crt', root / 'etc' / 'pip.crt')
    index = os.environ.get('PIP_INDEX_URL')
    (root / 'etc' / 'pip.conf').write_text('[global]\ncert = /etc/pip.crt\n' + (
        f'index-url = {index}\n' if index else ''))
    packed = FOLDER / 'debian.tar'
    kit.run('tar', '-C', root, '-cf', packed, '.')
    container = buildah('from', 'scratch').strip()
    buildah('add', '--quiet', container, packed, '/')
    buildah('commit', '--quiet', '--rm', container, DEBIAN)
    packed.unlink()


def build(
    name: str, containerfile: pathlib.Path, context: pathlib.Path,
    *options: str,
) -> str:
    """Build an image; return its name.

    :param context: where COPY finds files
    """
    buildah('build', '--layers', '--pull=never', f'--tag={name}',
            f'--file={containerfile}', *options, context)
    return name


def base(target: str, release: str = '', python: str = '') -> str:
    """Build an image that another tool's are like; return its name.

    :param target: of the Containerfile beside this file
    :param release: of Nova, such as ``32``
    :param python: release of Python, one of pyenv's
    """
    context = FOLDER / 'context'
    shutil.rmtree(context, ignore_errors=True)
    context.mkdir()
    if release:
        (context / 'pins.txt').write_text(_pins(release))
        prefix = kit.run('pyenv', 'prefix', python).strip()
        kit.run('tar', '-C', prefix, '-cf', context / 'python.tar',
                '--sort=name', '--exclude=site-packages', '--exclude=test',
                '--exclude=__pycache__', 'bin', 'include', 'lib')
    return build(f'localhost/{target}:test', CONTAINERFILE, context,
                 f'--target={target}')


def _pins(release: str) -> str:
    # As tools/environment.sh has them: of their own, or with another Nova.
    pins = environments.ROOT / 'constraints'
    if (own := pins / f'nova-{release}.txt').exists():
        return own.read_text()
    version = re.findall(rf'^NOVA_{release} := (.+)$', (
        environments.ROOT / 'Makefile').read_text(), re.M)[0]
    return re.sub('^nova==.*', f'nova=={version}',
                  (pins / 'nova-34.txt').read_text(), flags=re.M)


class Container:
    """A container of an image.

    :ivar root: its file system
    """

    def __init__(self, name: str):
        self.name = name
        self.root = pathlib.Path(buildah('mount', name).strip())

    def run(self, *command: str, user: str = 'root') -> str:
        """Run a command that must succeed; return what it prints."""
        return buildah('run', f'--user={user}', self.name, '--', *command)

    def configure(self, identity: str, user: str = 'nova') -> None:
        """Write nova.conf, and create the databases of nova-api."""
        conf = web_servers.nova_conf(
            pathlib.Path('/var/lib/nova'), identity, web_servers.ALLOWED)
        (self.root / 'etc' / 'nova' / 'nova.conf').write_text(conf)
        web_servers.create_databases(self.root / 'var' / 'lib' / 'nova')
        self.run('chown', '-R', user, '/var/lib/nova')

    def assert_nova_api_would_start(self) -> None:
        """Fail unless the operators' check says so."""
        said = self.run('sh', '-c', 'nova-image-override check 2>&1')
        assert 'nova-api would start' in said, said

    def assert_discovery(self, command: collections.abc.Sequence[str],
                         port: int, log: pathlib.Path) -> None:
        """Fail unless nova-api, started by COMMAND, says what is allowed."""
        url = f'http://127.0.0.1:{port}'
        # All processes end with the first one, which ignores SIGTERM.
        with web_servers.running(
                ['unshare', '--pid', '--mount-proc', '--kill-child',
                 'buildah', *STORAGE, 'run', '--user=nova', self.name, '--',
                 *command], url, log, ENVIRONMENT, signal.SIGKILL):
            web_servers.assert_discovery(url)


@contextlib.contextmanager
def container(name: str) -> typing.Iterator[Container]:
    """Make a container of an image, and remove it in the end."""
    made = buildah('from', '--pull=never', name).strip()
    try:
        yield Container(made)
    finally:
        buildah('rm', made)
