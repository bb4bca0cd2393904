"""Horizon's form for a rebuild, without a browser."""

import html
import json
import re

import pytest
import requests

from tests import environments
from tests.dashboard import pages
from tests.dashboard.pages import forget
from tests.dashboard.pages import OVERRIDES

TEXT_OF_PRESETS = (environments.ROOT / 'testing/site/presets.yaml').read_text()

#: A file whose only preset is not for everybody.
ONE_OF_ANOTHER = """
nfv-realtime:
  description: For guests with realtime kernels
  properties: {hw_boot_menu: true}
"""


def image_id(cloud, name):
    (image,) = requests.get(f'{cloud.url}/image/v2/images', timeout=300,
                            params={'name': name}).json()['images']
    return image['id']


def rebuild(session, cloud, server, **form):
    return session().post(f'/project/instances/{server}/rebuild', {
        'instance_id': server, 'image': image_id(cloud, 'debian'),
        'disk_config': 'AUTO', 'description': '', **form})


FIELD = re.compile(
    r'(?s)<textarea[^>]*name="image_props_override".*?</textarea>')


@pytest.mark.parametrize(('text', 'left'), [
    ('hw_disk_bus=scsi\r\nhw_scsi_model=virtio-scsi', OVERRIDES),
    ('', {}),
    ('hw_rng_model=\r\n\r\n hw_disk_bus=ide ', {
        'hw_rng_model': None, 'hw_disk_bus': 'ide'})])
def test_a_rebuild_keeps_drops_or_changes_overrides(
        session, cloud, text, left):
    server = cloud.create('guest', OVERRIDES)
    forget(cloud)
    page = rebuild(session, cloud, server, image_props_override=text)
    assert page.url.endswith('/project/instances/'), pages.text_of(page)
    assert cloud.settled(server)['image_props_override'] == left
    (sent,) = cloud.requests('POST', f'/servers/{server}/action')
    # What is not changed is not asked for, and needs no permission.
    assert ('image_props_override' in sent['body']) == (left != OVERRIDES)


def test_the_form_of_a_rebuild_shows_what_is_in_force(session, cloud):
    server = cloud.create('guest', {**OVERRIDES, 'hw_rng_model': None})
    (field,) = FIELD.findall(session().get(
        f'/project/instances/{server}/rebuild').text)
    assert field.partition('>')[2].split('<')[0].split() == [
        'hw_disk_bus=scsi', 'hw_rng_model=', 'hw_scsi_model=virtio-scsi']


@pytest.mark.parametrize(('text', 'reason'), [
    ('hw_disk_bus', "write 'hw_disk_bus' as KEY=VALUE"),
    ('=scsi', "write '=scsi' as KEY=VALUE"),
    ('hw_disk_bus=ide\nhw_disk_bus=scsi', 'hw_disk_bus is given twice'),
    ('hw_disk_bus=floppy', 'must be one of fdc'),
    ('hw_scsi_modle=virtio-scsi', 'did you mean hw_scsi_model?')])
def test_a_rebuild_with_wrong_overrides_says_why_and_changes_nothing(
        session, cloud, text, reason):
    server = cloud.create('guest', OVERRIDES)
    page = rebuild(session, cloud, server, image_props_override=text)
    assert page.url.endswith('/rebuild')
    assert reason in pages.text_of(page)
    (field,) = FIELD.findall(page.text)
    assert text.split()[0] in field
    assert cloud.settled(server)['image_props_override'] == OVERRIDES


def test_a_refused_rebuild_says_why_in_the_form(session, cloud):
    server = cloud.create('guest', OVERRIDES)
    cloud.ask('POST', f'/servers/{server}/action', {'lock': None})
    page = rebuild(session, cloud, server, image_props_override='')
    cloud.ask('POST', f'/servers/{server}/action', {'unlock': None})
    assert page.url.endswith('/rebuild')
    assert 'is locked' in pages.text_of(page)
    assert cloud.settled(server)['image_props_override'] == OVERRIDES


def test_a_server_without_overrides_gets_some_in_a_rebuild_or_none(
        session, cloud):
    server = cloud.create('guest', {})
    rebuild(session, cloud, server, image_props_override='')
    assert cloud.settled(server)['image_props_override'] == {}
    rebuild(session, cloud, server, image_props_override='hw_disk_bus=ide')
    assert cloud.settled(server)['image_props_override'] == {
        'hw_disk_bus': 'ide'}


# --- presets ----------------------------------------------------------------

def options(session, server):
    """Return the choices of preset: name -> value, and the chosen one's name.

    The lines of the text field come with them.
    """
    page = session().get(f'/project/instances/{server}/rebuild')
    (select,) = re.findall(
        r'(?s)<select[^>]*name="image_props_override_preset".*?</select>',
        page.text)
    found = re.findall(
        r'(?s)<option value="([^"]*)"( selected)?[^>]*>\s*([\w-]*)', select)
    (field,) = FIELD.findall(page.text)
    return ({name if value else '': value for value, _, name in found},
            [name for value, chosen, name in found if value and chosen],
            html.unescape(field.partition('>')[2].partition('<')[0]).strip())


def result(cloud, server):
    """Return name of the preset, and overrides, once it is rebuilt."""
    shown = cloud.settled(server)
    used = shown['image_props_override_preset']
    return used and used['name'], shown['image_props_override']


def outdated(cloud, server):
    """Return whether a server's preset is another than the cloud's now."""
    used = cloud.settled(server)['image_props_override_preset']
    return used['digest'] != cloud.ask(
        'GET', '/image-props-override')['image_props_override'][
            'presets'][used['name']]['digest']


def test_the_presets_of_the_user_can_be_chosen(session, cloud):
    server = cloud.create('guest', OVERRIDES)
    values, chosen, text = options(session, server)
    assert [*values] == ['', 'legacy-bios-ide', 'windows']
    assert (chosen, text.split()) == (
        [], ['hw_disk_bus=scsi', 'hw_scsi_model=virtio-scsi'])


def test_a_rebuild_takes_a_preset_and_what_the_lines_change_of_it(
        session, cloud):
    server = cloud.create('guest', {})
    values, _, _ = options(session, server)
    asked = {'hw_vif_model': 'e1000', 'hw_video_model': None,
             'hw_rng_model': None}
    rebuild(session, cloud, server,
            image_props_override_preset=values['windows'],
            image_props_override='hw_vif_model=e1000\n'
                                 'hw_video_model=\nhw_rng_model=')
    assert result(cloud, server) == ('windows', {
        'hw_firmware_type': 'uefi', 'os_type': 'windows',
        'hw_vif_model': 'e1000', 'hw_rng_model': None})
    sent = cloud.requests('POST', f'/servers/{server}/action')[-1]
    assert json.loads(sent['body'])['rebuild']['image_props_override'] == asked
    # What is taken out of the preset is a line of its own.
    _, chosen, text = options(session, server)
    assert chosen == ['windows']
    assert text.split() == [
        'hw_rng_model=', 'hw_video_model=', 'hw_vif_model=e1000']


def test_a_rebuild_keeps_a_preset_changes_it_and_leaves_it(session, cloud):
    server = cloud.create('guest', {'hw_boot_menu': 'true'}, preset='windows')
    values, chosen, text = options(session, server)
    assert (chosen, text) == (['windows'], 'hw_boot_menu=true')
    before = result(cloud, server)
    forget(cloud)
    for name, preset, left in [
            ('windows', 'windows', before[1]),
            ('legacy-bios-ide', 'legacy-bios-ide', {
                'hw_boot_menu': 'true', 'hw_disk_bus': 'ide',
                'hw_firmware_type': 'bios', 'hw_rng_model': None,
                'hw_vif_model': 'e1000'}),
            ('', None, {'hw_boot_menu': 'true'})]:
        rebuild(session, cloud, server, image_props_override=text,
                image_props_override_preset=values[name])
        assert result(cloud, server) == (preset, left)
    sent = [each['body'] for each in
            cloud.requests('POST', f'/servers/{server}/action')]
    assert ['image_props_override' in body for body in sent] == [
        False, True, True]


def test_a_rebuild_without_a_change_keeps_a_preset_that_has_changed(
        session, cloud, presets):
    server = cloud.create('guest', {}, preset='windows')
    before = result(cloud, server)
    presets('e1000e', 'e1000')
    _, chosen, text = options(session, server)
    assert chosen == []
    assert 'hw_vif_model=e1000e' in text.split()
    rebuild(session, cloud, server, image_props_override=text,
            image_props_override_preset='')
    assert result(cloud, server) == before
    assert outdated(cloud, server)


def test_another_change_leaves_a_preset_that_has_changed(
        session, cloud, presets):
    server = cloud.create('guest', {}, preset='windows')
    _, before = result(cloud, server)
    presets('e1000e', 'e1000')
    page = session().get(f'/project/instances/{server}/rebuild')
    assert '(Preset: windows)' in pages.text_of(page)
    assert 'without the preset' in page.text
    _, _, text = options(session, server)
    rebuild(session, cloud, server, image_props_override_preset='',
            image_props_override=f'{text}\nhw_boot_menu=true')
    assert result(cloud, server) == (None, {**before, 'hw_boot_menu': 'true'})


def test_a_preset_that_has_changed_and_is_chosen_again_is_taken_anew(
        session, cloud, presets):
    server = cloud.create('guest', {}, preset='windows')
    presets('hw_vif_model: e1000e\n    hw_video_model: virtio',
            'hw_vif_model: rtl8139')
    values, _, text = options(session, server)
    assert 'hw_video_model=virtio' in text.split()
    # What the user adds is the user's; what is left as it was is the preset's.
    rebuild(session, cloud, server,
            image_props_override=f'{text}\nhw_boot_menu=true',
            image_props_override_preset=values['windows'])
    assert result(cloud, server) == ('windows', {
        'hw_firmware_type': 'uefi', 'os_type': 'windows',
        'hw_vif_model': 'rtl8139', 'hw_boot_menu': 'true'})
    assert not outdated(cloud, server)


def test_a_preset_that_changes_under_the_form_is_not_taken_unseen(
        session, cloud, presets):
    server = cloud.create(
        'guest', {'hw_video_model': 'vga'}, preset='windows')
    before = result(cloud, server)
    values, _, text = options(session, server)
    presets('e1000e', 'e1000')
    page = rebuild(session, cloud, server, image_props_override=text,
                   image_props_override_preset=values['windows'])
    assert page.url.endswith('/rebuild')
    assert 'This preset has changed' in pages.text_of(page)
    assert result(cloud, server) == before


@pytest.mark.parametrize('value', ['nosuch', 'windows', 'nfv-realtime:x'])
def test_what_is_not_offered_is_not_taken(session, cloud, value):
    server = cloud.create('guest', OVERRIDES)
    page = rebuild(session, cloud, server, image_props_override='',
                   image_props_override_preset=value)
    assert 'no longer offered' in pages.text_of(page)
    assert result(cloud, server) == (None, OVERRIDES)


def test_a_preset_that_is_refused_says_why_and_changes_nothing(session, cloud):
    server = cloud.create('guest', OVERRIDES)

    def nfv():
        return session('nfv')

    values, _, _ = options(nfv, server)
    page = rebuild(nfv, cloud, server, image_props_override='',
                   image_props_override_preset=values['nfv-2m-pinned'])
    assert page.url.endswith('/rebuild')
    assert 'of preset nfv-2m-pinned' in pages.text_of(page)
    assert result(cloud, server) == (None, OVERRIDES)


def test_a_preset_that_only_others_may_use_is_kept_or_left(session, cloud):
    server = cloud.create('guest', {}, preset='nfv-realtime', user='admin')
    values, chosen, text = options(session, server)
    assert (chosen, text) == ([], 'hw_boot_menu=true')
    assert 'nfv-realtime' not in values
    for asked, preset in [(text, 'nfv-realtime'), ('', None)]:
        rebuild(session, cloud, server, image_props_override=asked,
                image_props_override_preset='')
        assert result(cloud, server)[0] == preset


def test_where_no_preset_is_offered_the_form_has_no_choice(
        session, cloud, presets):
    server = cloud.create('guest', {}, preset='windows')
    before = result(cloud, server)
    presets(TEXT_OF_PRESETS, ONE_OF_ANOTHER)
    page = session().get(f'/project/instances/{server}/rebuild')
    assert 'image_props_override_preset' not in page.text
    assert '(Preset: windows)' in pages.text_of(page)
    (field,) = FIELD.findall(page.text)
    text = html.unescape(field.partition('>')[2].partition('<')[0]).strip()
    for asked, left in [(text, before), (
            'hw_boot_menu=true', (None, {'hw_boot_menu': 'true'}))]:
        rebuild(session, cloud, server, image_props_override=asked)
        assert result(cloud, server) == left
