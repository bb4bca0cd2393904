"""Findings about presets: each is tried as a request that asks for it alone."""
from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from nova import objects

from nova_image_override import errors
from nova_image_override.api.change.change import Change
from nova_image_override.authorization import rules
from nova_image_override.authorization.presets import Preset
from nova_image_override.cmd.check.finding import Check, Found, NOTE, WARNING
from nova_image_override.cmd.check.rules import Cloud


class Tried(NamedTuple):
    """A preset of a cloud, and what is wrong with it and each flavor."""

    cloud: Cloud
    preset: Preset
    problems: dict[str, tuple[errors.Problem, ...]]

    def why(self, permission: bool = False) -> dict[str, str]:
        """Return why it is refused with each flavor, or ''.

        :param permission: whether to tell what rules refuse, or the rest
        """
        return {flavor: '; '.join(str(each) for each in problems
                                  if each.is_permission == permission)
                for flavor, problems in self.problems.items()}


def tried(cloud: Cloud) -> Iterator[Tried]:
    """Try each preset with each flavor that is known, or with a plain one."""
    # Large enough for anything, and without extra specs.
    plain = objects.Flavor(
        name='plain', vcpus=16, memory_mb=16384, root_gb=1, ephemeral_gb=0,
        swap=0, extra_specs={})
    for preset in cloud.enforcer.presets.now().values():
        problems: dict[str, tuple[errors.Problem, ...]] = {}
        for flavor in cloud.flavors or [plain]:
            problems[flavor.name] = ()
            try:
                cloud.planner.plan(
                    cloud.context, Change.of({}, preset.properties, preset),
                    flavor, {}, new=preset.properties)
            except errors.OverrideError as exc:
                problems[flavor.name] = exc.problems
        yield Tried(cloud, preset, problems)


def _refused(presets: list[Tried]) -> Found:
    for each in presets:
        why = next(iter(each.why(permission=True).values()))
        # The operator has closed it on purpose.
        if why and rules.Policy.of_preset(
                each.preset.name, each.cloud.caller).permits:
            yield each.preset.name, {'roles': each.cloud.roles, 'why': why}


def _needs_a_flavor(presets: list[Tried]) -> Found:
    for each in presets:
        if each.cloud.flavors is None and (why := each.why()['plain']):
            yield each.preset.name, {'why': why}


def _goes_with_none(presets: list[Tried]) -> Found:
    for each in presets:
        found = each.why()
        if each.cloud.flavors is not None and all(found.values()):
            yield each.preset.name, {'why': next(iter(found.values()))}


def _meant_for_others(presets: list[Tried]) -> Found:
    for each in presets:
        found = each.why()
        for name in each.preset.flavors if each.cloud.flavors is not None \
                else ():
            why = found.get(name, 'the cloud has no such flavor')
            if why:
                yield each.preset.name, {'name': name, 'why': why}


def _goes_with(presets: list[Tried]) -> Found:
    for each in presets:
        found = each.why()
        good = [name for name, why in found.items() if not why]
        if each.cloud.flavors is not None and good:
            yield each.preset.name, {'good': ', '.join(good), 'bad': '; '.join(
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
