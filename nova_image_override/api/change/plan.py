"""The one way from a change of overrides to what is to be stored.

Authorise, merge over the image, check against flavor and drivers. Create,
check, rebuild and update all go this way, and then do different things with
the result.
"""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
import dataclasses
from typing import Any

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import override_record as record
from nova_image_override.api.change.change import Change
from nova_image_override.api.guest import check
from nova_image_override.api.guest import no_effect
from nova_image_override.api.guest.guest import boot_metadata
from nova_image_override.authorization import rules
from nova_image_override.authorization.caller import Callers
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.authorization.presets import Preset


@dataclasses.dataclass(frozen=True)
class Plan:
    """Image properties for a server, authorised and checked.

    :ivar change: what becomes of its overrides
    :ivar image: the image's metadata with the merged properties, and with all
        else that Nova's functions read
    :ivar image_values: the image's own value of each property that is
        overridden, None where it has none
    """

    change: Change
    image: dict[str, Any]
    image_values: dict[str, Any]

    @property
    def recorded(self) -> dict[str, str]:
        """The image properties that record the overrides."""
        return record.properties(
            self.change.after, self.image_values, self.change.preset)

    @property
    def stored(self) -> dict[str, Any]:
        """The image properties that are to be stored, with the record."""
        return {**self.image['properties'], **self.recorded}


class Planner:
    """Makes plans by the rules of one deployment.

    :param enforcer: the deployer's rules
    :param callers: turns request contexts into callers
    :param virt_drivers: the drivers of the cloud's hosts; with none, nothing
        is refused because of them
    """

    def __init__(
        self, enforcer: Enforcer, callers: Callers, virt_drivers: Set[str],
    ) -> None:
        self.catalog = enforcer.catalog
        self.enforcer = enforcer
        self.callers = callers
        self.virt_drivers = virt_drivers

    def refused(
        self, context: Any, new: override.Overrides,
        owns: Sequence[override.ImageProperties] = (), owner: Any = None, *,
        named: Preset | None = None, kept: record.UsedPreset | None = None,
    ) -> Sequence[errors.Problem]:
        """Return which of the overrides NEW the rules do not permit.

        :param owns: the properties that the image itself has, in each form
            that is possible; without, Glance's protections are not asked
        :param owner: the instance whose project and user policy compares
            with; by default those of the request
        :param named: the preset that the request names
        :param kept: the one that the server has, which permits what is still
            in it to those who may use it
        """
        if not new and named is None:
            return ()
        caller = self.callers.caller(context, owner)
        if named is None and kept is not None and (
                rules.Policy.of_preset(kept.name, caller).permits):
            return self.enforcer.refusals(
                caller, new, owns, self.enforcer.presets.now().get(kept.name))
        problems = self.enforcer.refusals(caller, new, owns, named)
        if named is not None:
            decision = rules.Policy.of_preset(named.name, caller)
            if not decision.permits:
                problems.append(errors.Problem(
                    errors.PRESET, decision.code, decision.reason))
        return problems

    def plan(
        self, context: Any, change: Change, flavor: Any,
        image: Mapping[str, Any], *, new: override.Overrides,
        owns: Sequence[override.ImageProperties] = (),
        fixed: Mapping[str, str | None] | None = None,
        ineffective: Collection[str] = (), owner: Any = None,
    ) -> Plan:
        """Authorise a change, merge it over IMAGE and check the result.

        Nothing is stored, and IMAGE is left unchanged.

        :param flavor: ``nova.objects.Flavor`` of the server
        :param image: metadata of the image, or of the volume
        :param new: the overrides that the rules have to permit
        :param owns: as for :meth:`refused`; by default those of IMAGE
        :param fixed: values that replace merged ones
        :param ineffective: overrides that may have no effect
        :param owner: as for :meth:`refused`
        :raises errors.OverrideError: the change is refused
        """
        base = image.get('properties') or {}
        owns = owns or (base,)
        problems = {each.name: each for each in self.refused(
            context, new, owns, owner, named=change.named, kept=change.preset)}
        # Properties of the image itself build no guest.
        after = {name: value for name, value in change.after.items()
                 if name not in problems or problems[name].code != errors.NEVER}
        try:
            merged = boot_metadata(dict(image), {
                **override.merge(self.catalog, base, after), **(fixed or {})})
        except errors.Invalid as exc:
            problems = {
                **{each.name: each for each in exc.problems}, **problems}
            raise errors.refusal(
                problems.values(), {*after} - {*problems}) from None
        # No flavor mends what no host of the cloud can do.
        problems = {
            **check.problems(self.catalog, flavor, merged, base, after,
                             ineffective),
            **{each.name: each for each in no_effect.on_hosts(
                self.catalog, self.virt_drivers, base, merged['properties'],
                {name: new[name] for name in new if name in after})},
            **problems}
        if problems:
            raise errors.refusal(problems.values())
        return Plan(change, merged, {
            name: override.image_value(self.catalog, owns[0], name)
            for name in change.after})
