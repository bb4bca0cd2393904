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
        """Give it Debian's binding of libvirt, which needs no build."""
        target = pathlib.Path(sysconfig.get_path('platlib', 'venv', {
            'base': str(self.prefix), 'platbase': str(self.prefix)}))
        for source in pathlib.Path('/usr/lib/python3/dist-packages').glob(
                'libvirt*.*'):
            link = target / source.name
            if source.suffix in ('.py', '.so') and not link.exists():
                link.symlink_to(source)


#: The one that runs this, which has every service.
OWN = Installation(pathlib.Path(sys.prefix))
