"""Decides who may override what, by applying each rule in order.

nova-api answers with the first refusal of each property,
``nova-image-override explain`` prints all decisions, and discovery renders
what the rules leave.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
import functools
import logging
from typing import Any

from nova_image_override import errors
from nova_image_override.authorization import rules
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.discovery_schema import Overridable
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.authorization.glance import property_protections
from nova_image_override.authorization.glance.protected import Protected
from nova_image_override.authorization.lists import PropertyList
from nova_image_override.authorization.presets import Preset, Presets
from nova_image_override.override import ImageProperties, Override, Overrides
from nova_image_override.properties.catalog import Catalog

LOG = logging.getLogger(__name__)

_NOTHING_INJECTED = metadata_injection.Injection()


class Enforcer:
    """The deployer's rules, compiled once at start.

    :param denied: entries of ``denied_properties``
    :param allowed: entries of ``allowed_properties``
    :raises errors.StartupError: lists are malformed; one line for each entry
    """

    def __init__(
        self, catalog: Catalog, denied: Iterable[str] = (),
        allowed: Iterable[str] = (),
        injection: metadata_injection.Injection = _NOTHING_INJECTED,
        protections: property_protections.Protections | None = None,
        presets: Presets | None = None,
    ) -> None:
        self.catalog = catalog
        self.presets = presets or Presets(catalog)
        self.denied, self.allowed = _compiled(catalog, denied, allowed)
        self.injection = injection
        self.protected = Protected(
            protections, tuple(entry.name for entry in self.allowed.entries))
        #: In the order in which they are applied.
        self.rules: tuple[rules.Rule, ...] = (
            rules.Never(), rules.Denied(self.denied),
            rules.Allowed(self.allowed, self.denied), self.injection,
            self.protected, rules.Policy())
        self._deciding = [rule for rule in self.rules if rule.is_configured]
        for warning in self.unknown_names():
            LOG.warning('%s', warning)

    @classmethod
    def from_options(cls, catalog: Catalog, options: Any) -> Enforcer:
        """Read the rules that the OPTIONS of ``[image_override]`` name.

        :raises errors.StartupError: naming every list and every file of
            Glance's that is wrong
        """
        denied, allowed = options.denied_properties, options.allowed_properties
        _, injection, protections, presets = errors.all_made(
            lambda: _compiled(catalog, denied, allowed),
            lambda: metadata_injection.load(options.glance_image_import_files),
            lambda: property_protections.load(
                options.property_protection_file,
                options.property_protection_rule_format,
                options.property_protection_policy_file)
            if options.property_protection_file else None,
            lambda: Presets(catalog, options.presets_file))
        return cls(catalog, denied, allowed, injection, protections, presets)

    def unknown_names(self) -> list[str]:
        """Return a warning for each list with names that this Nova lacks."""
        return [
            f'[image_override] {each.option}: this Nova has no such image '
            'property, the entry has no effect: ' + ', '.join(
                f'{entry.name} (did you mean {meant}?)'
                if meant else entry.name for entry, meant in unknown.items())
            for each in (self.denied, self.allowed)
            if (unknown := each.unknown_names())]

    @property
    def glances_files(self) -> str:
        """Where Glance's files are, in words."""
        return 'the files that nova.conf names' if (
            self.injection.configured or self.protected.protections
        ) else 'not given'

    def refusals(
        self, caller: Caller, overrides: Overrides,
        images: Sequence[ImageProperties] = (),
    ) -> list[errors.Problem]:
        """Return the first refusal of each property that is refused.

        CALLER must be permitted to use the preset that the request names.
        Overrides that a server keeps from a preset need no entry in the lists
        while the preset still has them and CALLER may use it.

        :param images: as in :class:`rules.Request`; without them, Glance's
            protections are not checked
        """
        problems = []
        if used := overrides.preset:
            decision = rules.of_preset(used.name, caller)
            if not overrides.is_kept:
                if not decision.permits:
                    problems.append(errors.Problem(
                        errors.PRESET, decision.code, decision.reason))
            elif decision.permits and (
                    preset := self.presets.now().get(used.name)):
                overrides = overrides.as_given_by(preset.overrides)
        refused: dict[str, rules.Decision] = {}
        request = rules.Request(caller, overrides, images)
        for rule in self._deciding:
            for decision in rule.decide(request):
                if decision.code:
                    refused.setdefault(decision.name, decision)
        return problems + [errors.Problem(name, each.code, each.reason)
                           for name, each in refused.items()]

    def decisions(
        self, caller: Caller, overrides: Overrides,
        images: Sequence[ImageProperties] = (),
    ) -> list[rules.Decision]:
        """Return what each rule decides about each override, in order."""
        request = rules.Request(caller, overrides, images)
        return [decision for rule in self.rules
                for decision in rule.decide(request)]

    def preset(self, caller: Caller, name: object) -> Preset:
        """Return the preset that a request of CALLER names.

        :raises errors.Invalid: there is none that CALLER may use
        """
        return self.presets.named(
            name, lambda each: rules.of_preset(each, caller).permits)

    def overridable(self, caller: Caller) -> Iterator[Overridable]:
        """Yield what CALLER may override, on one image or another."""
        for prop in self.catalog.values():
            left = [Overridable(prop)]
            for rule in self.rules:
                left = [narrowed for each in left
                        for narrowed in rule.limit(each, caller)]
            yield from (each for each in left if each.is_open)

    def usable(self, caller: Caller) -> Iterator[Preset]:
        """Yield the presets that CALLER may use, on one image or another."""
        # Presets of one cloud have most of their overrides in common.
        @functools.cache
        def may(name: str, value: str | None) -> bool:
            alone = Override(self.catalog.resolve(name), name, value, name)
            return not self.refusals(caller, Overrides((alone,))) \
                and self.protected.permitted(
                    name, alone.prop, caller)[value is None]

        for preset in self.presets.now().values():
            if rules.of_preset(preset.name, caller).permits and all(
                    may(each.name, each.value) for each in preset.overrides):
                yield preset


def _compiled(
    catalog: Catalog, denied: Iterable[str], allowed: Iterable[str],
) -> list[PropertyList]:
    return errors.all_made(
        lambda: PropertyList(rules.Denied.OPTION, denied, catalog),
        lambda: PropertyList(rules.Allowed.OPTION, allowed, catalog))
