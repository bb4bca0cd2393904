"""Whoever does not name the extension gets what unmodified Nova answers.

Two applications get the same requests in the same state: :mod:`.side_by_side`.
"""
from __future__ import annotations

import collections.abc
import dataclasses
import json
import os
import re

from nova import context as nova_context
from nova.api.openstack import api_version_request
from nova.objects import cell_mapping
import pytest

from nova_image_override import versions
from testing import figures
from testing import paste_config
from testing import release
from testing.harness import applications
from testing.harness import base
from tests.proof import requests
from tests.proof import side_by_side

#: Each route, action and create is sent in one in so many of Nova's
#: microversions: different ones for each, so that all of them are used.
EVERY = int(os.environ.get('EVERY', 1 if figures.FULL else 52))

#: The same for all other requests.
EVERY_OTHER = max(52, 16 * EVERY)


def _microversions() -> list[str]:
    newest = api_version_request.max_api_version()
    return [f'2.{minor}' for minor in range(1, newest.ver_minor + 1)]


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[side_by_side.SideBySide]:
    with side_by_side.SideBySide.running() as running:
        yield running


def without_look_ups(
    outcome: side_by_side.Outcome, prefixes: tuple[str, ...],
) -> side_by_side.Outcome:
    """Return OUTCOME without looking up a server's system metadata.

    The extended nova-api does so once the task state of an action is held
    (store.has_record), in a transaction of its own, and to store some keys
    alone (store.save_keys). Before a transaction, older oslo.db (Nova 29) asks
    whether the connection is still there (engines._connect_ping_listener).
    """
    return dataclasses.replace(outcome, statements=[
        (text, parameters) for text, parameters in outcome.statements
        if text != 'SELECT 1' and not text.startswith(('BEGIN', *prefixes))])


def without_record(outcome: side_by_side.Outcome) -> side_by_side.Outcome:
    """Return OUTCOME of unmodified Nova without the names of the record.

    Nova 31 shows all system metadata of an image as its properties, Nova 32
    only fields of ImageMetaProps (servers.py, ViewBuilder._get_image). The
    extended nova-api hides the record on both.
    """
    body = re.sub(rb', "os_glance_override[^"]*": "[^"]*"', b'', outcome.body)
    if body == outcome.body:
        return outcome
    return dataclasses.replace(outcome, body=body, headers=[
        (name, str(len(body)) if name == 'Content-Length' else value)
        for name, value in outcome.headers])


class Pairs:
    """Sends each request to both, and collects what differs."""

    def __init__(self, cloud: side_by_side.SideBySide) -> None:
        self._cloud = cloud
        self._found: list[str] = []

    def compare(
        self, request: requests.Request, compute: str | None = None,
        root: str = '/v2.1',
    ) -> None:
        nova, extended = self._cloud.both(
            self._cloud.made(request, compute, root))
        if release.NUMBER == 31:
            nova = without_record(nova)
        if request.kind in ('action', 'action as member'):
            # Of a server with overrides more is read, such as whether a change
            # of them was cut off (repair.recover); what is written is the same.
            prefixes = ('SELECT',) if requests.OVERRIDDEN in request.path \
                else ('SELECT instance_system_metadata.',)
            nova, extended = (without_look_ups(each, prefixes)
                              for each in (nova, extended))
        differences = nova.differences(extended)
        if differences:
            self._found.append(
                f'{request} {compute} {root}: ' + '; '.join(differences))

    def check(self) -> None:
        assert not self._found, f'{len(self._found)} differ:\n' + '\n'.join(
            self._found[:5])


@pytest.fixture
def pairs(cloud: side_by_side.SideBySide) -> Pairs:
    return Pairs(cloud)


@pytest.mark.smoke
def test_routes_actions_and_creates_are_the_same_in_every_microversion(pairs):
    for place, request in enumerate(requests.in_every_version()):
        for turn, compute in enumerate(_microversions()):
            if (place * 7 + turn) % EVERY == 0:
                pairs.compare(request, compute)
    pairs.check()


def test_whatever_else_is_asked_is_the_same(pairs):
    for place, request in enumerate(requests.everything()):
        for turn, compute in enumerate(_microversions()):
            if (place + turn) % EVERY_OTHER == 0:
                pairs.compare(request, compute)
    pairs.check()


def test_the_project_in_the_path_makes_no_difference(cloud, pairs):
    newest = _microversions()[-1]
    step = 1 if figures.FULL else 5
    for request in requests.in_every_version()[::step]:
        pairs.compare(
            request, newest, f'/v2.1/{cloud.api.project_id}')
        pairs.compare(request, newest, '/v2.1/other')
    pairs.check()


def test_the_legacy_api_is_the_same(cloud, pairs):
    step = 1 if figures.FULL else 9
    for request in requests.everything()[::step]:
        pairs.compare(request, None, '/v2')
    for request in requests.in_every_version()[::step]:
        pairs.compare(request, None, f'/v2/{cloud.api.project_id}')
    pairs.check()


@pytest.mark.smoke
def test_version_documents_are_the_same(pairs):
    for request in requests.ROOTS:
        pairs.compare(request, None, root='')
    pairs.check()


def test_headers_that_name_others_are_answered_the_same(pairs):
    for request in requests.bad_versions():
        for root in ('/v2.1', '/v2'):
            pairs.compare(request, None, root)
    pairs.check()


def test_every_action_of_servers_is_among_the_requests():
    sent = {next(iter(json.loads(request.body)))
            for request in requests.in_every_version()
            if request.kind == 'action'}
    assert requests.actions() <= sent


def test_the_comparison_finds_what_differs(cloud):
    """The parameter and the version entry: what the extension adds."""
    server = cloud.servers[requests.OVERRIDDEN]
    for named, parts in ((True, {'headers', 'body'}), (False, set())):
        nova, extended = cloud.both(applications.request(
            'GET', f'/v2.1/servers/{server}', headers={
                **applications.MEMBER,
                'X-Auth-Project-Id': cloud.api.project_id,
                **applications.version_header('2.73', named)}))
        found = {line.partition(':')[0]
                 for line in nova.differences(extended)}
        assert found == parts
    body = {'server': {'name': 'x', 'imageRef': base.IMAGE, 'flavorRef': '1',
                       'networks': 'none', base.PARAMETER: {}}}
    nova, extended = cloud.both(applications.request(
        'POST', '/v2.1/servers', body, headers={
            **applications.MEMBER,
            'X-Auth-Project-Id': cloud.api.project_id,
            **applications.version_header('2.73', named=True)}))
    assert (nova.code, extended.code) == (400, 202)
    assert versions.HEADER in dict(extended.headers)
    assert extended.statements != nova.statements


def test_the_comparison_finds_what_differs_in_a_first_request_only(
        cloud, monkeypatch):
    unmodified, asked = cloud.applications[paste_config.NOVA_APP], []
    context = nova_context.get_admin_context()

    def remembering(environ, start_response):
        if not asked:
            cell_mapping.CellMappingList.get_all(context)
        asked.append(environ)
        return unmodified(environ, start_response)

    monkeypatch.setitem(cloud.applications, paste_config.APP, remembering)
    request = cloud.made(requests.Request('query', 'GET', '/servers'))
    for parts in ({'statements'}, set()):
        nova, extended = cloud.both(request)
        assert {line.partition(':')[0]
                for line in nova.differences(extended)} == parts


def test_a_request_finds_the_state_that_the_one_before_found(cloud):
    request = requests.Request(
        'action', 'POST', f'/servers/{requests.PLAIN}/action',
        b'{"lock": null}')
    first, second = (
        cloud.send(paste_config.NOVA_APP, cloud.made(request, '2.96'))
        for _ in range(2))
    assert first.code == 202
    assert first.messages == second.messages
    assert first.statements == second.statements
