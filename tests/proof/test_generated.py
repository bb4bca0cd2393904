"""Whatever is sent: no 5xx, nothing ignored, nothing past the rules."""
from __future__ import annotations

import collections
import collections.abc
import os
import typing

import hypothesis
import pytest

from nova_image_override import errors
from nova_image_override.server_record import ServerRecord
from testing import figures
from testing.harness import base
from tests.proof import api
from tests.proof import bodies
from tests.unit import strategies

#: How many requests in all; those of the short form are the same each time.
EXAMPLES = int(os.environ.get('FUZZ', 100_000 if figures.FULL else 1_000))

#: They are generated in parts, which pytest's workers share.
SHARDS = 4


class Cloud(api.Api):
    OPTIONS = bodies.OPTIONS


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[Cloud]:
    with Cloud.running() as running:
        running.flavor_id = running.flavor()
        yield running


class Requests:
    """Sends requests and checks what becomes of them."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self.statuses: collections.Counter[str] = collections.Counter()

    def send(self, case: bodies.Case) -> None:
        cloud, writes = self._cloud, self._cloud.writes
        response = self._send(case, cloud.application)
        status = response.status_int
        self.statuses[str(status)] += 1
        raw = bodies.asked(case)
        if status == 202:
            metadata = cloud.accepted(response.json['server']['id'])
            self._check_accepted(case, raw or {}, metadata)
        else:
            assert cloud.writes == writes, 'a refusal has left something'
        if status >= 500:
            self._check_nova_fails_alike(case, response)
        if base.PARAMETER in response.text and status in (400, 403):
            self._check_refusal(case, raw, response)

    def _send(self, case: bodies.Case, app: typing.Any) -> typing.Any:
        return self._cloud.ask(
            'POST', case.path, case.body, app=app, version=case.version,
            content_type=case.content_type)

    def _check_accepted(
        self, case: bodies.Case, raw: dict[str, str | None],
        metadata: dict[str, str],
    ) -> None:
        assert not case.wrong, 'wrong overrides were taken'
        held = self._cloud.properties(metadata)
        for name, value in raw.items():
            assert not bodies.refused(name, value)
            if value is None:
                assert name not in held
            elif name == 'hw_mem_page_size':
                assert held[name]
            else:
                assert (strategies.read({name: held[name]})
                        == strategies.read({name: value})), name
        assert ServerRecord.read(metadata).image_values.keys() == raw.keys()
        for name in bodies.OPTIONS['denied_properties']:
            assert name not in held

    def _check_nova_fails_alike(
            self, case: bodies.Case, response: typing.Any) -> None:
        """A body that is not text gets a 500 from Nova, before anything."""
        assert bodies.asked(case) is None
        unmodified = self._send(case, self._cloud.unmodified)
        assert (unmodified.status, unmodified.body) == (
            response.status, response.body)
        self.statuses[f'{response.status_int} of unmodified Nova'] += 1

    def _check_refusal(
        self, case: bodies.Case, raw: typing.Any, response: typing.Any,
    ) -> None:
        (fault,) = response.json.values()
        if base.PARAMETER not in fault:
            return
        problems = fault[base.PARAMETER]
        for name, problem in problems.items():
            assert problem['code'] in vars(errors).values()
            assert f': {problem["code"]}: {problem["reason"]}' \
                in fault['message']
            assert errors.printable(name) in fault['message']
        if case.wrong is None:
            return
        if base.PARAMETER in case.wrong:
            assert (response.status_int, set(problems)) == (400, case.wrong)
            return
        refused = {name for name, value in raw.items()
                   if name not in case.wrong and bodies.refused(name, value)}
        assert response.status_int == (403 if refused else 400)
        assert refused | case.wrong <= set(problems)
        others = {problem['code'] for name, problem in problems.items()
                  if name not in refused | case.wrong}
        # What cannot be read is not checked with flavor and image.
        assert others <= (set() if case.wrong else {
            errors.FLAVOR_CONFLICT, errors.NO_EFFECT, errors.NUMA_GAP,
            errors.PROPERTY_CONFLICT})


@pytest.mark.parametrize('shard', range(SHARDS))
def test_generated_requests(cloud, shard):
    requests = Requests(cloud)

    @hypothesis.seed(shard if not figures.FULL else os.urandom(8))
    @hypothesis.settings(
        max_examples=max(EXAMPLES // SHARDS, 1), deadline=None,
        database=None, print_blob=True,
        suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(bodies.requests(cloud.flavor_id))
    def run(case: bodies.Case) -> None:
        requests.send(case)

    run()
    assert requests.statuses['202'] and requests.statuses['403']
