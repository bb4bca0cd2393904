"""Debian packages that are unpacked, and not installed."""

import collections.abc
import pathlib
import shutil
import subprocess


def mirror(*conditions: str) -> str:
    """Return where this machine has its packages from.

    :param conditions: on the list of packages (apt-get(8), indextargets)
    """
    return subprocess.run(
        ['apt-get', 'indextargets', '--format', '$(SITE)', *conditions,
         'Created-By: Packages'], check=True, capture_output=True, text=True
    ).stdout.split()[0]


def apt(
    command: str, *names: str, folder: pathlib.Path,
    options: collections.abc.Sequence[str] = (),
) -> None:
    """Run apt-get in a folder."""
    subprocess.run(['apt-get', '--quiet', *options, command, *names],
                   check=True, cwd=folder, capture_output=True)


def unpack(
    names: collections.abc.Iterable[str], root: pathlib.Path,
    options: collections.abc.Sequence[str] = (),
) -> None:
    """Download packages and unpack them into ROOT, unless that was done.

    :param options: of apt-get
    """
    if root.exists():
        return
    folder, partial = (
        root.with_name(f'{root.name}.{each}') for each in ('download', 'part'))
    for each in (folder, partial):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir()
    apt('download', *names, folder=folder, options=options)
    for package in folder.glob('*.deb'):
        subprocess.run(
            ['dpkg-deb', '--extract', package, partial], check=True)
    partial.rename(root)
