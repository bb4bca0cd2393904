"""Pages of Horizon, and the plugin's REST views, without a browser."""

import re

import pytest
import requests

from tests.dashboard import pages
from tests.dashboard.pages import OVERRIDES

BADGE = re.compile(r'(?s)image-props-badge.*?>(\d+)</a>')


# --- details ----------------------------------------------------------------

def test_details_show_what_is_in_force_beside_what_the_image_says(
        session, cloud):
    server = cloud.create('guest', {'hw_disk_bus': 'scsi',
                                    'hw_scsi_model': 'virtio-scsi',
                                    'hw_rng_model': None})
    for user, page in [('demo', f'/project/instances/{server}/'),
                       ('admin', f'/admin/instances/{server}/detail')]:
        text = pages.text_of(session(user).tab(page))
        assert 'hw_disk_bus scsi virtio' in text
        assert 'hw_rng_model removed virtio' in text
        assert 'hw_scsi_model virtio-scsi none' in text
        assert 'Preset' not in text


def test_details_of_a_server_without_overrides_say_so(session, cloud):
    server = cloud.create('guest', {})
    assert 'overrides no image property' in pages.text_of(
        session().tab(f'/project/instances/{server}/'))


def test_table_and_details_name_the_preset(session, cloud):
    server = cloud.create('guest', {'hw_vif_model': None}, preset='windows')
    cloud.create('plain', OVERRIDES)
    for user, table, page in [
            ('demo', '/project/instances/', f'/project/instances/{server}/'),
            ('admin', '/admin/instances/',
             f'/admin/instances/{server}/detail')]:
        listed = session(user).get(table)
        assert BADGE.findall(listed.text) == ['2', '3']
        assert pages.text_of(listed).count('Preset: ') == 1
        assert '3 Preset: windows' in pages.text_of(listed)
        assert 'Preset: windows' in pages.text_of(session(user).tab(page))


def test_details_ask_nothing_before_the_tab_is_opened(session, cloud):
    server = cloud.create('guest', OVERRIDES)
    cloud.forget()
    page = session().get(f'/project/instances/{server}/', tab='other')
    assert 'instance_details__image_props_override' in page.text
    (shown,) = cloud.requests('GET', f'/servers/{server}')
    assert 'image-props-override' not in shown['version']


def test_only_servers_that_can_be_changed_have_the_button(
        session, cloud, stopped):
    running = cloud.create('running', OVERRIDES)
    assert 'image-props-edit' not in session().tab(
        f'/project/instances/{running}/').text
    page = session().tab(f'/project/instances/{stopped}/').text
    assert 'image-props-edit' in page
    assert '__stop__' not in page


@pytest.mark.parametrize(('user', 'table', 'page'), [
    ('demo', '/project/instances/', '/project/instances/{}/'),
    ('admin', '/admin/instances/', '/admin/instances/{}/detail')])
def test_the_tab_of_a_running_server_leads_to_stop_and_rebuild(
        session, cloud, user, table, page):
    server = cloud.create('running', OVERRIDES)
    text = session(user).tab(page.format(server)).text
    assert f'href="/project/instances/{server}/rebuild"' in text
    (action,) = re.findall(f'value="(instances__stop__{server})"', text)
    assert f'action="{table}"' in text
    assert 'csrfmiddlewaretoken' in text
    session(user).post(table, {'action': action})
    assert cloud.settled(server)['status'] == 'SHUTOFF'


# --- the table --------------------------------------------------------------

def test_the_table_counts_overrides_by_the_one_list(session, cloud):
    for number in range(3):
        cloud.create(f'guest{number}', OVERRIDES)
    cloud.create('plain', {})
    cloud.forget()
    for _ in range(2):
        page = session().get('/project/instances/')
        assert BADGE.findall(page.text) == ['2', '2', '2']
    assert ['image-props-override' in listed['version'] for listed
            in cloud.requests('GET', '/servers/detail')] == [True, True]
    assert not [each for server in cloud.servers()
                for each in cloud.requests('GET', f'/servers/{server["id"]}')]
    # One for each page. What Horizon remembers of the cloud may have to be
    # asked anew in one of them, but not in both.
    assert len(cloud.requests('GET', '/image-props-override')) in (2, 3)


def test_the_table_is_filtered_by_a_property(session, cloud):
    cloud.create('overriding', OVERRIDES)
    cloud.create('plain', {})
    name = 'instances__filter__q'
    page = session().post('/project/instances/', {
        name: 'hw_disk_bus', f'{name}_field': 'image_props_override'})
    # Horizon remembers it for the session.
    session().post('/project/instances/', {name: '', f'{name}_field': 'name'})
    text = pages.text_of(page)
    assert 'overriding' in text
    assert 'Displaying 1 item' in text


def test_the_action_is_offered_on_stopped_servers_only(
        session, cloud, stopped):
    cloud.create('running', OVERRIDES)
    for user, page in [('demo', '/project/instances/'),
                       ('admin', '/admin/instances/')]:
        assert re.findall(
            r'row_([\w-]+)__action_edit_image_props_override',
            session(user).get(page).text) == [stopped]


# --- editing ----------------------------------------------------------------

def test_the_dialog_gets_what_is_in_force_and_what_the_image_has(
        session, stopped):
    shown = session().ask('GET', f'servers/{stopped}/')
    assert (shown['overrides'], shown['preset']) == (OVERRIDES, None)
    assert shown['image']['hw_disk_bus'] == 'virtio'
    assert (shown['name'], shown['status']) == ('web-1', 'SHUTOFF')


def test_a_volume_that_has_no_device_yet_does_not_stand_in_the_way(
        session, cloud):
    (volume,) = requests.get(f'{cloud.url}/volume/v3/volumes/detail',
                             timeout=300).json()['volumes']
    asked = {'trait:CUSTOM_OF_NO_HOST': 'required'}
    server = cloud.ask('POST', '/servers', {'server': {
        'name': 'guest', 'flavorRef': 'two-cpus', 'networks': 'none',
        'image_props_override': asked, 'block_device_mapping_v2': [{
            'boot_index': 0, 'uuid': volume['id'], 'source_type': 'volume',
            'destination_type': 'volume'}]}}, 'demo')['server']['id']
    assert cloud.settled(server)['status'] == 'ERROR'
    shown = session().ask('GET', f'servers/{server}/')
    assert (shown['overrides'], shown['image']) == (asked, None)
    assert 'trait:CUSTOM_OF_NO_HOST required not known' in pages.text_of(
        session().tab(f'/project/instances/{server}/'))


def test_overrides_of_a_stopped_server_are_replaced(session, cloud, stopped):
    asked = {'hw_disk_bus': 'ide', 'hw_rng_model': None}
    assert session().ask('PUT', f'servers/{stopped}/', {
        'image_props_override': asked}) == {}
    assert cloud.settled(stopped)['image_props_override'] == asked
    # The next page says so.
    assert 'overrides are changed' in session().get('/project/instances/').text


def test_a_stopped_server_gets_a_preset_and_loses_it(session, cloud, stopped):
    def edit(**asked):
        session().ask('PUT', f'servers/{stopped}/', asked)
        preset = session().ask('GET', f'servers/{stopped}/')['preset']
        # By what the dialog compares, and the offer has.
        assert preset in (None, *({each: offered[each] for each in preset}
                                  for offered in session().ask('GET', '')[
                                      'presets'] if preset))
        return (preset and preset['name'],
                cloud.settled(stopped)['image_props_override'])

    windows = {'hw_firmware_type': 'uefi', 'hw_vif_model': 'e1000e',
               'hw_video_model': 'virtio', 'os_type': 'windows'}
    assert edit(image_props_override={'hw_vif_model': 'e1000'},
                image_props_override_preset=pages.preset(
                    session(), 'windows')) == (
                    'windows', {**windows, 'hw_vif_model': 'e1000'})
    assert edit(image_props_override={'hw_vif_model': 'e1000'},
                image_props_override_preset=None) == (
                    None, {'hw_vif_model': 'e1000'})


def test_an_edit_with_a_preset_that_is_not_offered_changes_nothing(
        session, cloud, stopped):
    answer = session().ask('PUT', f'servers/{stopped}/', {
        'image_props_override': {},
        'image_props_override_preset': {'name': 'nfv-realtime'}})
    assert answer['refused']['problems'][
        'image_props_override_preset']['code'] == 'unknown_preset'
    assert cloud.settled(stopped)['image_props_override'] == OVERRIDES


def test_an_edit_with_a_preset_that_is_no_longer_as_shown_changes_nothing(
        session, cloud, stopped, presets):
    asked = {'image_props_override': {},
             'image_props_override_preset': pages.preset(session(), 'windows')}
    presets('e1000e', 'e1000')
    for method in 'POST', 'PUT':
        refused = session().ask(method, f'servers/{stopped}/', asked)['refused']
        assert refused['problems']['image_props_override_preset'] == {
            'code': 'preset_changed', 'reason': refused['message']}
    assert cloud.settled(stopped)['image_props_override'] == OVERRIDES


def test_each_property_of_a_refused_edit_has_its_reason(
        session, cloud, stopped):
    answer = session().ask('PUT', f'servers/{stopped}/', {
        'image_props_override': {
            'hw_disk_bus': 'nosuch', 'hw_scsi_modle': 'virtio-scsi'}})
    assert {name: problem['code'] for name, problem in
            answer['refused']['problems'].items()} == {
                'hw_disk_bus': 'invalid_value', 'hw_scsi_modle': 'unknown'}
    assert cloud.settled(stopped)['image_props_override'] == OVERRIDES


def test_a_running_server_is_not_edited(session, cloud):
    server = cloud.create('guest', OVERRIDES)
    answer = session().ask('PUT', f'servers/{server}/', {
        'image_props_override': {}})
    (problem,) = answer['refused']['problems'].values()
    assert problem['code'] == 'wrong_state'
    assert cloud.settled(server)['image_props_override'] == OVERRIDES


# --- what no form sends ---------------------------------------------------

LAUNCH = {'name': 'guest', 'source_id': '', 'flavor_id': 'two-cpus',
          'image_props_override': {'hw_disk_bus': 'scsi'}}


@pytest.mark.parametrize(('method', 'path', 'data', 'reason'), [
    ('PUT', 'servers/{}/', {'name': 'x'}, 'image_props_override must be'),
    ('PUT', 'servers/{}/', ['x'], 'image_props_override must be an object'),
    ('PUT', 'servers/{}/', {'image_props_override': 'x'}, 'an object'),
    ('POST', 'servers/{}/rebuild/', {'image_props_override': {}},
     'image must be a string'),
    ('POST', 'servers/{}/rebuild/', ['x'], 'image must be a string'),
    ('POST', 'servers/{}/rebuild/', {'image': 'x', 'image_props_override': 1},
     'image_props_override must be an object'),
    ('POST', 'check/', {'image_props_override': {}}, 'server must be'),
    ('POST', 'check/', {'server': {}}, 'image_props_override must be'),
    ('POST', 'check/', {'server': [], 'image_props_override': {}}, 'server'),
    ('POST', 'servers/', {**LAUNCH, 'name': 1}, 'name must be a string'),
    ('POST', 'servers/', {**LAUNCH, 'flavor_id': None}, 'flavor_id must be'),
    ('POST', 'servers/', {**LAUNCH, 'image_props_override': None},
     'image_props_override must be an object'),
    ('POST', 'servers/', {**LAUNCH, 'image_props_override_preset': ['x']},
     'image_props_override_preset must be an object'),
    ('POST', 'servers/', {**LAUNCH, 'nics': ['x']}, 'malformed request'),
    ('POST', 'servers/', {**LAUNCH, 'nics': [
        {'v4-fixed-ip': '10.0.0.5', 'v6-fixed-ip': '::5'}]},
     'malformed request'),
    ('POST', 'servers/', {**LAUNCH, 'user_data': 5}, ''),
])
def test_a_malformed_request_is_400_and_changes_nothing(
        session, cloud, stopped, method, path, data, reason):
    answer = session().answer(method, path.format(stopped), data)
    assert answer.status_code == 400, answer.text
    assert reason in answer.text
    assert [server['image_props_override']
            for server in cloud.servers()] == [OVERRIDES]


def test_a_server_that_does_not_exist_is_said_so(session):
    assert session().answer('GET', 'servers/nosuch/').status_code == 404
    # In the dialog it is a reason like any other.
    assert 'could not be found' in session().ask('PUT', 'servers/nosuch/', {
        'image_props_override': {}})['refused']['message']


def test_nobody_is_asked_without_a_login(session, horizon_url):
    answer = requests.get(
        f'{horizon_url}/api/image-props-override/', timeout=120,
        headers={'X-Requested-With': 'XMLHttpRequest'})
    assert answer.status_code == 401


# --- a cloud without the extension ------------------------------------------

def test_a_cloud_without_the_extension_shows_nothing_and_is_asked_once(
        plain_horizon_url, plain_cloud, cloud):
    server = cloud.create('guest', OVERRIDES)
    plain_cloud.forget()
    session = pages.Session(plain_horizon_url, 'admin')
    for path in ('/project/instances/', f'/project/instances/{server}/',
                 f'/project/instances/{server}/rebuild', '/admin/instances/'):
        page = session.get(path)
        assert page.status_code == 200
        # The plugin's own name is there, as that of its JavaScript.
        assert not re.search('(?i)image property override|overridden image',
                             pages.text_of(page)), path
        assert 'edit_image_props_override' not in page.text
    assert session.get('/admin/image_props_override/').status_code == 403
    assert session.answer('GET', '').status_code == 204
    assert len(plain_cloud.requests('GET', '/image-props-override')) <= 1
    assert not [each for each in requests.get(
        f'{plain_cloud.url}/requests', timeout=300).json()
        if 'image-props-override' in (each['version'] or '')]
    # Requests that nobody makes there.
    for method, path, data in (
            ('GET', f'servers/{server}/', None),
            ('PUT', f'servers/{server}/', {'image_props_override': {}}),
            ('POST', 'check/', {'server': {}, 'image_props_override': {}}),
            ('POST', f'servers/{server}/rebuild/', {'image': 'x'}),
            ('POST', 'servers/', LAUNCH)):
        assert session.answer(method, path, data).status_code == 404, path


# --- a cloud that does not say whether it has it ----------------------------

def test_a_cloud_that_fails_is_not_taken_for_one_without_the_extension(
        failing_horizon_url, cloud):
    session = pages.Session(failing_horizon_url, 'demo')
    answer = session.answer('GET', '')
    assert answer.status_code == 500
    assert 'Cannot find out whether this cloud takes' in answer.json()
    # The pages are Horizon's own meanwhile.
    server = cloud.create('guest', OVERRIDES)
    for path in '/project/instances/', f'/project/instances/{server}/':
        assert session.get(path).status_code == 200
