"""Dockerfiles, as kolla-build writes them."""

import pathlib
import shutil

from tests.kits import kit

OVERRIDES = kit.DEPLOY / 'kolla' / 'template-overrides.j2'

#: What nova's images are made from; Kolla would render all images.
FAMILY = ('base', 'nova', 'openstack-base')


def render(
    folder: pathlib.Path, *overrides: pathlib.Path,
) -> dict[str, pathlib.Path]:
    """Return the Dockerfiles by image.

    :param folder: where they are written
    :param overrides: files of ``--template-override``
    """
    shipped = package('kolla') / 'docker'
    for name in FAMILY:
        shutil.copytree(shipped / name, folder / 'docker' / name)
    shutil.copy(shipped / 'macros.j2', folder / 'docker')
    kit.run(
        kit.program('kolla-build'), '--template-only', '--base', 'debian',
        '--base-image', 'localhost/kolla-debian', '--base-tag', 'test',
        '--namespace', 'localhost/kolla', '--tag', 'test',
        '--docker-dir', folder / 'docker', '--work-dir', folder / 'work',
        *(f'--template-override={path}' for path in overrides),
        '^nova-')
    return {path.parent.name: path
            for path in (folder / 'work').rglob('Dockerfile')}


def package(name: str) -> pathlib.Path:
    """Return the folder of one of Kolla's packages."""
    python = kit.program('kolla-build').parent / 'python'
    return pathlib.Path(kit.run(
        python, '-c', f'import {name}; print(list({name}.__path__)[0])'
    ).strip())
