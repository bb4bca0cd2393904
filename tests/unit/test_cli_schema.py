"""``nova-image-override schema``, as an operator runs it."""


from nova import version as nova_version
import pytest

from nova_image_override import versions
from nova_image_override.cmd import published_schema as schema_command
from nova_image_override.cmd import shell

RELEASE = nova_version.version_string().split('.')[0]


@pytest.mark.parametrize('version', versions.VERSIONS, ids=str)
def test_it_prints_the_version_that_is_asked_for(capsys, version):
    assert shell.main(['schema', '--api-version', str(version)]) == 0
    assert capsys.readouterr().out == schema_command.text(version)


def test_it_writes_every_version_under_the_running_releases_name(
        capsys, tmp_path):
    assert shell.main(['schema', '--write', str(tmp_path)]) == 0
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written == {
        f'{version}-nova-{RELEASE}.json': schema_command.text(version)
        for version in versions.VERSIONS}
    assert capsys.readouterr().out.split() == [
        str(tmp_path / schema_command.file_name(v))
        for v in versions.VERSIONS]


@pytest.mark.parametrize('version', ['0.9', '1.3', 'latest', ''])
def test_a_version_that_does_not_exist_is_an_error(capsys, version):
    with pytest.raises(SystemExit) as caught:
        shell.main(['schema', '--api-version', version])
    assert caught.value.code == 2
    assert "1.0, 1.1, 1.2" in capsys.readouterr().err.replace("'", '')
