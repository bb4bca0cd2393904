"""nova-api under Debian's uWSGI and Apache, with the examples in share/.

Paths, ports, users and numbers of processes are replaced.
"""

import os
import pathlib
import pwd
import subprocess
import sys
import tempfile

import pytest

from testing import wsgi_server
from tests import environments
from tests.kits import web_servers

EXAMPLES = environments.ROOT / 'share' / 'nova-image-override'

#: Where Debian keeps the servers' modules for its Python.
MODULES = pathlib.Path('/usr/lib/apache2/modules')
PLUGINS = pathlib.Path('/usr/lib/uwsgi/plugins')
PYTHON = f'{sys.version_info[0]}.{sys.version_info[1]}'

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not (
        (MODULES / f'mod_wsgi.so-{PYTHON}').exists()
        and (PLUGINS / 'python3_plugin.so').exists()),
    reason=f"needs root, and Debian's Apache and uWSGI for Python {PYTHON}: "
           '"make test-kits" installs them')

#: Debian's Python runs nova-api, with the libraries of Nova's environment.
PATHS = (str(environments.ROOT), str(pathlib.Path(pytest.__file__).parents[1]))


@pytest.fixture
def folder():
    """A folder that other users may read, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix='nova-api-') as path:
        os.chmod(path, 0o755)  # noqa: S103
        yield pathlib.Path(path)


@pytest.fixture
def identity():
    with wsgi_server.serving(web_servers.identity) as url:
        yield url


def replaced(text, **pairs):
    """Return TEXT with parts of an example replaced; it must have them."""
    for old, new in pairs.values():
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.fixture
def uwsgi(folder, identity):
    """Configure a nova-api for uWSGI; return the command, and its URL."""
    def uwsgi(allowed):
        web_servers.configure(folder, identity, allowed)
        (folder / 'api-paste.ini').rename(
            folder / 'api-paste-image-override.ini')
        port = web_servers.free_port()
        example = (EXAMPLES / 'nova-api-uwsgi.ini').read_text()
        paths = ''.join(f'pythonpath = {path}\n' for path in PATHS)
        (folder / 'uwsgi.ini').write_text(replaced(
            example, paths=('/etc/nova', str(folder)),
            port=('127.0.0.1:8774', f'127.0.0.1:{port}'),
            users=('uid = nova\ngid = nova\n', f'plugins = python3\n{paths}'),
            processes=('processes = 4', 'processes = 1')))
        return (['uwsgi-core', '--ini', str(folder / 'uwsgi.ini')],
                f'http://127.0.0.1:{port}')
    return uwsgi


#: The server's environment variables.
ENVIRONMENT = {'PATH': '/usr/sbin:/usr/bin'}


def test_uwsgi(uwsgi, folder):
    command, url = uwsgi(web_servers.ALLOWED)
    with web_servers.running(
            command, url, folder / 'uwsgi.log', ENVIRONMENT):
        web_servers.assert_discovery(url)


def test_uwsgi_ends_where_a_list_is_malformed(uwsgi, folder):
    command, _ = uwsgi('hw_disk_bus=virtio||scsi, hw_boot_menu=')
    # Its status is 0 if the signal for its end comes before the worker's.
    subprocess.run(
        command, env=ENVIRONMENT, timeout=300, check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = (folder / 'nova-api.log').read_text().splitlines()
    first, second, *novas = [line for line in log if ' CRITICAL ' in line]
    for ours, entry in (first, 'hw_disk_bus=virtio||scsi'), (
            second, 'hw_boot_menu='):
        assert f"nova-image-override: [image_override] allowed_properties: " \
            f"entry '{entry}': " in ours
    # What Nova itself says about any application that does not start.
    assert all(' CRITICAL nova [' in line for line in novas)
    assert any('StartupError' in line for line in novas)


MAIN = '''\
ServerName localhost
PidFile {folder}/apache.pid
Mutex file:{folder}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule wsgi_module {modules}/mod_wsgi.so
User {user}
ErrorLog {folder}/apache.log
LogFormat "%h %r %>s" combined
WSGISocketPrefix {folder}/wsgi
Include {folder}/nova-api.conf
'''


def test_apache(folder, identity):
    web_servers.configure(folder, identity, web_servers.ALLOWED)
    example = (EXAMPLES / 'nova-api-apache.conf').read_text()
    # The script is in a comment.
    (script,) = [line.lstrip('# ') for line in example.splitlines()
                 if line.startswith('#     ')]
    (folder / 'nova-api.wsgi').write_text(f'{script}\n')
    port = web_servers.free_port()
    user = 'www-data'
    (folder / 'nova-api.conf').write_text(replaced(
        example, port=('Listen 8774', f'Listen 127.0.0.1:{port}'),
        host=('*:8774', f'*:{port}'),
        users=('processes=4 threads=1 user=nova group=nova',
               f'processes=1 threads=1 user={user} group={user} '
               f'python-path={":".join(PATHS)}'),
        scripts=('/usr/share/nova', str(folder)),
        logs=('/var/log/apache2', str(folder))))
    (folder / 'apache.conf').write_text(MAIN.format(
        folder=folder, modules=MODULES, user=user))
    account = pwd.getpwnam(user)
    for path in [folder, *folder.iterdir()]:
        os.chown(path, account.pw_uid, account.pw_gid)
    url = f'http://127.0.0.1:{port}'
    with web_servers.running(
            ['apache2', '-d', str(folder), '-f',
             str(folder / 'apache.conf'), '-DFOREGROUND'], url,
            folder / 'output.log', {
                **ENVIRONMENT,
                # As in /etc/apache2/envvars.
                'OS_NOVA_CONFIG_DIR': str(folder)}):
        web_servers.assert_discovery(url)
