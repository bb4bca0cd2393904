"""The ways in, and the rules that block each of them."""
from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import json
import pathlib
import typing

import fixtures
import nova.policy
import webob

from nova_image_override import errors
from nova_image_override import policies
from testing.cases import values
from testing.harness import applications
from testing.harness import base
from tests.proof import api

Overrides = dict[str, typing.Optional[str]]


class Cloud(api.Api):
    """nova-api, and one server that can be rebuilt."""

    BUILD = True
    EXTENDED_HOSTS = ('compute1',)
    OPTIONS = {'allowed_properties': []}

    def setUp(self) -> None:
        super().setUp()
        self.flavor_id = self.flavor()
        self.bare = self.image()
        self.volume_id = self.volume()
        self.presets = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'presets.yaml')
        self.presets.write_text('{}')

    def stop(self) -> None:
        self.server_id = self.boot()
        super().stop()

    def reset(self) -> None:
        """Let the server be rebuilt again."""
        self.act(self.server_id, {'os-resetState': {'state': 'active'}},
                 admin=True)


@dataclasses.dataclass(frozen=True)
class WayIn:
    """One way to ask for overrides.

    :ivar path: what is requested
    :ivar body: makes the body of a request that asks for overrides
    :ivar closed: the code that refuses whatever comes this way, if any
    :ivar options: the options of ``[image_override]`` that open it
    :ivar named: whether the header names the extension
    :ivar nulls: whether it can ask for the removal of a property
    """

    path: str
    body: collections.abc.Callable[[Cloud, Overrides], typing.Any]
    closed: str | None = None
    options: dict[str, typing.Any] = dataclasses.field(default_factory=dict)
    named: bool = True
    compute: str = '2.93'
    nulls: bool = True

    def ask(
        self, cloud: Cloud, app: typing.Any, overrides: Overrides,
    ) -> webob.Response:
        """Ask for OVERRIDES in this way."""
        header = applications.version_header(self.compute, self.named)
        return cloud.ask(
            'POST', self.path.format(server=cloud.server_id,
                                     project=cloud.api.project_id),
            self.body(cloud, overrides), app=app,
            version=next(iter(header.values())))


def _create(**server: typing.Any) -> collections.abc.Callable[
        [Cloud, Overrides], typing.Any]:
    def body(cloud: Cloud, overrides: Overrides) -> typing.Any:
        return cloud.server_body(overrides, flavor=cloud.flavor_id, **server)
    return body


def _device(source: str) -> collections.abc.Callable[
        [Cloud, Overrides], typing.Any]:
    def body(cloud: Cloud, overrides: Overrides) -> typing.Any:
        device = {'boot_index': 0, 'destination_type': 'volume',
                  'source_type': source, 'volume_size': 10}
        if source != 'blank':
            device['uuid'] = (cloud.volume_id if source == 'volume'
                              else cloud.bare)
        return cloud.server_body(
            overrides, None, cloud.flavor_id,
            block_device_mapping_v2=[device])
    return body


def _rebuild(image: str) -> collections.abc.Callable[
        [Cloud, Overrides], typing.Any]:
    def body(cloud: Cloud, overrides: Overrides) -> typing.Any:
        return {'rebuild': {
            'imageRef': base.IMAGE if image == 'same' else cloud.bare,
            base.PARAMETER: overrides}}
    return body


def _hint(how: str) -> collections.abc.Callable[
        [Cloud, Overrides], typing.Any]:
    def body(cloud: Cloud, overrides: Overrides) -> typing.Any:
        made = cloud.server_body(None, flavor=cloud.flavor_id)
        made['os:scheduler_hints'] = {
            'object': {base.PARAMETER: overrides},
            'text': {base.PARAMETER: json.dumps(overrides)},
            'each': {f'{base.PARAMETER}:{name}': value
                     for name, value in overrides.items()}}[how]
        return made
    return body


def _metadata(cloud: Cloud, overrides: Overrides) -> typing.Any:
    return cloud.server_body(None, flavor=cloud.flavor_id, metadata={
        f'{base.PARAMETER}:{name}': value
        for name, value in overrides.items()})


_HINTS = ('object', 'text', 'each')

_SERVERS, _ACTION = '/v2.1/servers', '/v2.1/servers/{server}/action'

WAYS_IN: dict[str, WayIn] = {
    'create': WayIn(_SERVERS, _create()),
    'create, project in the path': WayIn('/v2.1/{project}/servers', _create()),
    'create of several': WayIn(_SERVERS, _create(min_count=3)),
    'create, newest microversion': WayIn(
        _SERVERS, _create(), compute='latest'),
    'boot from a volume': WayIn(_SERVERS, _device('volume')),
    'boot from a volume made of an image': WayIn(_SERVERS, _device('image')),
    'boot from a blank volume': WayIn(_SERVERS, _device('blank')),
    'rebuild': WayIn(_ACTION, _rebuild('same')),
    'rebuild from another image': WayIn(_ACTION, _rebuild('other')),
    'legacy /v2': WayIn('/v2/servers', _create(), errors.NOT_HERE),
    'legacy /v2 rebuild': WayIn(
        '/v2/servers/{server}/action', _rebuild('same'), errors.NOT_HERE),
    'no version entry': WayIn(
        _SERVERS, _create(), errors.VERSION_MISSING, named=False),
    # The ones that a deployer can open for clients that cannot name the
    # extension.
    **{f'scheduler hint, {how}': WayIn(
        _SERVERS, _hint(how), named=False,
        options={'accept_scheduler_hint': True})
       for how in _HINTS},
    **{f'scheduler hint, {how}, closed': WayIn(
        _SERVERS, _hint(how), errors.NOT_HERE) for how in _HINTS},
    'metadata': WayIn(_SERVERS, _metadata, named=False, nulls=False,
                      options={'accept_server_metadata': True}),
    'metadata, closed': WayIn(
        _SERVERS, _metadata, errors.NOT_HERE, named=False, nulls=False),
    'compute microversion': WayIn(
        _SERVERS, _create(), named=False, compute='latest',
        options={'compute_microversion': '2.96'}),
}


def _preset(
    body: collections.abc.Callable[[Cloud, Overrides], typing.Any],
    in_metadata: bool = False,
) -> collections.abc.Callable[[Cloud, Overrides], typing.Any]:
    def with_preset(cloud: Cloud, overrides: Overrides) -> typing.Any:
        # The file has them by the time of the request.
        new = cloud.presets.with_suffix('.new')
        new.write_text(json.dumps({'one': {
            'description': 'x', 'properties': overrides}}))
        new.replace(cloud.presets)
        made = body(cloud, {})
        (key,) = made
        held = made[key]
        held.pop(base.PARAMETER, None)
        if in_metadata:
            held = held.setdefault('metadata', {})
        held[errors.PRESET] = 'one'
        return made
    return with_preset


#: By which a preset can be asked for, whose properties need no entry.
WITH_PRESET: dict[str, WayIn] = {
    'create': WayIn(_SERVERS, _preset(_create())),
    'boot from a volume': WayIn(_SERVERS, _preset(_device('volume'))),
    'rebuild': WayIn(_ACTION, _preset(_rebuild('same'))),
    'rebuild from another image': WayIn(_ACTION, _preset(_rebuild('other'))),
    'metadata': WayIn(_SERVERS, _preset(_create(), in_metadata=True),
                      named=False, options={'accept_server_metadata': True}),
}


@dataclasses.dataclass(frozen=True)
class Rule:
    """One way for a deployer to refuse everything.

    :ivar code: of the refusals
    :ivar options: of ``[image_override]``
    :ivar policy: policy.yaml
    :ivar spares: the properties that it cannot refuse
    :ivar reading: Nova's enforcer is rereading policy.yaml all the while
    """

    code: str
    options: dict[str, typing.Any]
    policy: dict[str, str] = dataclasses.field(default_factory=dict)
    spares: tuple[str, ...] = ()
    reading: bool = False

    @contextlib.contextmanager
    def applied(
        self, cloud: Cloud, way: WayIn,
    ) -> collections.abc.Iterator[typing.Any]:
        """Yield an application that has the rule, and what WAY needs."""
        options = {'presets_file': str(cloud.presets), **self.options,
                   **way.options}
        folder = pathlib.Path(cloud.useFixture(fixtures.TempDir()).path)
        for name, (option, text) in _FILES.items():
            if name in options:
                options.pop(name)
                path = folder / name
                path.write_text(text)
                options[option] = [str(path)] if option.endswith(
                    '_files') else str(path)
        with contextlib.ExitStack() as stack:
            if self.policy:
                stack.enter_context(_policy(folder, self.policy))
            if self.reading:
                # As Enforcer._record_file_rules leaves it while it parses.
                nova.policy._ENFORCER.file_rules = {}
            yield stack.enter_context(cloud.options(**options))


_INJECTED = sorted({
    *values.CATALOG.legacy, *(
        name for prop in values.CATALOG.values()
        for name in values.names(prop)
        # The option for Glance's import splits at ":".
        if not name.startswith('trait:'))})

#: What Glance's files say, by the name of the file.
_FILES = {
    'protections': ('property_protection_file', (
        '[.*]\ncreate = !\nread = @\nupdate = !\ndelete = !\n')),
    'injection': ('glance_image_import_files', (
        '[image_import_opts]\nimage_import_plugins = [inject_image_metadata]\n'
        '[inject_metadata_properties]\nignore_user_roles = admin\ninject = '
        + ','.join(f'{name}:x' for name in _INJECTED) + '\n')),
}

_ALL = {'allowed_properties': ['*']}

#: The last value of each property that requests may set.
_LAST = {field: values.taken(prop)[-1]
         for field, prop in values.CATALOG.items() if not prop.record.never}

_EACH = {f'{policies.CREATE}:{field}': '!' for field in values.CATALOG}

RULES: dict[str, Rule] = {
    'denied': Rule(errors.DENIED, {**_ALL, 'denied_properties': ['*']}),
    'denied by name': Rule(errors.DENIED, {
        **_ALL, 'denied_properties': sorted(values.CATALOG)}),
    'denied by family': Rule(errors.DENIED, {
        **_ALL, 'denied_properties': ['hw_*', 'img_*', 'os_*', 'trait:*']}),
    # Each matches just one name, after as many stars as it has letters.
    'denied by globs that backtrack': Rule(errors.DENIED, {
        **_ALL, 'denied_properties': [
            '*'.join(name) for name in sorted(values.CATALOG)]}),
    'not allowed': Rule(errors.NOT_ALLOWED, {'allowed_properties': []}),
    'allowed with another value': Rule(errors.VALUE_NOT_ALLOWED, {
        'allowed_properties': [
            f'{field}={value}' for field, value in _LAST.items()]},
        spares=tuple(field for field, value in _LAST.items()
                     if value == values.taken(values.CATALOG[field])[0])),
    'injected by Glance': Rule(
        errors.INJECTED, {**_ALL, 'injection': True},
        spares=('traits_required',)),
    'protected by Glance': Rule(
        errors.PROTECTED, {**_ALL, 'protections': True}),
    'policy': Rule(errors.POLICY, _ALL, {policies.CREATE: '!'}),
    'policy of each property': Rule(errors.POLICY, _ALL, _EACH),
    'policy of each property, being read anew': Rule(
        errors.POLICY, _ALL, _EACH, reading=True),
}


@contextlib.contextmanager
def _policy(
    folder: pathlib.Path, rules: dict[str, str],
) -> collections.abc.Iterator[None]:
    path = folder / 'policy.yaml'
    path.write_text(json.dumps(rules))
    before = base.CONF.oslo_policy.policy_file
    try:
        base.CONF.set_override('policy_file', str(path), group='oslo_policy')
        _reread_policy()
        yield
    finally:
        base.CONF.set_override('policy_file', before, group='oslo_policy')
        _reread_policy()


def _reread_policy() -> None:
    nova.policy.reset()
    nova.policy.init(suppress_deprecation_warnings=True)
