"""Findings about presets: each is tried as a request that asks for it alone."""
from __future__ import annotations

from collections.abc import Iterator

from nova import objects

from nova_image_override import errors
from nova_image_override.api.change.change import Change
from nova_image_override.authorization import rules
from nova_image_override.authorization.presets import Preset
from nova_image_override.cmd.check.finding import Check, Found, NOTE, WARNING
from nova_image_override.cmd.check.rules import Cloud


def _tried(
    cloud: Cloud, permission: bool = False,
) -> Iterator[tuple[Preset, dict[str, str]]]:
    """Yield each preset, and why it is refused with each flavor, or ''.

    :param permission: whether to tell what rules refuse, or the rest
    """
    # Large enough for anything, and without extra specs.
    plain = objects.Flavor(
        name='plain', vcpus=16, memory_mb=16384, root_gb=1, ephemeral_gb=0,
        swap=0, extra_specs={})
    for preset in cloud.enforcer.presets.now().values():
        found = {}
        for flavor in cloud.flavors or [plain]:
            said: tuple[errors.Problem, ...] = ()
            try:
                cloud.planner.plan(
                    cloud.context, Change.of({}, preset.properties, preset),
                    flavor, {}, new=preset.properties)
            except errors.OverrideError as exc:
                said = exc.problems
            found[flavor.name] = '; '.join(
                str(each) for each in said if each.is_permission == permission)
        yield preset, found


def _refused(cloud: Cloud) -> Found:
    for preset, found in _tried(cloud, permission=True):
        why = next(iter(found.values()))
        # The operator has closed it on purpose.
        if why and rules.Policy.of_preset(preset.name, cloud.caller).permits:
            yield preset.name, {'roles': cloud.roles, 'why': why}


def _needs_a_flavor(cloud: Cloud) -> Found:
    for preset, found in _tried(cloud):
        if cloud.flavors is None and all(found.values()):
            yield preset.name, {'why': found['plain']}


def _goes_with_none(cloud: Cloud) -> Found:
    for preset, found in _tried(cloud):
        if cloud.flavors is not None and all(found.values()):
            yield preset.name, {'why': next(iter(found.values()))}


def _meant_for_others(cloud: Cloud) -> Found:
    for preset, found in _tried(cloud):
        for name in preset.flavors if cloud.flavors is not None else ():
            why = found.get(name, 'the cloud has no such flavor')
            if why:
                yield preset.name, {'name': name, 'why': why}


def _goes_with(cloud: Cloud) -> Found:
    for preset, found in _tried(cloud):
        good = [name for name, why in found.items() if not why]
        if cloud.flavors is not None and good:
            yield preset.name, {'good': ', '.join(good), 'bad': '; '.join(
                f'not with {name}: {why}'
                for name, why in found.items() if why) or 'nothing'}


CHECKS = (
    Check(WARNING, 'N1', _refused,
          'the preset is refused to users with the roles {roles}: {why}',
          'let the rules permit that, or take it out of the preset'),
    Check(NOTE, 'N2', _needs_a_flavor,
          'the preset is refused with a flavor without extra specs: {why}',
          'look with --flavors which of your flavors it goes with'),
    Check(WARNING, 'N3', _goes_with_none,
          'the preset goes with no flavor of this cloud: {why}',
          'correct the preset, or make a flavor that it goes with'),
    Check(WARNING, 'N4', _meant_for_others,
          'the preset is told to be for the flavor {name}: {why}',
          'correct the flavors of the preset, or the flavor'),
    Check(NOTE, 'N5', _goes_with, 'the preset goes with the flavors {good}',
          '{bad}'),
)
