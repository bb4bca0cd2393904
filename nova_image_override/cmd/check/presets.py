"""Findings about presets: each is tried as a request that asks for it alone."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from nova import objects

from nova_image_override import errors
from nova_image_override.api.change.plan import Change
from nova_image_override.authorization.presets import Preset
from nova_image_override.cmd.check.finding import Finding, NOTE, WARNING
from nova_image_override.cmd.check.rules import Cloud


def findings(cloud: Cloud) -> Iterator[Finding]:
    """Yield what is wrong with each preset, and which flavors it goes with."""
    # Large enough for anything, and without extra specs.
    plain = objects.Flavor(
        name='plain', vcpus=16, memory_mb=16384, root_gb=1, ephemeral_gb=0,
        swap=0, extra_specs={})
    for preset in cloud.enforcer.presets.now().values():
        refused = cloud.planner.refused(
            cloud.context, preset.overrides, [{}])
        # Otherwise the operator has closed the preset itself, on purpose.
        if refused and all(
                each.code != errors.PRESET_NOT_ALLOWED for each in refused):
            yield Finding(
                WARNING, 'N1', preset.name,
                'the preset is refused to users with the roles '
                f'{cloud.roles}: {_listed(refused)}',
                'let the rules permit that, or take it out of the preset')
        refusals = _refusals(cloud, preset, plain)
        excluded = [each for each in refusals
                    if each.code == errors.PROPERTY_CONFLICT]
        if excluded:
            yield Finding(
                WARNING, 'N6', preset.name, 'no host builds a server with the '
                f'preset: {_listed(excluded)}', 'correct the preset')
        elif cloud.flavors is not None:
            yield from _with_flavors(preset, {
                flavor.name: _listed(_refusals(cloud, preset, flavor))
                for flavor in cloud.flavors})
        elif refusals:
            yield Finding(
                NOTE, 'N2', preset.name,
                'the preset is refused with a flavor without extra specs: '
                + _listed(refusals),
                'look with --flavors which of your flavors it goes with')


def _refusals(
    cloud: Cloud, preset: Preset, flavor: objects.Flavor,
) -> list[errors.Problem]:
    """Return why a preset is refused with FLAVOR, whoever asks."""
    try:
        cloud.planner.plan(
            cloud.context, Change(flavor, {}, preset.overrides,
                                  preset.overrides), authorises=False)
    except errors.OverrideError as exc:
        return list(exc.problems)
    return []


def _with_flavors(
    preset: Preset, refusals: dict[str, str],
) -> Iterator[Finding]:
    """Find how a preset goes with flavors: name -> why it is refused."""
    good = [name for name, why in refusals.items() if not why]
    if refusals and not good:
        yield Finding(
            WARNING, 'N3', preset.name, 'the preset goes with no flavor of '
            f'this cloud: {next(iter(refusals.values()))}',
            'correct the preset, or make a flavor that it goes with')
    for name in preset.flavors:
        why = refusals.get(name, 'the cloud has no such flavor')
        if why:
            yield Finding(
                WARNING, 'N4', preset.name,
                f'the preset is told to be for the flavor {name}: {why}',
                'correct the flavors of the preset, or the flavor')
    if good:
        yield Finding(
            NOTE, 'N5', preset.name,
            f'the preset goes with the flavors {", ".join(good)}',
            '; '.join(f'not with {name}: {why}'
                      for name, why in refusals.items() if why) or 'nothing')


def _listed(problems: Iterable[errors.Problem]) -> str:
    return '; '.join(map(str, sorted(problems)))
