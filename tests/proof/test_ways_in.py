"""What a rule refuses does not get in by any way in."""
from __future__ import annotations

import collections
import collections.abc
import contextlib
import itertools

import pytest

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.server_record import ServerRecord
from testing import figures
from testing.cases import values
from testing.harness import answers
from testing.harness import base
from tests.proof import ways_in

#: One name in so many is also asked for alone; each is always asked for in a
#: set with all others.
ALONE = 1 if figures.FULL else 997


def refused(rule: ways_in.Rule) -> dict[str, str]:
    """Return every name that RULE refuses, with the first of its values."""
    return {name: values.taken(prop)[0]
            for field, prop in values.CATALOG.items()
            if not prop.record.never and field not in rule.spares
            for name in values.names(prop)}


def never() -> dict[str, str]:
    """Return the names that no deployment can permit."""
    return {prop.field: 'x' for prop in values.CATALOG.values()
            if prop.record.never}


@pytest.fixture(scope='module')
def cloud() -> collections.abc.Iterator[ways_in.Cloud]:
    with ways_in.Cloud.running() as running:
        yield running


def applied(
    cloud: ways_in.Cloud, rule: ways_in.Rule,
    ways: dict[str, ways_in.WayIn] = ways_in.WAYS_IN,
) -> collections.abc.Iterator[tuple[str, ways_in.WayIn, object]]:
    """Yield each way, and an application where RULE blocks it."""
    by_options = itertools.groupby(
        sorted(ways.items(), key=lambda item: str(item[1].options)),
        key=lambda item: str(item[1].options))
    for _, group in by_options:
        members = list(group)
        with rule.applied(cloud, members[0][1]) as app:
            for name, way in members:
                yield name, way, app


def check(
    cloud: ways_in.Cloud, way: ways_in.WayIn, app: object,
    asked: dict[str, str | None], status: int, codes: dict[str, str],
) -> None:
    """Ask, and assert that it is refused and leaves nothing behind."""
    writes = cloud.writes
    answer = answers.Answer.__new__(answers.Answer)
    response = way.ask(cloud, app, asked)
    answer.body, answer.status = response.json, response.status_int
    if way.closed is not None:
        status, codes = 400, {base.PARAMETER: way.closed}
    assert answer.status == status, (asked, response.text[:2000])
    assert answer.problems == codes
    assert cloud.writes == writes


def pieces(
    asked: dict[str, str | None],
) -> collections.abc.Iterator[dict[str, str | None]]:
    """Yield ASKED as one set, and some of it alone."""
    names = list(asked)
    size = 120
    for start in range(0, len(names), size):
        yield {name: asked[name] for name in names[start:start + size]}
    for name in names[::ALONE]:
        yield {name: asked[name]}


@pytest.mark.parametrize('title', ways_in.RULES)
def test_no_property_that_a_rule_refuses_comes_in_by_any_way(title, cloud):
    rule = ways_in.RULES[title]
    asked = refused(rule)
    for _, way, app in applied(cloud, rule):
        for wanted in (asked, *([dict.fromkeys(asked)] if way.nulls else ())):
            for piece in pieces(wanted):
                check(cloud, way, app, piece, 403,
                      dict.fromkeys(piece, rule.code))


@pytest.mark.parametrize('title', [
    title for title, rule in ways_in.RULES.items()
    if rule.code not in (errors.NOT_ALLOWED, errors.VALUE_NOT_ALLOWED)])
def test_no_property_that_another_rule_refuses_comes_in_with_a_preset(
        title, cloud):
    rule = ways_in.RULES[title]
    asked = refused(rule)
    for _, way, app in applied(cloud, rule, ways_in.WITH_PRESET):
        for wanted in (asked, dict.fromkeys(asked)):
            for piece in pieces(wanted):
                # A preset that is closed is one that does not exist.
                check(cloud, way, app, piece, *(
                    (400, {errors.PRESET: errors.UNKNOWN_PRESET})
                    if title == 'policy' else
                    (403, dict.fromkeys(piece, rule.code))))


@pytest.mark.parametrize('title', ways_in.WITH_PRESET)
def test_what_no_rule_refuses_comes_in_with_a_preset(title, cloud):
    """The control: the same requests where nothing is in the lists."""
    way = ways_in.WITH_PRESET[title]
    with ways_in.RULES['not allowed'].applied(cloud, way) as app:
        response = way.ask(cloud, app, {'hw_video_model': 'vga'})
    cloud.reset()
    assert response.status_int == 202, response.text
    server = response.json['server']['id']
    metadata = cloud.instance(server).system_metadata \
        if 'rebuild' in title else cloud.accepted(server)
    record = ServerRecord.read(metadata)
    assert record.in_force == {'hw_video_model': 'vga'}
    assert record.preset and record.preset.name == 'one'


@pytest.mark.parametrize('title', ['nothing', 'not allowed'])
def test_what_the_image_is_comes_in_by_no_way(title, cloud):
    rule = ways_in.RULES.get(title) or ways_in.Rule(
        errors.NEVER, {'allowed_properties': ['*']})
    for _, way, app in applied(cloud, rule):
        if not way.nulls:
            continue
        # null needs no value of the right kind.
        asked = dict.fromkeys(never())
        for piece in pieces(asked):
            check(cloud, way, app, piece, 403,
                  dict.fromkeys(piece, errors.NEVER))


def test_no_other_spelling_comes_in_by_any_way(cloud):
    rule = ways_in.Rule('', {'allowed_properties': ['*']})
    codes = values.misspelt()
    for _, way, app in applied(cloud, rule):
        for piece in pieces(dict.fromkeys(codes, 'true')):
            check(cloud, way, app, piece, 400,
                  {name: codes[name] for name in piece})


#: What does nothing with the cloud's image and flavor.
IDLE = {'hw_cpu_realtime_mask': '^0', 'hw_numa_mem.0': '512',
        'os_command_line': 'quiet', 'os_secure_boot': 'required'}


def test_what_would_have_no_effect_comes_in_by_no_way(cloud):
    rule = ways_in.Rule('', {'allowed_properties': ['*']})
    for _, way, app in applied(cloud, rule):
        for piece in (IDLE, *({name: value} for name, value in IDLE.items())):
            check(cloud, way, app, piece, 400,
                  dict.fromkeys(piece, errors.NO_EFFECT))


@pytest.mark.parametrize('title', ways_in.WAYS_IN)
def test_what_is_allowed_comes_in_by_each_open_way(title, cloud):
    """The control: the same requests where nothing refuses."""
    way = ways_in.WAYS_IN[title]
    rule = ways_in.Rule('', {'allowed_properties': ['hw_video_model']})
    with rule.applied(cloud, way) as app:
        response = way.ask(cloud, app, {'hw_video_model': 'vga'})
    cloud.reset()
    if way.closed is not None:
        assert response.status_int == 400, response.text
        return
    assert response.status_int == 202, response.text
    server = response.json['server']['id']
    if 'rebuild' in title:
        metadata = cloud.instance(server).system_metadata
    else:
        metadata = cloud.accepted(server)
    assert cloud.properties(metadata)['hw_video_model'] == 'vga'
    assert cloud.request_spec(server)['hw_video_model'] == 'vga'
    assert ServerRecord.read(metadata).in_force == {'hw_video_model': 'vga'}


def test_a_snapshot_carries_no_override_past_the_rules(cloud):
    """A property only comes back with the snapshot as the image's own."""
    permitted = ways_in.Rule('', {'allowed_properties': ['hw_video_model']})
    with permitted.applied(cloud, ways_in.WAYS_IN['create']) as app:
        answer = ways_in.WAYS_IN['rebuild'].ask(
            cloud, app, {'hw_video_model': 'vga'})
        assert answer.status_int == 202
    cloud.reset()
    with contextlib.ExitStack() as stack:
        app = stack.enter_context(
            ways_in.RULES['not allowed'].applied(
                cloud, ways_in.WAYS_IN['create']))
        answer = cloud.ask(
            'POST', f'/v2.1/servers/{cloud.server_id}/action',
            {'createImage': {'name': 'snapshot'}}, app=app)
        assert answer.status_int == 202, answer.text
        snapshot = cloud.glance.images[answer.json['image_id']]
        assert not any(metadata_keys.is_property(name)
                       for name in snapshot['properties'])
        snapshot['status'] = 'active'
        body = cloud.server_body(
            {'hw_boot_menu': 'true', 'hw_video_model': 'cirrus'},
            snapshot['id'], cloud.flavor_id)
        refused = cloud.ask('POST', '/v2.1/servers', body, app=app)
        assert refused.status_int == 403
        plain = cloud.ask('POST', '/v2.1/servers', cloud.server_body(
            {}, snapshot['id'], cloud.flavor_id), app=app)
        assert plain.status_int == 202, plain.text
        metadata = cloud.accepted(plain.json['server']['id'])
        assert ServerRecord.read(metadata).in_force == {}
