"""The sed command that we print changes one line of Nova's api-paste.ini."""

import difflib
import pathlib
import pkgutil
import re
import subprocess

import pytest

from testing import paste_config

ROOT = pathlib.Path(__file__).parents[2]
PRINTED = (
    'docs/source/install/nova-api.rst', 'deploy/kolla/template-overrides.j2',
    'deploy/rhoso/README.md')


def commands():
    for name in PRINTED:
        found = re.findall(
            r"\bsed (?:-i )?'[^']+' /etc/nova/api-paste[.]ini",
            (ROOT / name).read_text())
        assert found, name
        for command in found:
            yield pytest.param(command, id=f'{name}, {command[:6]}')


@pytest.mark.parametrize('command', commands())
def test_the_installed_novas_file_names_ours_and_differs_in_nothing_else(
        command, tmp_path):
    path = pathlib.Path(paste_config.write(tmp_path, paste_config.NOVA_APP))
    before = path.read_text()
    printed = subprocess.run(
        ['sh', '-c', command.replace('/etc/nova', str(tmp_path))],
        check=True, capture_output=True, text=True).stdout
    after = path.read_text() if ' -i ' in command else printed
    assert [line for line in difflib.ndiff(
        before.splitlines(), after.splitlines()) if line[0] in '+-'] == [
        f'- paste.app_factory = {paste_config.NOVA_APP}',
        f'+ paste.app_factory = {paste_config.APP}']


def test_what_it_names_is_the_application():
    assert callable(pkgutil.resolve_name(paste_config.APP))
