"""Findings about lists, policy, Glance's rules, and drivers."""

from collections.abc import Callable, Iterable, Iterator
import re

from nova_image_override import policies
from nova_image_override.authorization import property_lists
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.authorization.property_rules import PropertyRules
from nova_image_override.cmd.check.cloud import Cloud
from nova_image_override.cmd.check.finding import Check
from nova_image_override.cmd.check.finding import ERROR
from nova_image_override.cmd.check.finding import Found
from nova_image_override.cmd.check.finding import NOTE
from nova_image_override.cmd.check.finding import WARNING
from nova_image_override.properties import driver_matrix
from nova_image_override.properties import drivers
from nova_image_override.properties import families
from nova_image_override.properties.property import Property


def _unknown_names(cloud: Cloud) -> Found:
    for rules in cloud.lists:
        for entry in rules.unknown_names():
            yield entry.text, {'option': rules.option}


def _matches_nothing(cloud: Cloud) -> Found:
    for rules in cloud.lists:
        unknown = rules.unknown_names()
        for entry in rules.entries:
            if entry not in unknown and not cloud.reached(rules, entry):
                yield entry.text, {'option': rules.option}


def _values_that_nothing_takes(cloud: Cloud) -> Found:
    for rules in cloud.lists:
        for entry in rules.entries:
            dead = rules.dead_values(entry)
            if dead and cloud.reached(rules, entry):
                yield entry.text, {
                    'option': rules.option, 'values': ', '.join(dead)}


def _denied_again(cloud: Cloud) -> Found:
    for entry in cloud.enforcer.allowed.entries:
        reached = cloud.reached(cloud.enforcer.allowed, entry)
        if reached and all(
                any(not found.values and (whole or found.name == entry.name)
                    for found, whole in cloud.enforcer.denied.reaching(prop))
                for prop in reached):
            yield entry.text, {}


def _repeated(cloud: Cloud) -> Found:
    for rules in cloud.lists:
        seen = set()
        for entry in rules.entries:
            if (entry.name, entry.values) in seen:
                yield entry.text, {'option': rules.option}
            seen.add((entry.name, entry.values))


def _nothing_allowed(cloud: Cloud) -> Found:
    if not cloud.enforcer.allowed.entries:
        yield 'allowed_properties', {}


def _policies_of_no_property(cloud: Cloud) -> Found:
    prefix = policies.CREATE + ':'
    known = {prop.field for prop in cloud.properties}
    for name in cloud.caller.policy_defined:
        if name.startswith(prefix) and name.removeprefix(prefix) not in known:
            yield name, {'example': policies.property_rule('hw_numa_mem')}


# --- beside Glance's rules ---------------------------------------------------

#: Returns whether the rules of an enforcer refuse the property to a caller.
_Refuses = Callable[[Enforcer, Caller, str], bool]


def _closes(rules: Enforcer, caller: Caller, name: str) -> bool:
    return not rules.can_set(caller, name)


def _refused_by_glance(
    cloud: Cloud, refuses: _Refuses,
) -> Iterator[tuple[PropertyRules, bool]]:
    """Yield the rules of properties that our lists allow, and Glance refuses.

    With each, whether nova-api refuses the property for the same reason.
    """
    # Of a family, one member and those that Glance injects.
    names = [prop.field if prop.family is None else prop.family.member(
        'CUSTOM_' if prop.family is families.TRAITS else 0)
        for prop in cloud.properties]
    names += [name for name in cloud.glance.injection.properties
              if name not in names
              and cloud.enforcer.catalog.field_of(name) is not None]
    for rules in map(cloud.enforcer.rules_of, names):
        if rules.allowed and all(entry.values for entry in rules.denied) and (
                refuses(cloud.glance, cloud.caller, rules.name)):
            yield rules, refuses(cloud.enforcer, cloud.caller, rules.name)


def _open(refuses: _Refuses) -> Callable[[Cloud], Found]:
    """Return what finds properties that Glance refuses, and nova-api does not.
    """
    def find(cloud: Cloud) -> Found:
        for rules, refused in _refused_by_glance(cloud, refuses):
            if not refused:
                yield rules.name, {'roles': cloud.roles}
    return find


def _idle(refuses: _Refuses) -> Callable[[Cloud], Found]:
    """Return what finds entries that name what Glance refuses."""
    def find(cloud: Cloud) -> Found:
        for rules, refused in _refused_by_glance(cloud, refuses):
            if refused and any(entry.name in (rules.name, rules.field)
                               for entry in rules.allowed):
                yield rules.name, {'roles': cloud.roles}
    return find


def _undefined_policies(cloud: Cloud) -> Found:
    protections = cloud.glance.protections
    if protections is not None and protections.policies is not None:
        for name in sorted(protections.policies.undefined):
            yield name, {}


# --- about the hosts ---------------------------------------------------------


def _drivers_act(
    cloud: Cloud, prop: Property, value: str | None = None,
) -> bool:
    return any(drivers.can_act(each, prop.field, value)
               for each in cloud.drivers)


def _open_entries(
    cloud: Cloud,
) -> Iterator[tuple[property_lists.Entry, list[Property]]]:
    """Yield entries that allow anything, with the properties they allow."""
    for entry in cloud.enforcer.allowed.entries if cloud.drivers else ():
        reached = [
            prop for prop in cloud.reached(cloud.enforcer.allowed, entry)
            if not any(whole and not found.values for found, whole
                       in cloud.enforcer.denied.reaching(prop))]
        if reached:
            yield entry, reached


def _without_driver(cloud: Cloud) -> Found:
    for entry, reached in _open_entries(cloud):
        if not any(_drivers_act(cloud, prop) for prop in reached):
            yield entry.text, {'drivers': ', '.join(cloud.drivers)}


def _values_without_driver(cloud: Cloud) -> Found:
    for entry, reached in _open_entries(cloud):
        values = [value for value in entry.values
                  if not _acts_on_value(cloud, value, reached)]
        if values and any(_drivers_act(cloud, prop) for prop in reached):
            yield entry.text, {'drivers': ', '.join(cloud.drivers),
                               'values': ', '.join(values)}


def _acts_on_value(
    cloud: Cloud, value: str, reached: Iterable[Property],
) -> bool:
    """Return whether a driver acts on a value, or on one that a glob matches.
    """
    matched = [
        (prop, each) for prop in reached for each in prop.values or (value,)
        if re.fullmatch(
            property_lists.glob_pattern(prop.canonical(value)), each)]
    return not matched or any(
        _drivers_act(cloud, prop, each) for prop, each in matched)


def _hosts_drivers(cloud: Cloud) -> set[str]:
    known = driver_matrix.HYPERVISOR_TYPES
    return {known[each] for each in (cloud.hypervisor_types or ())
            if each in known}


def _unnamed_drivers(cloud: Cloud) -> Found:
    if cloud.drivers:
        for name in sorted(_hosts_drivers(cloud).difference(cloud.drivers)):
            yield name, {}


def _drivers_of_no_host(cloud: Cloud) -> Found:
    if cloud.hypervisor_types is not None:
        for name in sorted({*cloud.drivers} - _hosts_drivers(cloud)):
            yield name, {}


def _unknown_drivers(cloud: Cloud) -> Found:
    if cloud.drivers:
        for name in sorted((cloud.hypervisor_types or set())
                           - driver_matrix.HYPERVISOR_TYPES.keys()):
            yield name, {}


CHECKS = (
    Check(WARNING, 'L1', _unknown_names,
          '{option}: this Nova has no such image property, the entry does '
          'nothing', 'correct the name, or remove the entry'),
    Check(WARNING, 'L2', _matches_nothing,
          '{option}: the entry matches no property that can be overridden, '
          'and does nothing', 'correct the entry, or remove it'),
    Check(WARNING, 'L2', _values_that_nothing_takes,
          '{option}: no property that the entry matches takes {values}',
          'correct the values, or remove them'),
    Check(WARNING, 'L3', _denied_again,
          'allowed_properties: denied_properties denies everything that the '
          'entry allows', 'remove one of them'),
    Check(WARNING, 'L4', _repeated,
          '{option}: duplicate entry', 'remove one of them'),
    Check(NOTE, 'L5', _nothing_allowed,
          'it is empty: nobody may override anything',
          'name the properties that your users ask for'),
    Check(ERROR, 'P1', _policies_of_no_property,
          'policy.yaml defines a rule for a property that cannot be '
          'overridden under this name: it is never checked',
          'use the canonical field name, such as {example}'),
    Check(ERROR, 'A1', _open(_closes),
          'users with the roles {roles} may not set it in Glance, but can '
          'override it at boot',
          'name Glance\'s current file in property_protection_file'),
    Check(WARNING, 'A1', _idle(_closes),
          'allowed_properties names it, but users with the roles {roles} may '
          'neither create nor update it in Glance: the entry does nothing '
          'for them',
          'remove the entry, or let these roles "create" or "update" it'),
    Check(ERROR, 'A2', _open(Enforcer.injects),
          'Glance injects it for users with the roles {roles}, and they can '
          'override it at boot',
          'name Glance\'s current files in glance_image_import_files'),
    Check(WARNING, 'A2', _idle(Enforcer.injects),
          'allowed_properties names it, but Glance injects it for users with '
          'the roles {roles}: the entry does nothing for them',
          'remove the entry, or do not inject the property'),
    Check(ERROR, 'A3', _undefined_policies,
          'the policy is not defined: Glance permits everybody, nova-api '
          'nobody',
          'define it in Glance\'s policy.yaml, which '
          'property_protection_policy_file must name'),
    Check(WARNING, 'H1', _without_driver,
          'no driver of this cloud ({drivers}) acts on it',
          'remove the entry, unless host aggregates name the property'),
    Check(WARNING, 'H1', _values_without_driver,
          'no driver of this cloud ({drivers}) acts on {values}',
          'remove these values'),
    Check(WARNING, 'H2', _unnamed_drivers,
          'compute nodes have this driver, and virt_drivers does not name '
          'it: overrides that only it acts on are refused',
          'add it to virt_drivers'),
    Check(WARNING, 'H2', _drivers_of_no_host,
          'no compute node has this driver: overrides that only it acts on '
          'do nothing', 'remove it from virt_drivers'),
    Check(WARNING, 'H2', _unknown_drivers,
          'compute nodes have this hypervisor type, and the properties that '
          'its driver acts on are not known', 'leave virt_drivers empty'),
)
