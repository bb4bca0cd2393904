"""``check`` reads the files and folders that the services read.

Of what a command line names, it reads what the shell means.
"""

import pytest

from testing import paste_config

FILES = {
    '.lists.conf.swp.conf': '[image_override]\ndenied_propertys = hw_pmu\n',
    'lists.conf': '[image_override]\nallowed_propertys = hw_boot_menu\n',
    'nova.conf': '[image_override]\nallowed_properties = hw_pmu\n'}


@pytest.fixture
def home(deployment, monkeypatch):
    """Return a home with a folder of files, of which oslo.config skips one."""
    monkeypatch.setenv('HOME', str(deployment.folder))
    (deployment.folder / 'nova.conf.d').mkdir()
    for name, text in FILES.items():
        deployment.write(f'nova.conf.d/{name}', text)
    deployment.write('nova.conf', '[image_override]\n')
    return deployment


@pytest.mark.parametrize('options', [
    ('--config-dir', '{}/nova.conf.d'),
    # No shell has expanded these.
    ('--config-dir=~/nova.conf.d', '--config-file=~/nova.conf')])
def test_a_misspelt_option_is_found_in_a_folder_of_files_too(home, options):
    status, (found,) = home.rows(
        'check', *(each.format(home.folder) for each in options))
    assert status == 1
    assert (found['Severity'], found['Code'], found['Subject']) == (
        'warning', 'O1', 'allowed_propertys')
    assert found['Why'].startswith(f'{home.folder}/nova.conf.d/lists.conf: ')


@pytest.mark.parametrize('name', ['nova.conf', 'nova.conf.d/lists.conf'])
def test_a_file_that_is_not_utf_8_is_named(home, name):
    path = home.write(
        name, '[image_override]\nallowed_properties = hw_\udce9\n')
    # Nor is there one that comes before it.
    assert home.run('check', '--config-dir', f'{home.folder}/nova.conf.d',
                    '--config-file', '/nowhere.conf') == (
        1, '', f"{path}: 'utf-8' codec can't decode byte 0xe9 in position 41: "
        'invalid continuation byte\n')


def test_a_file_that_is_named_is_the_one_in_the_current_folder(
        deployment, tmp_path, monkeypatch):
    deployment.write('nova.conf', '[image_override]\n')
    folder = tmp_path / 'other'
    folder.mkdir()
    paste_config.write(folder, paste_config.NOVA_APP)
    monkeypatch.chdir(folder)
    _, found = deployment.rows('check', '--api-paste', 'api-paste.ini')
    assert found[0]['Code'] == 'S4'
    assert str(folder) in found[0]['Why']
