"""The one folder in which the cloud keeps everything, and its ports."""

import os
import pathlib
import secrets
import socket

from testing.deployment import machine

#: The checkout.
ROOT = pathlib.Path(__file__).parents[2]

#: Ports of loopback.
PORTS = {
    'keystone': 18500, 'glance': 18292, 'placement': 18778,
    'neutron': 18696, 'nova-api': 18774, 'nova-api-plain': 18775,
    'nova-api-1': 18776, 'nova-api-2': 18777, 'nova-metadata': 18779,
    'rabbitmq': 18567, 'rabbitmq-dist': 18568, 'epmd': 18436,
    'web': 18080, 'barbican': 18311, 'ceph': 18789, 'cinder': 18877,
    'heat': 18004,
    'openflow-compute1': 18633, 'openflow-compute2': 18634,
    'openflow-compute3': 18635, 'galera-1': 18640, 'galera-2': 18642,
    'galera-3': 18644,
}

# sun_path of unix(7), less the ending zero and MariaDB's file name.
_FOLDER_MAX = 107 - len('/mariadb-2/socket')


class State:
    """Paths, secrets and ports of one cloud.

    :ivar folder: the state folder; closed to everybody else
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder.resolve()
        if len(str(self.folder)) > _FOLDER_MAX:
            raise machine.Unable(
                f'the path of the state folder is longer than {_FOLDER_MAX} '
                'characters, too long for a socket: name another one in '
                'CLOUD_STATE')
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)

    @classmethod
    def default(cls) -> 'State':
        """Return the state in ``CLOUD_STATE``, or .cloud in the checkout."""
        return cls(pathlib.Path(os.environ.get('CLOUD_STATE')
                                or ROOT / '.cloud'))

    def file(self, *parts: str) -> pathlib.Path:
        """Return a path in the folder, whose parent exists."""
        path = self.folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def subfolder(self, *parts: str) -> pathlib.Path:
        """Return a folder inside the folder, which exists."""
        path = self.folder.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, text: str, *parts: str) -> pathlib.Path:
        """Write a file, and return its path."""
        path = self.file(*parts)
        path.write_text(text)
        return path

    def secret(self, name: str) -> str:
        """Return the password of that name; made when first asked for."""
        path = self.file('secrets', name)
        if not path.exists():
            path.write_text(secrets.token_hex(16))
        return path.read_text()


def url(service: str, path: str = '') -> str:
    """Return the address of a service."""
    return f'http://127.0.0.1:{PORTS[service]}{path}'


def listening(service: str) -> bool:
    """Return whether somebody listens on the port of a service."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(('127.0.0.1', PORTS[service])) == 0


def check_ports() -> None:
    """Check that the ports are free.

    :raises machine.Unable: naming a port that somebody else uses
    """
    for service, port in PORTS.items():
        if listening(service):
            raise machine.Unable(
                f'port {port} for {service} is in use by a process that is '
                'not this cloud\'s')
