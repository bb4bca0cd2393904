"""``check`` reads folders of files as the services do.

Of what a command line names, it reads what the shell means.
"""

from testing import paste_config


def test_a_misspelt_option_is_found_in_a_folder_of_files_too(deployment):
    deployment.write('nova.conf', """
        [image_override]
        allowed_properties = hw_pmu
        """)
    folder = deployment.folder / 'nova.conf.d'
    folder.mkdir()
    (folder / 'lists.conf').write_text(
        '[image_override]\nallowed_propertys = hw_boot_menu\n')
    status, (found,) = deployment.rows('check', '--config-dir', str(folder))
    assert status == 1
    assert (found['Severity'], found['Code'], found['Subject']) == (
        'warning', 'O1', 'allowed_propertys')


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
