"""Findings about lists, policy, Glance's rules, and drivers."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Set
import dataclasses
import functools
from typing import Any

from nova_image_override import policies
from nova_image_override.api.change.plan import Planner
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.authorization.lists import Entry, PropertyList
from nova_image_override.cmd.check.finding import (
    Check,
    ERROR,
    Found,
    NOTE,
    WARNING,
)
from nova_image_override.properties import families
from nova_image_override.properties.book.vocabulary import HYPERVISOR_TYPES
from nova_image_override.properties.property import Property


@dataclasses.dataclass
class Cloud:
    """One deployment.

    :ivar enforcer: the rules that nova-api holds
    :ivar caller: a plain tenant
    :ivar drivers: the virt drivers of its hosts, as nova.conf names them
    :ivar planner: says what a request of theirs would get
    :ivar context: of such a request
    :ivar hypervisor_types: those of the compute nodes; None if they were not
        asked for
    :ivar flavors: the cloud's; None if they were not asked for
    """

    enforcer: Enforcer
    caller: Caller
    drivers: Set[str]
    planner: Planner
    context: Any
    hypervisor_types: Set[str] | None = None
    flavors: list[Any] | None = None

    @property
    def roles(self) -> str:
        """The tenant's roles, for messages."""
        return ', '.join(self.caller.roles)

    @property
    def lists(self) -> tuple[PropertyList, PropertyList]:
        """The deployer's two lists."""
        return self.enforcer.denied, self.enforcer.allowed

    @property
    def properties(self) -> list[Property]:
        """The properties that some deployment could allow."""
        return [prop for prop in self.enforcer.catalog.values()
                if not prop.record.never]

    def permits(self, prop: Property, value: str) -> bool:
        """Return whether the tenant may have a value on some image."""
        return not self.enforcer.refusals(
            self.caller, {prop.field: value}, ({},))

    def left_open(self, entry: Entry) -> list[Property]:
        """Return what an entry reaches and no other denies entirely."""
        return [prop for prop in self.reached(entry) if not any(
            denied.covers_all(prop) and not denied.values
            for denied in self.enforcer.denied.entries)]

    def reached(self, entry: Entry) -> list[Property]:
        """Return the properties that an entry of a list can concern."""
        return [prop for prop in self.properties if entry.reaches(prop)]


def _unknown_names(cloud: Cloud) -> Found:
    for rules in cloud.lists:
        for entry in rules.unknown_names():
            meant = rules.meant_by(entry.text)
            yield entry.text, {
                'option': rules.option,
                'change': f'a comma separates entries: write {meant}' if meant
                          else 'correct the name, or remove the entry'}


def _matches_nothing(cloud: Cloud) -> Found:
    for rules in cloud.lists:
        unknown = rules.unknown_names()
        for entry in rules.entries:
            if entry not in unknown and not cloud.reached(entry):
                yield entry.text, {'option': rules.option}


def _values_that_nothing_takes(cloud: Cloud) -> Found:
    for rules in cloud.lists:
        for entry in rules.entries:
            dead = rules.dead_values(entry)
            if dead and cloud.reached(entry):
                yield entry.text, {
                    'option': rules.option, 'values': ', '.join(dead)}


def _denied_again(cloud: Cloud) -> Found:
    for entry in cloud.enforcer.allowed.entries:
        reached = cloud.reached(entry)
        if reached and all(
                any(not denied.values and (
                    denied.covers_all(prop) or denied.name == entry.name)
                    for denied in cloud.enforcer.denied.entries)
                for prop in reached):
            yield entry.text, {}


def _everything_allowed(cloud: Cloud) -> Found:
    for entry in cloud.enforcer.allowed.entries:
        if not entry.values and all(map(entry.covers_all, cloud.properties)):
            yield entry.text, {}


def _nothing_allowed(cloud: Cloud) -> Found:
    if not cloud.enforcer.allowed.entries \
            and not cloud.enforcer.presets.now():
        yield 'allowed_properties', {}


def _policies_of_no_property(cloud: Cloud) -> Found:
    prefix = policies.CREATE + ':'
    known = {*(policies.property_rule(prop.field) for prop in cloud.properties),
             *map(policies.preset_rule, cloud.enforcer.presets.now())}
    for name in cloud.caller.policy_defined:
        if name.startswith(prefix) and name not in known:
            yield name, {'example': policies.property_rule('hw_numa_mem')}


def _named_in_vain(
    cloud: Cloud, refused: Callable[[str], bool], names: Iterable[str] = (),
) -> Found:
    """Yield properties that an entry allows by name, and Glance refuses.

    :param names: those to look at beside one name of each property
    """
    for name in dict.fromkeys((*(
            prop.field if prop.family is None else prop.family.member(
                'CUSTOM_' if prop.family is families.TRAITS else 0)
            for prop in cloud.properties), *names)):
        prop = cloud.enforcer.catalog.resolve(name)
        if all(entry.values for entry in cloud.enforcer.denied.covering(name)
               ) and any(entry.name in (name, prop.field) for entry
                         in cloud.enforcer.allowed.covering(name)
                         ) and refused(name):
            yield name, {'roles': cloud.roles}


def _closed_by_glance(cloud: Cloud) -> Found:
    enforcer = cloud.enforcer
    return _named_in_vain(
        cloud, lambda name: not enforcer.protected.permitted(
            name, enforcer.catalog.resolve(name), cloud.caller).settable)


def _injected_by_glance(cloud: Cloud) -> Found:
    enforcer = cloud.enforcer
    return _named_in_vain(
        cloud, lambda name: not enforcer.injection.names(
            cloud.caller.roles).isdisjoint(
                (name, *enforcer.catalog.resolve(name).legacy_names)),
        filter(enforcer.catalog.field_of, enforcer.injection.properties))


def _undefined_policies(cloud: Cloud) -> Found:
    protections = cloud.enforcer.protected.protections
    if protections is not None and protections.policies is not None:
        for name in sorted(protections.policies.undefined):
            yield name, {}


def _without_driver(cloud: Cloud) -> Found:
    for entry in cloud.enforcer.allowed.entries if cloud.drivers else ():
        reached = cloud.left_open(entry)
        if reached and not any(
                prop.record.can_act(each)
                for prop in reached for each in cloud.drivers):
            yield entry.text, {'drivers': ', '.join(sorted(cloud.drivers))}


def _values_of_no_host(cloud: Cloud) -> Found:
    for prop in cloud.properties:
        record = prop.record
        readers = [record.reader(each) for each in cloud.drivers]
        # Where none acts, the whole entry is in vain.
        if record.acts_everywhere or not any(
                map(record.can_act, cloud.drivers)):
            continue
        found = [value for value in prop.values
                 if cloud.permits(prop, value) and not any(
                     reader and (not reader.values or value in reader.values)
                     for reader in readers)]
        if found:
            yield prop.field, {
                'values': ', '.join(found), 'name': prop.field,
                'drivers': ', '.join(sorted(cloud.drivers))}


def _values_of_few_hosts(cloud: Cloud, *, named: bool) -> Found:
    """Yield them, if an entry names them or else if none does."""
    for prop in cloud.properties if 'libvirt' in cloud.drivers else ():
        found = [
            f'{value} needs {hosts}'
            for value, hosts in prop.record.hosts.items()
            if cloud.permits(prop, value) and named == any(
                value in entry.values for entry
                in cloud.enforcer.allowed.covering(prop.field))]
        if found:
            yield prop.field, {'needs': ', '.join(found), 'name': prop.field}


def _needed_at_start(cloud: Cloud) -> Found:
    found = {prop.field: prop.record.keeps
             for entry in cloud.enforcer.allowed.entries
             for prop in cloud.left_open(entry) if prop.record.keeps}
    for name in sorted(found) if 'libvirt' in cloud.drivers else ():
        yield name, {'option': found[name]}


def _billed(cloud: Cloud) -> Found:
    names = {prop.field for entry in cloud.enforcer.allowed.entries
             for prop in cloud.left_open(entry) if prop.record.billed}
    for name in sorted(names):
        yield name, {}


def _unknown_properties(cloud: Cloud) -> Found:
    for field in cloud.enforcer.catalog.unknown:
        yield field, {}


def _hosts_drivers(cloud: Cloud) -> set[str]:
    return {HYPERVISOR_TYPES[each] for each in cloud.hypervisor_types or ()
            if each in HYPERVISOR_TYPES}


def _unnamed_drivers(cloud: Cloud) -> Found:
    for name in sorted(_hosts_drivers(cloud).difference(cloud.drivers)):
        if cloud.drivers:
            yield name, {}


def _drivers_of_no_host(cloud: Cloud) -> Found:
    for name in sorted(cloud.drivers - _hosts_drivers(cloud)):
        if cloud.hypervisor_types is not None:
            yield name, {}


def _unknown_drivers(cloud: Cloud) -> Found:
    for name in sorted(cloud.hypervisor_types or ()):
        if cloud.drivers and name not in HYPERVISOR_TYPES:
            yield name, {}


CHECKS = (
    Check(WARNING, 'L1', _unknown_names,
          '{option}: this Nova has no such image property, the entry does '
          'nothing', '{change}'),
    Check(WARNING, 'L2', _matches_nothing,
          '{option}: the entry matches no property that can be overridden, '
          'and does nothing', 'correct the entry, or remove it'),
    Check(WARNING, 'L2', _values_that_nothing_takes,
          '{option}: no property that the entry matches takes {values}',
          'correct the values, or remove them'),
    Check(WARNING, 'L3', _denied_again,
          'allowed_properties: denied_properties denies everything that the '
          'entry allows', 'remove one of them'),
    Check(NOTE, 'L4', _nothing_allowed,
          'it is empty: nobody may override anything',
          'name the properties that your users ask for'),
    Check(NOTE, 'L5', _unknown_properties,
          'this Nova reads it, and this release of nova-image-override does '
          'not know it: nobody may override it',
          'look for a newer release of nova-image-override'),
    Check(WARNING, 'L6', _everything_allowed,
          'allowed_properties: it permits every property, and those that a '
          'later Nova adds', 'name the properties that your users ask for'),
    Check(ERROR, 'P1', _policies_of_no_property,
          'policy.yaml defines a rule for a property that cannot be '
          'overridden under this name, or for a preset that there is not: it '
          'is never checked',
          'use the canonical field name, such as {example}'),
    Check(WARNING, 'A1', _closed_by_glance,
          'allowed_properties names it, but users with the roles {roles} may '
          'neither create nor update it in Glance: the entry does nothing '
          'for them',
          'remove the entry, or let these roles "create" or "update" it'),
    Check(WARNING, 'A2', _injected_by_glance,
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
    Check(WARNING, 'H1', _values_of_no_host,
          'no driver of this cloud ({drivers}) acts on {values}: such '
          'requests are refused',
          'name the values that your hosts have, {name}=VALUE|VALUE, or remove '
          'the entry'),
    Check(WARNING, 'H3', functools.partial(_values_of_few_hosts, named=False),
          '{needs}: elsewhere the server ends in ERROR',
          'name the values that your hosts have: {name}=VALUE|VALUE'),
    # A deployer who names a value has such hosts.
    Check(NOTE, 'H3', functools.partial(_values_of_few_hosts, named=True),
          '{needs}: elsewhere the server ends in ERROR',
          'remove the value, unless such servers go to these hosts only'),
    Check(NOTE, 'H4', _needed_at_start,
          'on a host that has a server with it, nova-compute no longer starts '
          'without {option}',
          'leave that as it is on such hosts, or deny the property'),
    Check(NOTE, 'B1', _billed,
          'notifications and Ceilometer\'s samples have the value that the '
          'tenant gives it',
          'bill by the image or the flavor, or deny it'),
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
