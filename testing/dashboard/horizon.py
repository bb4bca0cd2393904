"""Horizon from PyPI with the plugin, as a process.

Needs nothing but the standard library: whoever starts it may have Nova or not.
Nothing is written into the environment.
"""

import collections.abc
import contextlib
import http.client
import os
import pathlib
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).parents[2]

#: The environment that has it.
ENVIRONMENT = ROOT / os.environ.get('DASHBOARD', '.venv/dashboard-27')

#: Seconds that Horizon may take to answer.
PATIENCE = 120

#: A deployer copies or links the file of ``enabled/``; this adds the folder.
SETTINGS = '''\
import openstack_dashboard.local.enabled
import nova_image_override_dashboard.enabled

openstack_dashboard.local.enabled.__path__.extend(
    nova_image_override_dashboard.enabled.__path__)

DEBUG = False
ALLOWED_HOSTS = ['127.0.0.1', 'localhost']
SECRET_KEY = 'of a demo'
LOCAL_PATH = {folder!r}
STATIC_ROOT = {static!r}
OPENSTACK_KEYSTONE_URL = {keystone!r}
OPENSTACK_KEYSTONE_MULTIDOMAIN_SUPPORT = False
SESSION_ENGINE = 'django.contrib.sessions.backends.cache'
CACHES = {{'default': {{
    'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}}}
# The fake of Cinder keeps no volume that somebody makes.
LAUNCH_INSTANCE_DEFAULTS = {{'create_volume': False}}
COMPRESS_ENABLED = True
COMPRESS_OFFLINE = True
LOGGING = {{
    'version': 1, 'disable_existing_loggers': False,
    'handlers': {{'log': {{'class': 'logging.StreamHandler'}}}},
    'root': {{'handlers': ['log'], 'level': 'WARNING'}}}}
'''


class Failed(Exception):
    """Horizon does not run; the message has its output."""


def make_static(folder: pathlib.Path) -> pathlib.Path:
    """Collect and compress Horizon's static files, the plugin's among them.

    :param folder: for these files
    :raises Failed: it cannot be done
    """
    static = folder / 'static'
    environment = _environment(folder, static, 'http://127.0.0.1')
    for command in (['collectstatic', '--noinput'], ['compress', '--force']):
        done = subprocess.run(
            [ENVIRONMENT / 'bin' / 'python', '-W', 'ignore', '-m', 'django',
             *command], env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise Failed(f'{command[0]} fails:\n{done.stdout[-4000:]}')
    return static


@contextlib.contextmanager
def running(
    folder: pathlib.Path, keystone: str, static: pathlib.Path,
    settings: str = '',
) -> collections.abc.Iterator[str]:
    """Run Horizon for the duration of the context.

    :param folder: for its settings, and its log (``log``)
    :param keystone: URL of Keystone, with ``/v3``
    :param static: what :func:`make_static` returned
    :param settings: lines of its settings besides SETTINGS
    :returns: Horizon's own URL
    :raises Failed: it does not start
    """
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    environment = _environment(folder, static, keystone, settings)
    with (folder / 'log').open('w') as log:
        process = subprocess.Popen(
            [ENVIRONMENT / 'bin' / 'python', '-W', 'ignore', '-m', 'django',
             'runserver', '--insecure', '--noreload', f'127.0.0.1:{port}'],
            env=environment, stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT)
    try:
        _wait(process, port, folder / 'log')
        yield f'http://127.0.0.1:{port}'
    finally:
        process.terminate()
        process.wait(60)


def _wait(
    process: subprocess.Popen[bytes], port: int, log: pathlib.Path,
) -> None:
    """Wait until Horizon answers."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        asking = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
        try:
            asking.request('GET', '/auth/login/')
            status = asking.getresponse().status
        except OSError:
            time.sleep(0.2)
            continue
        finally:
            asking.close()
        if status == http.client.OK:
            return
        raise Failed(f'Horizon answers {status}:\n{_end_of(log)}')
    raise Failed(f'Horizon does not answer:\n{_end_of(log)}')


def _end_of(log: pathlib.Path) -> str:
    return log.read_text()[-4000:]


def _environment(
    folder: pathlib.Path, static: pathlib.Path, keystone: str,
    settings: str = '',
) -> dict[str, str]:
    """Write the settings; return the environment of a process with them.

    A package ``local`` that is found before anything else is taken for
    Horizon's own (openstack_dashboard/settings.py).
    """
    local = folder / 'local'
    local.mkdir(parents=True, exist_ok=True)
    (local / '__init__.py').touch()
    (local / 'local_settings.py').write_text(SETTINGS.format(
        folder=str(folder), static=str(static), keystone=keystone) + settings)
    return {'PATH': os.environ['PATH'], 'HOME': str(folder),
            'LANG': 'C.UTF-8', 'PYTHONPATH': str(folder),
            'PYTHONPYCACHEPREFIX': str(ROOT / '.venv' / 'pycache'),
            'DJANGO_SETTINGS_MODULE': 'openstack_dashboard.settings'}
