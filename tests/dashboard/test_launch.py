"""Launch Instance with overrides, in a browser."""

import json

import pytest

from tests.dashboard import wizard as wizard_module


@pytest.fixture(autouse=True)
def _quiet(browser):
    yield
    assert browser.complaints() == []


_IS_IN_SIGHT = '''
var place = document.querySelector('.ng-wizard .error-message')
  .getBoundingClientRect();
return place.top >= 0 && place.top < window.innerHeight;
'''


def overrides_of(cloud):
    """Return the overrides of the one server that there is."""
    (server,) = cloud.servers()
    return server['image_props_override']


#: Texts of the step with less contrast than 4.5 : 1 (WCAG 2.2, 1.4.3), which
#: leaves out what is disabled.
_PALE = '''
function channels(color) { return color.match(/[0-9.]+/g).map(Number); }
function luminance(rgb) {
  var linear = rgb.slice(0, 3).map(function (each) {
    each /= 255;
    return each <= 0.03928
      ? each / 12.92 : Math.pow((each + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}
function background(element) {
  for (; element; element = element.parentElement) {
    var found = channels(getComputedStyle(element).backgroundColor);
    if (found.length < 4 || found[3] === 1) { return found; }
  }
  return [255, 255, 255];
}
var step = document.querySelector('.image-props-editor').closest('.step');
return Array.from(step.querySelectorAll('*')).filter(function (each) {
  return each.getClientRects().length &&
    !each.matches(':disabled, :disabled *, .sr-only') &&
    Array.from(each.childNodes).some(function (child) {
      return child.nodeType === Node.TEXT_NODE && child.data.trim();
    });
}).map(function (each) {
  var pair = [channels(getComputedStyle(each).color), background(each)]
    .map(luminance).sort();
  return [each.textContent.trim(), (pair[1] + 0.05) / (pair[0] + 0.05)];
}).filter(function (each) { return each[1] < 4.5; });
'''


@pytest.mark.short
def test_a_server_boots_with_what_was_chosen(wizard, cloud):
    wizard.begin('demo')
    wizard.set('hw_disk_bus', 'scsi')
    wizard.set('hw_boot_menu', 'true')
    wizard.set('hw_cpu_cores', '2')
    assert wizard.chips() == [
        'hw_cpu_cores=2', 'hw_boot_menu=true', 'hw_disk_bus=scsi']
    wizard.wait_for_state('accepted')
    assert wizard.launch() is None
    assert overrides_of(cloud) == {
        'hw_boot_menu': 'true', 'hw_cpu_cores': '2', 'hw_disk_bus': 'scsi'}
    (sent,) = cloud.requests('POST', '/servers')
    assert sent['version'] == 'compute 2.90, image-props-override 1.0'


def test_who_overrides_nothing_sends_what_horizon_sends(wizard, cloud):
    wizard.begin('demo')
    assert wizard.launch() is None
    assert overrides_of(cloud) == {}
    (sent,) = cloud.requests('POST', '/servers')
    assert 'image-props-override' not in sent['version']
    assert 'image_props_override' not in sent['body']
    assert cloud.requests('POST', '/image-props-override/check') == []


def test_a_removed_property_is_null(wizard, cloud):
    wizard.begin('demo')
    wizard.remove('hw_rng_model')
    assert wizard.chips() == ['hw_rng_model: removed']
    wizard.wait_for_state('accepted')
    assert wizard.launch() is None
    assert overrides_of(cloud) == {'hw_rng_model': None}


def test_only_what_the_image_has_can_be_removed(wizard, browser):
    wizard.begin('demo')
    wizard.search('hw_disk_bus')
    assert 'virtio' in wizard.row('hw_disk_bus').text
    assert browser.shown('[data-property=hw_disk_bus] .image-props-remove')
    wizard.search('hw_cdrom_bus')
    assert wizard.row('hw_cdrom_bus')
    assert not browser.shown('.image-props-remove')


# --- presets ----------------------------------------------------------------

@pytest.mark.short
def test_a_preset_fills_the_list_and_the_request_has_what_differs(
        wizard, cloud):
    wizard.begin('demo')
    wizard.choose_preset('windows')
    assert wizard.chips() == [
        'hw_firmware_type=uefi', 'hw_vif_model=e1000e',
        'hw_video_model=virtio', 'os_type=windows']
    wizard.set('hw_video_model', 'vga')
    wizard.set('hw_boot_menu', 'true')
    wizard.reset('hw_vif_model')
    wizard.wait_for_state('accepted')
    assert wizard.launch() is None
    (sent,) = cloud.requests('POST', '/servers')
    asked = json.loads(sent['body'])['server']
    assert asked['image_props_override_preset'] == 'windows'
    assert asked['image_props_override'] == {
        'hw_boot_menu': 'true', 'hw_video_model': 'vga', 'hw_vif_model': None}
    (server,) = cloud.servers()
    assert server['image_props_override_preset']['name'] == 'windows'
    assert server['image_props_override'] == {
        'hw_boot_menu': 'true', 'hw_firmware_type': 'uefi',
        'hw_video_model': 'vga', 'os_type': 'windows'}


def test_what_is_dropped_of_a_preset_stays_as_the_image_has_it(wizard, cloud):
    wizard.begin('demo')
    wizard.choose_preset('legacy-bios-ide')
    assert 'hw_rng_model: removed' in wizard.chips()
    wizard.reset('hw_disk_bus')
    wizard.reset('hw_rng_model')
    wizard.wait_for_state('accepted')
    assert wizard.launch() is None
    (server,) = cloud.servers()
    properties = server['image']['properties']
    assert properties['hw_disk_bus'] == properties['hw_rng_model'] == 'virtio'
    assert properties['hw_vif_model'] == 'e1000'


def test_a_preset_that_is_chosen_no_longer_is_not_asked_for(wizard, cloud):
    wizard.begin('demo')
    wizard.choose_preset('windows')
    wizard.choose_preset('legacy-bios-ide')
    assert 'os_type=windows' not in wizard.chips()
    wizard.choose_preset('')
    assert wizard.chips() == []
    assert wizard.launch() is None
    (sent,) = cloud.requests('POST', '/servers')
    assert 'image_props_override' not in sent['body']


def test_a_preset_that_has_changed_meanwhile_is_not_launched_unseen(
        wizard, cloud, presets):
    wizard.begin('demo')
    wizard.choose_preset('legacy-bios-ide')
    wizard.wait_for_state('accepted')
    presets('hw_vif_model: e1000\n', 'hw_vif_model: rtl8139\n')
    assert 'hw_vif_model=e1000' in wizard.chips()
    assert 'The preset has changed since' in wizard.launch()
    assert cloud.servers() == []
    wizard.choose_preset('')
    wizard.set('hw_vif_model', 'e1000')
    wizard.wait_for_state('accepted')
    assert wizard.launch() is None
    assert overrides_of(cloud) == {'hw_vif_model': 'e1000'}


def test_only_presets_that_the_user_may_use_are_offered(wizard):
    wizard.open('demo')
    wizard.step(wizard_module.STEP)
    assert wizard.presets() == [
        'legacy-bios-ide: An old system that knows neither UEFI nor virtio',
        'windows: Windows 11, or Windows Server 2022 and newer']


def test_a_preset_tells_its_flavors_and_is_refused_with_others(
        wizard, browser, cloud):
    wizard.begin('nfv')
    wizard.choose_preset('nfv-2m-pinned')
    assert browser.find('.image-props-flavors').text == (
        'It is meant for these flavors: nfv')
    wizard.wait_for_state('refused')
    assert 'flavor' in wizard.error('hw_mem_page_size')
    assert not wizard.can_launch()
    assert cloud.requests('POST', '/servers') == []


@pytest.mark.parametrize(('words', 'found'), [
    ('UEFI', 'hw_firmware_type'), ('kernel arguments', 'os_command_line'),
    ('virtio-scsi', 'hw_scsi_model'), ('network card', 'hw_vif_model'),
    ('secure boot', 'os_secure_boot')])
def test_properties_are_found_by_their_values_and_by_what_people_call_them(
        wizard, words, found):
    wizard.open('demo')
    wizard.step(wizard_module.STEP)
    wizard.search(words)
    assert wizard.row(found)


def test_what_is_not_offered_is_said_to_be_missing_from_this_list(
        wizard, browser):
    wizard.open('demo')
    wizard.step(wizard_module.STEP)
    wizard.search('huge pages')
    assert 'only what this cloud lets you override' in browser.find(
        '.image-props-editor p[role=status]').text


def test_what_is_wrong_is_said_at_its_property_and_stops_the_launch(wizard):
    wizard.begin('demo')
    wizard.set('hw_cpu_cores', '0')
    assert 'an integer from 1' in wizard.error('hw_cpu_cores')
    assert not wizard.can_launch()
    wizard.set('hw_cpu_cores', '2')
    wizard.wait_for_state('accepted')
    assert wizard.can_launch()


def test_what_the_cloud_refuses_marks_property_and_step_until_it_is_corrected(
        wizard, browser):
    wizard.begin('demo')
    assert wizard.can_launch()
    wizard.set('hw_video_ram', '2000000')
    wizard.wait_for_state('refused')
    assert 'flavor' in wizard.error('hw_video_ram')
    assert not wizard.can_launch()
    wizard.step('Details')
    assert len(browser.shown('.nav-item .hz-icon-required')) == 1
    wizard.step(wizard_module.STEP)
    wizard.reset('hw_video_ram')
    browser.until(lambda driver: not browser.shown(
        '.nav-item .hz-icon-required'), 'the mark to go')
    assert wizard.can_launch()


@pytest.mark.short
def test_a_refused_launch_tells_every_reason_once_and_keeps_the_input(
        wizard, browser, cloud):
    wizard.begin('demo')
    wizard.set('hw_video_ram', '2000000')
    wizard.set('hw_cpu_cores', '3')
    wizard.wait_for_state('refused')
    browser.driver.set_window_size(1280, 480)
    browser.driver.execute_script(
        'document.querySelector(".modal-footer").scrollIntoView()')
    said = wizard.launch(at_once=True)
    browser.until(lambda driver: driver.execute_script(_IS_IN_SIGHT),
                  'the wizard to show what is refused')
    browser.driver.set_window_size(1280, 960)
    assert sorted(line.partition(':')[0] for line in said.splitlines()) == [
        'hw_cpu_cores', 'hw_video_ram']
    assert browser.texts('.toast, .alert-success, .alert-info') == []
    assert wizard.chips() == ['hw_cpu_cores=3', 'hw_video_ram=2000000']
    assert cloud.servers() == []
    wizard.reset('hw_video_ram')
    # What was launched is no longer what is asked for.
    browser.until(lambda driver: not browser.shown('.error-message'),
                  'the banner to go')
    wizard.set('hw_cpu_cores', '2')
    wizard.wait_for_state('accepted')
    assert wizard.launch() is None
    assert overrides_of(cloud) == {'hw_cpu_cores': '2'}


def test_a_property_is_offered_only_to_those_who_may_override_it(wizard):
    wizard.open('demo')
    wizard.step(wizard_module.STEP)
    assert wizard.offers('hw_cpu_cores')
    assert not wizard.offers('hw_machine_type')
    assert not wizard.offers('hw_cpu_policy')
    assert not wizard.offers('hw_mem_page_size')


def test_an_nfv_user_sees_more_and_gets_pinned_numa_nodes(
        wizard, browser, cloud, picture):
    wizard.begin('nfv', flavor='nfv')
    wizard.set('hw_cpu_policy', 'dedicated')
    wizard.set('hw_mem_page_size', '2MB')
    wizard.set('hw_numa_nodes', '2')
    for node, cpus in enumerate(('0-1', '2-3')):
        wizard.add('hw_numa_cpus.N', None, cpus)
        wizard.add('hw_numa_mem.N', None, '1024')
        assert f'hw_numa_cpus.{node}={cpus}' in wizard.chips()
    wizard.wait_for_state('accepted')
    assert browser.texts('.image-props-nodes li') == [
        'NUMA node 0: vCPUs 0, 1 (dedicated); 1024 MiB',
        'NUMA node 1: vCPUs 2, 3 (dedicated); 1024 MiB']
    wizard.search('hw_numa')
    wizard.row('hw_numa_mem.1')
    picture('horizon-numa', '.modal-content')
    assert wizard.launch() is None
    assert overrides_of(cloud) == {
        'hw_cpu_policy': 'dedicated', 'hw_mem_page_size': '2048',
        'hw_numa_nodes': '2',
        'hw_numa_cpus.0': '0-1', 'hw_numa_cpus.1': '2-3',
        'hw_numa_mem.0': '1024', 'hw_numa_mem.1': '1024'}


def test_a_trait_is_added_by_its_name(wizard, browser):
    wizard.begin('demo')
    wizard.search('trait')
    browser.click('[data-family="trait:NAME"]')
    field = browser.find('.image-props-member')
    browser.write(field, 'hw cpu')
    assert 'trait:hw cpu' in browser.find('.image-props-error').text
    assert not wizard.can_launch()
    browser.write(field, 'HW_CPU_X86_AVX')
    assert wizard.chips() == ['trait:HW_CPU_X86_AVX=required']
    assert wizard.can_launch()


def test_the_flavor_is_checked_anew(wizard, cloud):
    wizard.begin('nfv', flavor='two-cpus')
    wizard.set('hw_mem_page_size', '2MB')
    wizard.wait_for_state('refused')
    wizard.step('Flavor')
    wizard.browser.click_path(
        "//ng-include[@ng-form='launchInstanceFlavorForm']"
        "//div[contains(@class,'transfer-allocated')]//action-list//button")
    wizard.choose('Flavor', 'launchInstanceFlavorForm', 'nfv')
    wizard.step(wizard_module.STEP)
    wizard.wait_for_state('accepted')
    last = cloud.requests('POST', '/image-props-override/check')[-1]
    assert '"nfv"' in last['body']


def test_the_properties_of_a_volume_are_overridden_too(wizard, browser, cloud):
    wizard.open('demo')
    wizard.step('Source')
    browser.find('#boot-source-type').send_keys('Volume')
    wizard.fill(source='debian-volume')
    wizard.set('hw_disk_bus', 'scsi')
    wizard.wait_for_state('accepted')
    (asked,) = cloud.requests('POST', '/image-props-override/check')[-1:]
    assert '"source_type": "volume"' in asked['body']


@pytest.mark.short
def test_without_the_extension_there_is_no_step(plain_browser, plain_cloud):
    wizard = wizard_module.Wizard(plain_browser)
    wizard.open('demo')
    assert 'Flavor' in wizard.steps()
    assert wizard_module.STEP not in wizard.steps()
    assert len(plain_cloud.requests('GET', '/image-props-override')) <= 1
    assert plain_browser.complaints() == []


# --- for everybody ----------------------------------------------------------

def test_every_text_can_be_read_whatever_the_cloud_says(wizard, browser):
    wizard.begin('demo')
    assert browser.driver.execute_script(_PALE) == []
    wizard.set('hw_disk_bus', 'scsi')
    wizard.set('hw_rng_model', 'virtio')
    wizard.wait_for_state('accepted')
    assert browser.driver.execute_script(_PALE) == []
    wizard.set('hw_cpu_cores', '3')
    wizard.wait_for_state('refused')
    assert browser.driver.execute_script(_PALE) == []


def test_what_is_wrong_is_marked_for_screen_readers_and_in_red(
        wizard, browser):
    wizard.begin('demo')
    wizard.set('hw_cpu_cores', '2')
    wizard.wait_for_state('accepted')
    (field,) = browser.shown('[data-property=hw_cpu_cores] input')
    assert field.get_attribute('aria-invalid') == 'false'
    wizard.set('hw_cpu_cores', '3')
    wizard.wait_for_state('refused')
    assert field.get_attribute('aria-invalid') == 'true'
    (badge,) = browser.shown('.image-props-heading .badge')
    assert badge.value_of_css_property(
        'background-color') == 'rgba(181, 43, 39, 1)'


def test_the_limits_of_a_value_stay_while_one_types(wizard):
    wizard.begin('demo')
    wizard.set('hw_cpu_cores', '2')
    assert 'an integer from 1 to ' in wizard.row('hw_cpu_cores').text


def test_verdict_and_chips_stay_in_sight_below_a_long_list(wizard, browser):
    wizard.begin('nfv', flavor='nfv')
    wizard.set('hw_numa_nodes', '2')
    wizard.wait_for_state('accepted')
    wizard.search('hw_')
    rows = browser.shown('.image-props-row')
    browser.driver.execute_script('arguments[0].scrollIntoView()', rows[-1])
    for selector in ('.image-props-state', '.image-props-nodes',
                     '.image-props-chips'):
        (shown,) = browser.shown(selector)
        assert browser.driver.execute_script(
            'var place = arguments[0].getBoundingClientRect();'
            'var top = document.elementFromPoint('
            '    place.left + 5, place.top + 5);'
            'return arguments[0].contains(top);', shown), selector


def ask_hosts(wizard, browser):
    """Ask the hosts once it can be done; return what is said."""
    wizard.wait_for_state('accepted')
    browser.click('.image-props-hosts button')
    browser.find('[data-hosts=accepted], [data-hosts=refused]')
    return browser.find('[data-hosts]').text


def test_the_hosts_are_asked_which_override_is_in_the_way(wizard, browser):
    wizard.begin('admin')
    wizard.set('hw_disk_bus', 'ide')
    assert ask_hosts(wizard, browser) == 'A host can take the instance now.'
    wizard.add('trait:NAME', 'HW_CPU_X86_SGX', 'required')
    browser.until(lambda driver: not browser.shown('[data-hosts=accepted]'),
                  'the old answer to go')
    said = ask_hosts(wizard, browser)
    assert said.startswith('No host can take the instance now.')
    assert 'trait:HW_CPU_X86_SGX: ' in said
    assert 'hw_disk_bus: ' not in said


def test_who_may_not_ask_the_hosts_is_told_so_and_not_asked_again(
        wizard, browser, cloud):
    wizard.begin('demo')
    wizard.set('hw_disk_bus', 'ide')
    assert ask_hosts(wizard, browser) == (
        'This cloud does not let you ask the hosts.')
    assert not browser.shown('.image-props-hosts button')
    wizard.set('hw_disk_bus', 'scsi')
    wizard.wait_for_state('accepted')
    assert not browser.shown('.image-props-hosts button, [data-hosts=refused]')
    assert wizard.launch() is None


def test_what_has_a_few_values_is_a_list(wizard):
    wizard.begin('demo')
    wizard.set('hw_auto_disk_config', 'disabled')
    wizard.wait_for_state('accepted')
    assert wizard.chips() == ['hw_auto_disk_config=disabled']
