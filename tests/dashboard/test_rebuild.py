"""Horizon's form for a rebuild, and what it asks before, without a browser."""

import json
import re
from urllib import parse

import pytest
import requests

from tests.dashboard import pages
from tests.dashboard.pages import OVERRIDES

NAMES = ('image_props_override', 'image_props_override_preset')


def image_id(cloud, name):
    (image,) = requests.get(f'{cloud.url}/image/v2/images', timeout=300,
                            params={'name': name}).json()['images']
    return image['id']


def rebuild(session, cloud, server, *asked, text=''):
    """Send the form with overrides and a preset, or with a text of its own."""
    return session().post(f'/project/instances/{server}/rebuild', {
        'instance_id': server, 'image': image_id(cloud, 'debian'),
        'disk_config': 'AUTO', 'description': '',
        'image_props_override': json.dumps(
            dict(zip(NAMES, asked))) if asked else text})


def sent_before(page):
    """Return what the page's editor is told that the form was sent with."""
    (found,) = re.findall(
        '<image-props-rebuild server="[^"]+" sent="([^"]*)">', page.text)
    return json.loads(parse.unquote(found))


def result(cloud, server):
    """Return overrides, and name of the preset, once it is rebuilt."""
    shown = cloud.settled(server)
    used = shown['image_props_override_preset']
    return shown['image_props_override'], used and used['name']


def test_the_form_has_an_editor_and_no_text(session, cloud):
    server = cloud.create('guest', OVERRIDES)
    page = session().get(f'/project/instances/{server}/rebuild')
    assert sent_before(page) is None
    assert f'<image-props-rebuild server="{server}"' in page.text
    assert 'name="image_props_override"' not in page.text


@pytest.mark.parametrize(('asked', 'left'), [
    ((), (OVERRIDES, None)),
    (({},), ({}, None)),
    (({'hw_rng_model': None, 'hw_disk_bus': 'ide'}, None),
     ({'hw_rng_model': None, 'hw_disk_bus': 'ide'}, None)),
    (({'hw_vif_model': 'e1000', 'hw_video_model': None}, 'windows'),
     ({'hw_firmware_type': 'uefi', 'os_type': 'windows',
       'hw_vif_model': 'e1000'}, 'windows'))])
def test_a_rebuild_keeps_drops_or_changes_overrides(
        session, cloud, asked, left):
    server = cloud.create('guest', OVERRIDES)
    if asked[1:] == ('windows',):
        asked = (asked[0], pages.preset(session(), 'windows'))
    cloud.forget()
    page = rebuild(session, cloud, server, *asked)
    assert page.url.endswith('/project/instances/'), pages.text_of(page)
    assert result(cloud, server) == left
    (sent,) = cloud.requests('POST', f'/servers/{server}/action')
    # What is not changed is not asked for, and needs no permission.
    assert ('image_props_override' in sent['body']) == bool(asked)


def test_a_rebuild_without_a_change_keeps_a_preset_that_has_changed(
        session, cloud, presets):
    server = cloud.create('guest', {}, preset='windows')
    before = cloud.settled(server)
    presets('e1000e', 'e1000')
    rebuild(session, cloud, server)
    after = cloud.settled(server)
    assert [after[name] for name in NAMES] == [before[name] for name in NAMES]


def test_a_rebuild_with_a_preset_that_is_no_longer_as_shown_changes_nothing(
        session, cloud, presets):
    server = cloud.create('guest', OVERRIDES)
    preset = pages.preset(session(), 'windows')
    presets('e1000e', 'e1000')
    page = rebuild(session, cloud, server, {}, preset)
    assert 'has changed since this was opened' in pages.text_of(page)
    assert result(cloud, server) == (OVERRIDES, None)


def test_a_preset_that_only_others_may_use_is_kept_or_left(session, cloud):
    server = cloud.create('guest', {}, preset='nfv-realtime', user='admin')
    rebuild(session, cloud, server)
    assert result(cloud, server) == ({'hw_boot_menu': 'true'}, 'nfv-realtime')
    rebuild(session, cloud, server, {})
    assert result(cloud, server) == ({}, None)


@pytest.mark.parametrize(('asked', 'reason'), [
    (({'hw_disk_bus': 'floppy'}, None), 'must be one of fdc'),
    (({'hw_disk_bus': 5}, None), 'hw_disk_bus'),
    (({'hw_scsi_modle': 'virtio-scsi'}, None), 'did you mean hw_scsi_model?'),
    (({'hw_scsi_model': '{$ 7 * 7 $}"><b>'}, None), 'must be one of'),
    (({}, {'name': 'nfv-realtime'}), 'nfv-realtime'),
    (({}, {'name': ['windows']}), 'windows'),
    (({}, 'windows'), 'These are no overrides')])
def test_a_refused_rebuild_says_why_changes_nothing_and_keeps_what_was_asked(
        session, cloud, asked, reason):
    server = cloud.create('guest', OVERRIDES)
    page = rebuild(session, cloud, server, *asked)
    assert page.url.endswith('/rebuild')
    assert reason in pages.text_of(page)
    assert sent_before(page) == dict(zip(NAMES, asked))
    assert '{$ 7' not in re.sub('(?s)<div class="alert.*?</div>', '', page.text)
    assert result(cloud, server) == (OVERRIDES, None)


@pytest.mark.parametrize('asked', [(), ({},)])
def test_a_rebuild_of_a_locked_server_says_so_in_the_form(
        session, cloud, asked):
    server = cloud.create('guest', OVERRIDES)
    cloud.ask('POST', f'/servers/{server}/action', {'lock': None})
    page = rebuild(session, cloud, server, *asked)
    cloud.ask('POST', f'/servers/{server}/action', {'unlock': None})
    assert page.url.endswith('/rebuild')
    assert 'is locked' in pages.text_of(page)
    assert result(cloud, server) == (OVERRIDES, None)


@pytest.mark.parametrize('text', [
    'hw_disk_bus=ide', '[]', '5', '{}', '{"image_props_override": "x"}'])
def test_what_the_editor_does_not_send_is_not_taken(session, cloud, text):
    server = cloud.create('guest', OVERRIDES)
    page = rebuild(session, cloud, server, text=text)
    assert page.url.endswith('/rebuild')
    assert re.search('These are no overrides|Enter a valid JSON',
                     pages.text_of(page))
    assert result(cloud, server) == (OVERRIDES, None)


# --- asking before ----------------------------------------------------------

def check(session, cloud, server, *asked, image='debian', user='demo'):
    return session(user).ask('POST', f'servers/{server}/rebuild/', {
        'image': image_id(cloud, image), **dict(zip(NAMES, asked))})


def test_the_cloud_is_asked_what_a_rebuild_would_get(session, cloud):
    server = cloud.create('guest', {'hw_boot_menu': 'true'})
    for asked, overridden in [
            ((), {'hw_boot_menu'}), (({},), set()),
            (({'hw_disk_bus': 'ide'}, None), {'hw_disk_bus'})]:
        answer = check(session, cloud, server, *asked, image='debian-scsi')
        assert set(answer['accepted']['overridden']) == overridden
        assert answer['accepted']['properties']['hw_scsi_model'] == (
            'virtio-scsi')
    # Nothing is rebuilt.
    assert cloud.requests('POST', f'/servers/{server}/action') == []
    assert result(cloud, server) == ({'hw_boot_menu': 'true'}, None)


def test_the_check_of_a_rebuild_says_what_is_refused_and_why(session, cloud):
    server = cloud.create('guest', OVERRIDES)
    for user, asked, name, code in [
            ('demo', ({'hw_disk_bus': 'floppy'},), 'hw_disk_bus',
             'invalid_value'),
            ('demo', ({'hw_cpu_policy': 'shared'},), 'hw_cpu_policy',
             'policy'),
            ('nfv', ({}, {'name': 'nfv-realtime'}),
             'image_props_override_preset',
             'unknown_preset')]:
        problems = check(session, cloud, server, *asked, user=user)[
            'refused']['problems']
        assert problems[name]['code'] == code


def test_the_check_of_a_rebuild_of_a_locked_server_names_no_property(
        session, cloud):
    server = cloud.create('guest', OVERRIDES)
    cloud.ask('POST', f'/servers/{server}/action', {'lock': None})
    refused = check(session, cloud, server)['refused']
    cloud.ask('POST', f'/servers/{server}/action', {'unlock': None})
    assert refused['problems'] == {}
    assert 'is locked' in refused['message']
