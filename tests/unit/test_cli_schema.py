"""``nova-image-override schema``, as an operator runs it."""

import json

from nova_image_override import versions
from nova_image_override.cmd import published_schema as schema_command
from nova_image_override.cmd import shell
from testing import release


def test_it_prints_the_newest_version(capsys):
    assert shell.main(['schema']) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed['title'] == f'image_props_override {versions.MAX}'
    assert 'hw_disk_bus' in printed['properties']


def test_it_writes_every_version_under_the_running_releases_name(
        capsys, tmp_path):
    assert shell.main(['schema', '--write', str(tmp_path)]) == 0
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written == {
        f'{version}-nova-{release.NUMBER}.json': schema_command.text(version)
        for version in versions.VERSIONS}
    assert capsys.readouterr().out.split() == [
        str(tmp_path / schema_command.file_name(v))
        for v in versions.VERSIONS]


def test_a_folder_that_does_not_exist_is_an_error(capsys, tmp_path):
    assert shell.main(['schema', '--write', str(tmp_path / 'no')]) == 1
    assert 'No such file' in capsys.readouterr().err
