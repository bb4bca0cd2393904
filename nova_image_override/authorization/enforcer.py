"""The one place that decides who may override what.

For each property the enforcer yields one decision per rule, in order. nova-api
raises the first refusal, ``nova-image-override explain`` prints all of them,
and discovery renders what the rules leave as a JSON Schema.
"""

import collections.abc
import functools
import logging
import typing

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import policies
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import decisions
from nova_image_override.authorization import policy_files
from nova_image_override.authorization import property_lists
from nova_image_override.authorization import property_rules
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.authorization.glance import property_protections
from nova_image_override.properties import catalog as catalog_module

LOG = logging.getLogger(__name__)

Decisions = tuple[decisions.Decision, ...]

#: What Glance would have to permit: names of properties and operations.
Operations = collections.abc.Iterable[tuple[str, str]]

_NOTHING_INJECTED = metadata_injection.Injection()


_UNPROTECTED = (decisions.Decision(
    decisions.PROTECTIONS, True, decisions.Source(decisions.PROTECTIONS),
    detail='property_protection_file is not set'),)


class Enforcer:
    """The deployer's rules, compiled once at start.

    :param catalog: the running Nova's properties
    :param denied: entries of ``denied_properties``
    :param allowed: entries of ``allowed_properties``
    :param injection: what Glance injects on import
    :param protections: Glance's property protections, if it has any
    :raises errors.StartupError: lists are malformed; one line for each entry
    """

    #: How many names have the entries that match them remembered.
    CACHE_SIZE = 2048

    def __init__(
        self, catalog: catalog_module.Catalog,
        denied: collections.abc.Iterable[str] = (),
        allowed: collections.abc.Iterable[str] = (),
        injection: metadata_injection.Injection = _NOTHING_INJECTED,
        protections: property_protections.Protections | None = None,
    ) -> None:
        self.catalog = catalog
        self._merger = override.Merger(catalog)
        self.injection = injection
        self._not_injected = decisions.Decision(
            decisions.INJECTION, True, decisions.Source(decisions.INJECTION),
            detail='not injected for these roles' if injection.enabled
            else f'the plugin {metadata_injection.PLUGIN} is off'
            if injection.configured
            else f'{metadata_injection.OPTION} is not set')
        self.protections = protections
        self.denied, self.allowed = _compiled(catalog, denied, allowed)
        for checked in (self.denied, self.allowed):
            unknown = checked.unknown_names()
            if unknown:
                LOG.warning(
                    '[image_override] %s: this Nova has no such image '
                    'property, the entry has no effect: %s',
                    checked.option, ', '.join(e.name for e in unknown))
        #: The rules of the property called NAME.
        self.rules_of = functools.lru_cache(self.CACHE_SIZE)(self._rules_of)

    @classmethod
    def from_options(
        cls, catalog: catalog_module.Catalog, options: typing.Any,
    ) -> 'Enforcer':
        """Read the rules that the group ``[image_override]`` names.

        :param options: the group's options
        :raises errors.StartupError: naming every list and every file of
            Glance's that is wrong
        """
        denied, allowed = options.denied_properties, options.allowed_properties
        _, injection, protections = errors.all_made(
            lambda: _compiled(catalog, denied, allowed),
            lambda: metadata_injection.load(options.glance_image_import_files),
            lambda: property_protections.load(
                options.property_protection_file,
                options.property_protection_rule_format,
                options.property_protection_policy_file)
            if options.property_protection_file else None)
        return cls(catalog, denied, allowed, injection, protections)

    def _rules_of(self, name: str) -> property_rules.PropertyRules:
        prop = self.catalog.resolve(name)
        return property_rules.PropertyRules(
            name, prop.field, (name, *prop.legacy_names), prop.never,
            self.denied.matching(name, prop.field),
            self.allowed.matching(name, prop.field))

    def check(
        self, caller: caller_module.Caller, overrides: override.Overrides,
        images: collections.abc.Sequence[override.ImageProperties],
    ) -> None:
        """Permit OVERRIDES, or refuse them.

        :param images: the properties of the image, or volume, itself; more
            than one where it is not known which of them it has: what each
            would need is then needed
        :raises errors.Forbidden: naming every refused property
        """
        rules = {name: self.rules_of(name) for name in overrides}
        by_policy = policy_files.refused_by(
            caller.can, caller.policy_defined,
            {each.field for each in rules.values()})
        injected = self.injection.names(caller.roles)
        problems = []
        for name, each in rules.items():
            for decision in self._decisions(
                    each, overrides[name], caller, injected, by_policy,
                    self._needed(name, overrides, images)):
                if not decision.permits:
                    problems.append(decision.problem(name))
                    break
        if problems:
            raise errors.Forbidden(problems)

    def _needed(
        self, name: str, overrides: override.Overrides,
        images: collections.abc.Iterable[override.ImageProperties],
    ) -> Operations:
        """Return what Glance must permit, whichever image it is."""
        if self.protections is None:
            return ()
        return dict.fromkeys(
            operation for image in images for operation in
            self.operations_needed(name, overrides, image).items())

    def decide(
        self, caller: caller_module.Caller, name: str, value: decisions.Value,
        operations: Operations,
    ) -> Decisions:
        """Return what each rule decides, in order.

        :param operations: what Glance would have to permit
        :raises errors.Invalid: there is no property called NAME
        """
        rules = self.rules_of(name)
        return self._decisions(
            rules, value, caller, self.injection.names(caller.roles),
            policy_files.refused_by(
                caller.can, caller.policy_defined, [rules.field]), operations)

    def _decisions(
        self, rules: property_rules.PropertyRules, value: decisions.Value,
        caller: caller_module.Caller, injected: collections.abc.Set[str],
        by_policy: collections.abc.Mapping[str, str], operations: Operations,
    ) -> Decisions:
        refusing = by_policy.get(rules.field)
        rule = refusing or policies.property_rule(rules.field)
        return (
            rules.never_decision(), rules.denied_decision(value),
            rules.allowed_decision(value),
            self._by_injection(rules, injected) if injected
            else self._not_injected,
            *self._by_protections(rules.name, caller, operations),
            _by_policy(
                rule if refusing or rule in caller.policy_defined
                else policies.CREATE, refusing is None))

    # --- Glance's injection on import ---------------------------------------

    def injects(self, caller: caller_module.Caller, name: str) -> bool:
        """Return whether Glance injects the property NAME for CALLER."""
        return not self._by_injection(
            self.rules_of(name), self.injection.names(caller.roles)).permits

    def _by_injection(
        self,
        rules: property_rules.PropertyRules,
        injected: collections.abc.Set[str],
    ) -> decisions.Decision:
        for each in rules.names:
            if each in injected:
                which = (each if each == rules.name
                         else f'{each}, which is {rules.name} too,')
                return decisions.Decision(
                    decisions.INJECTION, False,
                    decisions.Source(decisions.INJECTION), errors.INJECTED,
                    f"this cloud's image service sets {which} on the images "
                    'that you import')
        return self._not_injected

    # --- Glance's property protections --------------------------------------

    def permits(
        self, name: str, operation: str, caller: caller_module.Caller,
    ) -> bool:
        """Return whether Glance lets CALLER do OPERATION to the property NAME.

        :param name: as Glance knows it, legacy names included
        """
        return self.protections is None or self.protections.permits(
            name, operation, caller.credentials)

    def can_set(self, caller: caller_module.Caller, name: str) -> bool:
        """Return whether Glance lets CALLER set the property on some image."""
        return all(
            self.permits(each, property_protections.CREATE, caller)
            or self.permits(each, property_protections.UPDATE, caller)
            for each in self.operations_needed(name, {name: ''}, {}))

    def can_remove(self, caller: caller_module.Caller, name: str) -> bool:
        """Return whether Glance lets CALLER remove the property."""
        return all(
            self.permits(each, operation, caller) for each, operation
            in self.operations_needed(name, {name: None}, {}).items())

    def operations_needed(
        self, name: str, overrides: override.Overrides,
        base: override.ImageProperties,
    ) -> dict[str, str]:
        """Return what Glance must permit for the override of NAME.

        Every name of the property counts as if the override set or removed
        it in the image (Nova reads them as one, Glance does not know that).
        So does every other name that the merge writes, because it is passed on
        to snapshots. A legacy name that the image lacks, that no section
        matches and that the merge does not write is left out: Glance closes it
        to everybody, but nobody meant it to, and the user may set the property
        under its current name all the same.

        :param overrides: all that are merged over BASE together
        :returns: name, as Glance knows it -> operation
        """
        if self.protections is None:
            return {}
        removes = overrides[name] is None
        written = self._merger.written(base, overrides, name)
        result = {}
        for each in dict.fromkeys((*self.rules_of(name).names, *written)):
            has = base.get(each) is not None
            if (each == name or has or each in written
                    or self.protections.section(each) is not None):
                result[each] = (
                    property_protections.DELETE
                    if removes and each not in written
                    else property_protections.UPDATE if has
                    else property_protections.CREATE)
        return result

    def operations_on_some_image(
        self, name: str, value: decisions.Value,
    ) -> Operations:
        """Yield what Glance must permit, on one image or another.

        :param value: what the override is to do; if that is not known, the
            operations for both setting and removing the property are yielded
        """
        removed = self.operations_needed(name, {name: None}, {})
        if value is None:
            yield from removed.items()
            return
        for each in self.operations_needed(name, {name: ''}, {}):
            yield each, property_protections.CREATE
            yield each, property_protections.UPDATE
            if value is decisions.AnyValue.ANY and each in removed:
                yield each, property_protections.DELETE

    def _by_protections(
        self, name: str, caller: caller_module.Caller, operations: Operations,
    ) -> Decisions:
        if self.protections is None:
            return _UNPROTECTED
        return tuple(
            self._by_section(
                name, each, operation, self.protections.section(each),
                self.permits(each, operation, caller))
            for each, operation in operations)

    def _by_section(
        self, name: str, each: str, operation: str,
        section: property_protections.Section | None, permits: bool,
    ) -> decisions.Decision:
        """Decide about the override of NAME by the section of one name."""
        rule = f'{decisions.PROTECTIONS}: {operation} {each}'
        if section is None:
            source = decisions.Source(decisions.PROTECTIONS)
            detail = 'no section matches'
        else:
            source = decisions.Source(
                decisions.PROTECTIONS, section.name, operation)
            said = ', '.join(section.permissions[operation]) or 'nobody'
            detail = f'[{section.name}] {operation} = {said}'
        if permits:
            return decisions.Decision(
                rule, True, source, detail=detail, operation=operation)
        return decisions.Decision(
            rule, False, source, errors.PROTECTED,
            f"Glance's property protections do not let you {operation} {each}"
            + self._relation(name, each), detail, operation)

    def _relation(self, name: str, each: str) -> str:
        """Return what EACH, which Glance closes, has to do with NAME."""
        if each == name:
            return ''
        how = (f', which is {name} too' if each in self.rules_of(name).names
               else f', which overriding {name} writes')
        if self.protections is not None and \
                self.protections.section(each) is None:
            how += (': no section of the protections matches it, the operator '
                    f'can add one such as [^{each}$]')
        return how


def _compiled(
    catalog: catalog_module.Catalog, denied: collections.abc.Iterable[str],
    allowed: collections.abc.Iterable[str],
) -> list[property_lists.PropertyList]:
    return errors.all_made(
        lambda: property_lists.PropertyList(
            decisions.DENIED, denied, catalog),
        lambda: property_lists.PropertyList(
            decisions.ALLOWED, allowed, catalog))


def _by_policy(rule: str, permits: bool) -> decisions.Decision:
    source = decisions.Source(decisions.POLICY, rule)
    if permits:
        return decisions.Decision(
            decisions.POLICY, True, source, detail=rule)
    return decisions.Decision(
        decisions.POLICY, False, source, errors.POLICY,
        f'policy {rule} does not permit it', rule)
