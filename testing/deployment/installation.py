"""Where services are installed: environments of Python, or Debian's packages.
"""

import pathlib
import sys
import sysconfig

# Where Debian's packages are; their files are in /etc.
_DEBIAN = pathlib.Path('/usr')


class Installation:
    """One environment, or /usr.

    :param prefix: its folder
    :ivar bin: its commands
    :ivar etc: files that services ship
    :ivar python: its Python
    """

    def __init__(self, prefix: pathlib.Path) -> None:
        self.prefix = prefix
        self.bin = prefix / 'bin'
        self.etc = (
            pathlib.Path('/etc') if prefix == _DEBIAN else prefix / 'etc')
        self.python = self.bin / 'python3'

    def link_bindings(self) -> None:
        """Give it Debian's bindings of libvirt, libosinfo and Ceph."""
        if self.prefix == _DEBIAN:
            return
        target = pathlib.Path(sysconfig.get_path('platlib', 'venv', {
            'base': str(self.prefix), 'platbase': str(self.prefix)}))
        packages = pathlib.Path('/usr/lib/python3/dist-packages')
        for pattern in ('gi', 'libvirt*.py', 'libvirt*.so', 'rados.*.so',
                        'rbd.*.so'):
            for source in packages.glob(pattern):
                link = target / source.name
                if not link.exists():
                    link.symlink_to(source)


#: The one that runs this, which has every service.
OWN = Installation(pathlib.Path(sys.prefix))
