"""Requests at the same time see nothing of each other.

Nova 34 serves them in native threads, 31 to 33 here in greenthreads;
``threading`` is what the release has turned it into.
"""
from __future__ import annotations

import collections.abc
import threading
import typing

import fixtures
from nova.compute import api as compute_api
import nova.policy
from oslo_policy import policy as oslo_policy
import pytest

from nova_image_override.server_record import ServerRecord
from tests.proof import api

REQUESTS = 50


class Cloud(api.Api):
    OPTIONS = {'allowed_properties': ['os_distro', 'hw_boot_menu', 'trait:*'],
               'denied_properties': ['os_distro=denied*']}


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[Cloud]:
    with Cloud.running() as running:
        running.flavor_id = running.flavor()
        yield running


def together(
    cloud: Cloud, asked: list[dict[str, str] | None],
) -> list[typing.Any]:
    """Ask for servers with ASKED, all of them inside nova-api at once.

    Each waits where Nova fetches the image, when its overrides are parsed
    but not merged yet, until all others are there.
    """
    barrier = threading.Barrier(len(asked), timeout=60)
    original = compute_api.API._get_image
    answers: list[typing.Any] = [None] * len(asked)

    def get_image(self, *args, **kwargs):
        barrier.wait()
        result = original(self, *args, **kwargs)
        barrier.wait()
        return result

    def ask(place: int) -> None:
        body = cloud.server_body(asked[place], flavor=cloud.flavor_id)
        answers[place] = cloud.ask(
            'POST', '/v2.1/servers', body,
            version=None if asked[place] is not None else 'compute 2.93')

    with fixtures.MonkeyPatch('nova.compute.api.API._get_image', get_image):
        threads = [threading.Thread(target=ask, args=(place,))
                   for place in range(len(asked))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return answers


def own(place: int) -> dict[str, str]:
    """Return overrides that no other request has."""
    result = {'os_distro': f'distro-{place}',
              f'trait:CUSTOM_{place}': 'required'}
    if place % 2:
        result['hw_boot_menu'] = 'true'
    return result


@pytest.mark.smoke
def test_fifty_creates_at_once_get_their_own_overrides_and_no_others(cloud):
    asked = [own(place) for place in range(REQUESTS)]
    answers = together(cloud, asked)
    for wanted, answer in zip(asked, answers):
        assert answer.status_int == 202, answer.text
        server = answer.json['server']['id']
        metadata = cloud.accepted(server)
        assert ServerRecord.read(metadata).in_force == wanted
        held = cloud.properties(metadata)
        assert {name: value for name, value in held.items()
                if name.startswith(('os_distro', 'trait:', 'hw_boot'))
                } == wanted
        spec = cloud.request_spec(server)
        assert spec['os_distro'] == wanted['os_distro']
        assert spec['traits_required'] == [
            name.removeprefix('trait:') for name in wanted if 'trait' in name]


def test_requests_without_overrides_get_none_of_the_others(cloud):
    asked = [own(place) if place % 2 else None for place in range(REQUESTS)]
    for wanted, answer in zip(asked, together(cloud, asked)):
        assert answer.status_int == 202, answer.text
        metadata = cloud.accepted(answer.json['server']['id'])
        assert ServerRecord.read(metadata).in_force == (wanted or {})
        if not wanted:
            assert 'os_distro' not in cloud.properties(metadata)


def test_refusals_at_once_name_their_own_properties_only(cloud):
    asked = [own(place) if place % 2 else
             {'os_distro': f'denied-{place}', f'trait:CUSTOM_{place}':
              'required', 'hw_vif_model': 'e1000'}
             for place in range(REQUESTS)]
    for place, answer in enumerate(together(cloud, asked)):
        if place % 2:
            assert answer.status_int == 202, answer.text
            continue
        assert answer.status_int == 403
        problems = answer.json['forbidden']['image_props_override']
        assert set(problems) == {'os_distro', 'hw_vif_model'}
        assert f'denied-{place}' in problems['os_distro']['reason']


def test_the_first_requests_after_the_start_may_come_at_once(cloud):
    """They find the policy rules there, rather than register them."""
    nova.policy.reset()
    nova.policy.init(suppress_deprecation_warnings=True)
    barrier = threading.Barrier(2, timeout=60)
    original = oslo_policy.Enforcer.register_defaults
    answers = []

    def register_defaults(*args, **kwargs):
        barrier.wait()
        original(*args, **kwargs)

    with fixtures.MonkeyPatch(
            'oslo_policy.policy.Enforcer.register_defaults',
            register_defaults):
        threads = [
            threading.Thread(target=lambda: answers.append(
                cloud.ask('GET', '/v2.1/image-props-override')))
            for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [answer.status_int for answer in answers] == [200, 200]
