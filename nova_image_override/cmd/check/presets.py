"""Findings about presets: each is tried as a request that asks for it alone."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nova import objects

from nova_image_override import errors
from nova_image_override.api.change.change import Change
from nova_image_override.authorization import rules
from nova_image_override.authorization.presets import Preset
from nova_image_override.cmd.check.finding import Finding, NOTE, WARNING
from nova_image_override.cmd.check.rules import Cloud


def findings(cloud: Cloud) -> Iterator[Finding]:
    """Yield what is found, preset by preset."""
    # Large enough for anything, and without extra specs.
    plain = objects.Flavor(
        name='plain', vcpus=16, memory_mb=16384, root_gb=1, ephemeral_gb=0,
        swap=0, extra_specs={})
    for preset in cloud.enforcer.presets.now().values():
        tried = {flavor.name: _problems(cloud, preset, flavor)
                 for flavor in cloud.flavors or [plain]}
        for row in _of(cloud, preset, tried):
            yield Finding(row[0], row[1], preset.name, *row[2:])


def _problems(
    cloud: Cloud, preset: Preset, flavor: Any,
) -> tuple[errors.Problem, ...]:
    try:
        cloud.planner.plan(
            cloud.context, Change.of({}, preset.properties, preset),
            flavor, {}, new=preset.properties)
    except errors.OverrideError as exc:
        return exc.problems
    return ()


def _of(
    cloud: Cloud, preset: Preset, tried: dict[str, tuple[errors.Problem, ...]],
) -> Iterator[tuple[str, str, str, str]]:
    """Yield severity, code, why and what to change.

    :param tried: name of a flavor -> why the preset is refused with it
    """
    closed = _text(tried, True)[0]
    # Where the policy refuses it, the operator has closed it on purpose.
    if closed and rules.Policy.of_preset(preset.name, cloud.caller).permits:
        yield (WARNING, 'N1', 'the preset is refused to users with the roles '
               f'{cloud.roles}: {closed}',
               'let the rules permit that, or take it out of the preset')
    refused = dict(zip(tried, _text(tried, False)))
    if cloud.flavors is None:
        if refused['plain']:
            yield (NOTE, 'N2', 'the preset is refused with a flavor without '
                   f'extra specs: {refused["plain"]}',
                   'look with --flavors which of your flavors it goes with')
        return
    good = [name for name, why in refused.items() if not why]
    if not good:
        yield (WARNING, 'N3', 'the preset goes with no flavor of this cloud: '
               + next(iter(refused.values())),
               'correct the preset, or make a flavor that it goes with')
    for name in preset.flavors:
        why = refused.get(name, 'the cloud has no such flavor')
        if why:
            yield (WARNING, 'N4', 'the preset is told to be for the flavor '
                   f'{name}: {why}',
                   'correct the flavors of the preset, or the flavor')
    if good:
        yield (NOTE, 'N5', f'the preset goes with the flavors '
               f'{", ".join(good)}', '; '.join(
                   f'not with {name}: {why}'
                   for name, why in refused.items() if why) or 'nothing')


def _text(
    tried: dict[str, tuple[errors.Problem, ...]], permission: bool,
) -> list[str]:
    """Return for each flavor what rules refuse, or the rest."""
    return ['; '.join(str(each) for each in problems
                      if each.is_permission == permission)
            for problems in tried.values()]
