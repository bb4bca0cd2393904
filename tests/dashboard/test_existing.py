"""Existing servers, in a browser."""

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import ui

from tests.dashboard import wizard as wizard_module
from tests.dashboard.pages import OVERRIDES

TAB = '?tab=instance_details__image_props_override'
SAVE = '.image-props-save'


@pytest.fixture(autouse=True)
def _quiet(browser):
    yield
    assert browser.complaints() == []


def edit(browser, server):
    """Open the dialog from the tab; its rows are those of the wizard."""
    browser.open(f'/project/instances/{server}/{TAB}')
    browser.click('.image-props-edit')
    browser.find('.image-props-editor')
    return wizard_module.Wizard(browser)


@pytest.fixture
def editor(browser, stopped):
    """The dialog, open."""
    browser.log_in('demo')
    return edit(browser, stopped)


def saved(browser):
    """Save, and wait for the page that comes next."""
    browser.click(SAVE)
    browser.until(lambda driver: not browser.shown('.image-props-edit-form')
                  and browser.shown('.alert-success'), 'the change')


def test_details_have_a_tab(browser, cloud, picture):
    server = cloud.create('web-1', {**OVERRIDES, 'hw_rng_model': None})
    browser.log_in('demo')
    browser.open(f'/project/instances/{server}/')
    browser.click_path(
        "//a[normalize-space()='Image Property Overrides']")
    browser.find('.image-props-tab table')
    assert browser.texts('.image-props-tab tbody tr') == [
        'hw_disk_bus scsi virtio', 'hw_rng_model removed virtio',
        'hw_scsi_model virtio-scsi none']
    picture('horizon-details', '#content_body')


def test_the_table_leads_to_the_tab(browser, stopped, picture):
    browser.log_in('demo')
    browser.open('/project/instances/')
    assert browser.find('.image-props-badge').text == '2'
    picture('horizon-table', '#content_body')
    browser.click('.image-props-badge')
    browser.find('.image-props-tab table')


def test_the_dialog_opens_from_the_table(browser, stopped):
    browser.log_in('demo')
    browser.open('/project/instances/')
    browser.click('.actions_column .dropdown-toggle')
    browser.click('[id$="__action_edit_image_props_override"]')
    browser.find('.image-props-editor')
    assert 'web-1' in browser.find('#image-props-edit-title').text


def test_overrides_are_edited(editor, browser, cloud, stopped, picture):
    assert editor.chips() == ['hw_disk_bus=scsi', 'hw_scsi_model=virtio-scsi']
    assert not browser.is_enabled(SAVE)
    editor.set('hw_disk_bus', 'virtio')
    editor.remove('hw_rng_model')
    editor.wait_for_state('accepted')
    picture('horizon-edit', '.modal-content')
    saved(browser)
    assert cloud.settled(stopped)['image_props_override'] == {
        **OVERRIDES, 'hw_disk_bus': 'virtio', 'hw_rng_model': None}


def test_an_edit_of_a_server_with_a_preset_keeps_it_and_can_drop_it(
        browser, cloud):
    server = cloud.create('web-1', {}, preset='legacy-bios-ide', stop=True)
    browser.log_in('demo')

    def edited():
        editor = edit(browser, server)
        assert editor.preset().startswith('legacy-bios-ide: ')
        return editor

    edited().set('hw_vif_model', 'rtl8139')
    saved(browser)
    shown = cloud.settled(server)
    assert shown['image_props_override_preset']['name'] == 'legacy-bios-ide'
    assert shown['image_props_override'] == {
        'hw_disk_bus': 'ide', 'hw_firmware_type': 'bios',
        'hw_rng_model': None, 'hw_vif_model': 'rtl8139'}
    edited().choose_preset('windows')
    saved(browser)
    shown = cloud.settled(server)
    assert shown['image_props_override_preset']['name'] == 'windows'
    assert shown['image_props_override']['hw_vif_model'] == 'e1000e'
    assert 'hw_rng_model' not in shown['image_props_override']


@pytest.fixture
def outdated(cloud, presets):
    """A stopped server whose preset has changed since."""
    server = cloud.create('web-1', {}, preset='legacy-bios-ide', stop=True)
    presets('hw_vif_model: e1000\n', 'hw_vif_model: rtl8139\n')
    return server


def test_an_edit_under_a_preset_that_has_changed_says_so_and_leaves_it(
        browser, cloud, outdated):
    old = cloud.settled(outdated)['image_props_override']
    browser.log_in('demo')
    editor = edit(browser, outdated)
    assert browser.find('.image-props-old').text.startswith(
        'The overrides came with this preset, which has changed since: '
        'legacy-bios-ide.')
    assert editor.preset() == 'No preset'
    assert 'hw_vif_model=e1000' in editor.chips()
    editor.set('hw_boot_menu', 'true')
    saved(browser)
    shown = cloud.settled(outdated)
    assert shown['image_props_override_preset'] is None
    assert shown['image_props_override'] == {**old, 'hw_boot_menu': 'true'}


def test_a_preset_that_has_changed_and_is_chosen_again_is_taken_anew(
        browser, cloud, outdated):
    browser.log_in('demo')
    editor = edit(browser, outdated)
    editor.choose_preset('legacy-bios-ide')
    assert 'hw_vif_model=rtl8139' in editor.chips()
    saved(browser)
    shown = cloud.settled(outdated)
    offered = cloud.ask('GET', '/image-props-override')[
        'image_props_override']['presets']['legacy-bios-ide']
    assert shown['image_props_override_preset']['digest'] == offered['digest']
    assert shown['image_props_override'] == offered['properties']


def test_an_override_is_dropped(editor, browser, cloud, stopped):
    browser.click('.image-props-chip button')
    saved(browser)
    assert cloud.settled(stopped)['image_props_override'] == {
        'hw_scsi_model': 'virtio-scsi'}


def test_a_refused_edit_says_why_at_the_property_before_it_is_saved(
        editor, browser, cloud, stopped):
    editor.set('hw_video_ram', '2000000')
    assert 'flavor' in editor.error('hw_video_ram')
    editor.wait_for_state('refused')
    assert not browser.is_enabled(SAVE)
    editor.reset('hw_video_ram')
    editor.set('hw_video_model', 'vga')
    editor.wait_for_state('accepted')
    saved(browser)
    assert cloud.settled(stopped)['image_props_override'] == {
        **OVERRIDES, 'hw_video_model': 'vga'}


def test_what_somebody_else_has_overridden_stays(browser, cloud, stopped):
    cloud.ask('PUT', f'/servers/{stopped}', {'server': {
        'image_props_override': {**OVERRIDES, 'hw_cpu_policy': 'shared'}}},
        'nfv')
    browser.log_in('demo')
    editor = edit(browser, stopped)
    assert browser.find('.image-props-kept').text.startswith(
        'hw_cpu_policy=shared')
    editor.set('hw_disk_bus', 'virtio')
    saved(browser)
    assert cloud.settled(stopped)['image_props_override'] == {
        **OVERRIDES, 'hw_disk_bus': 'virtio', 'hw_cpu_policy': 'shared'}


def test_the_dialog_closes_by_the_keyboard(editor, browser):
    browser.find('#image-props-search').send_keys(Keys.ESCAPE)
    browser.until(lambda driver: not browser.shown('.image-props-edit-form'),
                  'the dialog to close')


def test_the_tab_of_a_running_server_leads_to_the_rebuild_and_to_a_stop(
        browser, cloud):
    server = cloud.create('web-1', OVERRIDES)
    browser.log_in('demo')
    browser.open(f'/project/instances/{server}/{TAB}')
    browser.click('.image-props-tab .ajax-modal')
    browser.find('.image-props-editor')
    browser.click('.modal-footer .cancel')
    browser.click('.image-props-tab button[name=action]')
    browser.click('.modal-footer .btn-danger')
    browser.until(lambda driver: cloud.settled(server)['status'] == 'SHUTOFF',
                  'the stop')


REBUILD = '.modal-footer [type=submit]'


@pytest.fixture
def rebuild(browser, cloud):
    """Open the form of a rebuild of a server; return the editor in it."""
    def opened(server):
        browser.log_in('demo')
        browser.open('/project/instances/')
        browser.click('.actions_column .dropdown-toggle')
        browser.click('[id$="__action_rebuild"]')
        browser.find('.image-props-editor')
        editor = wizard_module.Wizard(browser)
        editor.wait_for_state('incomplete')
        return editor
    return opened


def choose_image(browser, name='debian'):
    (option,) = [
        each for each in ui.Select(browser.find('#id_image')).options
        if each.text.split(' ')[0] == name]
    option.click()


def test_a_rebuild_is_checked_in_the_form_and_replaces_what_is_overridden(
        browser, cloud, rebuild, picture):
    server = cloud.create('web-1', OVERRIDES)
    editor = rebuild(server)
    assert editor.chips() == ['hw_disk_bus=scsi', 'hw_scsi_model=virtio-scsi']
    choose_image(browser)
    editor.wait_for_state('accepted')
    editor.set('hw_video_ram', '2000000')
    assert 'flavor' in editor.error('hw_video_ram')
    assert not browser.is_enabled(REBUILD)
    # The key that ends a search does not rebuild.
    browser.find('#image-props-search').send_keys(Keys.ENTER)
    editor.reset('hw_video_ram')
    editor.remove('hw_rng_model')
    editor.wait_for_state('accepted')
    picture('horizon-rebuild', '.modal-content')
    browser.click(REBUILD)
    browser.until(lambda driver: cloud.settled(server)[
        'image_props_override'] == {**OVERRIDES, 'hw_rng_model': None},
        'the rebuild')


def test_a_rebuild_from_another_image_changes_the_preset(
        browser, cloud, rebuild):
    server = cloud.create('web-1', {'hw_boot_menu': 'true'}, preset='windows')
    editor = rebuild(server)
    assert editor.preset().startswith('windows: ')
    choose_image(browser, 'debian-scsi')
    editor.choose_preset('legacy-bios-ide')
    editor.reset('hw_disk_bus')
    assert 'scsi' in editor.row('hw_disk_bus').text
    editor.wait_for_state('accepted')
    browser.click(REBUILD)
    browser.until(lambda driver: cloud.settled(server)[
        'image_props_override'] == {
            'hw_boot_menu': 'true', 'hw_firmware_type': 'bios',
            'hw_rng_model': None, 'hw_vif_model': 'e1000',
            'hw_disk_bus': 'scsi'}, 'the rebuild')


def test_a_rebuild_that_is_refused_after_all_says_why_and_has_what_was_chosen(
        browser, cloud, rebuild):
    server = cloud.create('web-1', {})
    editor = rebuild(server)
    choose_image(browser)
    editor.set('hw_disk_bus', 'ide')
    editor.wait_for_state('accepted')
    cloud.ask('POST', f'/servers/{server}/action', {'lock': None})
    browser.click(REBUILD)
    browser.until(lambda driver: 'is locked' in browser.find(
        '.modal-body .alert-danger').text, 'the refusal')
    editor.wait_for_state('refused')
    assert editor.chips() == ['hw_disk_bus=ide']
    cloud.ask('POST', f'/servers/{server}/action', {'unlock': None})
    browser.click(REBUILD)
    browser.until(lambda driver: cloud.settled(server)[
        'image_props_override'] == {'hw_disk_bus': 'ide'}, 'the rebuild')


def test_administrators_look_from_a_rule_to_its_servers(
        browser, stopped, picture):
    browser.log_in('admin')
    browser.open('/admin/image_props_override/')
    browser.write(browser.find('#rules .table_search input'), 'disk')
    browser.until(lambda driver: len(browser.shown('#rules tbody tr')) < 20,
                  'the rules that are searched')
    picture('horizon-rules', '#content_body')
    browser.click_path("//table[@id='rules']//a[normalize-space()="
                       "'hw_disk_bus']")
    browser.find('#servers')
    assert 'hw_disk_bus=scsi, hw_scsi_model=virtio-scsi' in browser.find(
        '#servers').text
