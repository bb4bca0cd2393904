"""Where services are installed: environments of Python."""

import pathlib
import sys
import sysconfig


class Installation:
    """One environment.

    :param prefix: its folder
    :ivar bin: its commands
    :ivar etc: files that services ship
    :ivar python: its Python
    """

    def __init__(self, prefix: pathlib.Path) -> None:
        self.prefix = prefix
        self.bin = prefix / 'bin'
        self.etc = prefix / 'etc'
        self.python = self.bin / 'python'

    def link_bindings(self) -> None:
        """Give it Debian's bindings of libvirt and libosinfo."""
        target = pathlib.Path(sysconfig.get_path('platlib', 'venv', {
            'base': str(self.prefix), 'platbase': str(self.prefix)}))
        packages = pathlib.Path('/usr/lib/python3/dist-packages')
        for pattern in ('gi', 'libvirt*.py', 'libvirt*.so'):
            for source in packages.glob(pattern):
                link = target / source.name
                if not link.exists():
                    link.symlink_to(source)


#: The one that runs this, which has every service.
OWN = Installation(pathlib.Path(sys.prefix))
