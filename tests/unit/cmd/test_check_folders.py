"""``check`` reads folders of files as the services do."""


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
