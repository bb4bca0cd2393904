"""Findings about lists, Glance's rules, and drivers."""
from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

from nova_image_override.api.change.plan import Planner
from nova_image_override.api.guest import no_effect
from nova_image_override.authorization.lists import Entry, is_glob
from nova_image_override.cmd.check.finding import ERROR, Finding, NOTE, WARNING
from nova_image_override.override import Override, Overrides
from nova_image_override.properties import families
from nova_image_override.properties.book.vocabulary import HYPERVISOR_TYPES
from nova_image_override.properties.property import Property


class Cloud:
    """One deployment, as a plain tenant meets it.

    :param context: of the tenant's requests
    :ivar hypervisor_types: those of the compute nodes, if they have been read
    :ivar flavors: the cloud's, if they have been read
    """

    def __init__(self, planner: Planner, context: Any) -> None:
        self.planner = planner
        self.context = context
        self.enforcer = planner.enforcer
        self.caller = planner.callers.caller(context)
        #: The tenant's roles, for messages.
        self.roles = ', '.join(self.caller.roles)
        #: The properties that some deployment could allow.
        self.properties = [prop for prop in self.enforcer.catalog.values()
                           if not prop.record.never]
        self.hypervisor_types: Set[str] | None = None
        self.flavors: list[Any] | None = None

    def reached(self, entry: Entry) -> list[Property]:
        """Return the properties that an entry of a list can concern."""
        return [prop for prop in self.properties if entry.concerns(prop)]

    def permits(self, prop: Property, value: str) -> bool:
        """Return whether the tenant may have a value on some image."""
        return not self.enforcer.refusals(
            self.caller, Overrides((Override(prop, prop.field, value),)),
            ({},))

    def left_open(self, entry: Entry) -> list[Property]:
        """Return what an entry reaches and the denied ones leave of it."""
        return [prop for prop in self.reached(entry)
                if not self._denies(prop, entry.canonical_for(prop))]

    def _denies(self, prop: Property, entry: Entry) -> bool:
        """Return whether a property, or what an entry allows of it, is denied.

        Whether it is for a value with globs is not known.
        """
        denied = [each for each in self.enforcer.denied.reaching[prop.field]
                  if each.covers_all(prop)]
        values = [value for value in prop.values if entry.covers_value(value)
                  ] if prop.values else entry.values
        return any(not each.values for each in denied) or (bool(values) and all(
            any(each.covers_value(value) for each in denied)
            and not is_glob(value) for value in values))


def findings(cloud: Cloud) -> Iterator[Finding]:
    """Yield what is wrong with the rules and with virt_drivers."""
    for find in (_entries_in_vain, _allowed_entries, _values, _properties,
                 _closed_by_glance, _compute_nodes):
        yield from find(cloud)


def _entries_in_vain(cloud: Cloud) -> Iterator[Finding]:
    for rules in (cloud.enforcer.denied, cloud.enforcer.allowed):
        unknown = rules.unknown_names()
        for entry in rules.entries:
            dead = rules.dead_values(entry)
            if entry in unknown:
                meant = unknown[entry]
                yield Finding(
                    WARNING, 'L1', entry.text,
                    f'{rules.option}: this Nova has no such image property, '
                    'the entry does nothing',
                    f'a comma separates entries: write {meant}'
                    if '|' in meant else f'write {meant}' if meant
                    else 'correct the name, or remove the entry')
            elif not cloud.reached(entry):
                yield Finding(
                    WARNING, 'L2', entry.text,
                    f'{rules.option}: the entry matches no property that can '
                    'be overridden, and does nothing',
                    'correct the entry, or remove it')
            elif dead:
                yield Finding(
                    WARNING, 'L2', entry.text,
                    f'{rules.option}: no property that the entry matches '
                    f'takes {", ".join(dead)}',
                    'correct the values, or remove them')


def _allowed_entries(cloud: Cloud) -> Iterator[Finding]:
    enforcer, drivers = cloud.enforcer, cloud.planner.virt_drivers
    if not enforcer.allowed.entries and not enforcer.presets.now():
        yield Finding(
            NOTE, 'L4', 'allowed_properties',
            'it is empty: nobody may override anything',
            'name the properties that your users ask for')
    for entry in enforcer.allowed.entries:
        reached, left = cloud.reached(entry), cloud.left_open(entry)
        if reached and (not left or any(
                denied.name == entry.name and not denied.values
                for denied in enforcer.denied.entries)):
            yield Finding(
                WARNING, 'L3', entry.text,
                'allowed_properties: denied_properties denies everything that '
                'the entry allows', 'remove one of them')
        if not entry.values and all(map(entry.covers_all, cloud.properties)):
            yield Finding(
                WARNING, 'L6', entry.text,
                'allowed_properties: it permits every property, and those '
                'that a later Nova adds',
                'name the properties that your users ask for')
        if left and drivers and not any(
                prop.record.acts_everywhere
                or not drivers.isdisjoint(prop.record.acting)
                for prop in left):
            yield Finding(
                WARNING, 'H1', entry.text,
                f'no driver of this cloud ({", ".join(sorted(drivers))}) acts '
                'on it',
                'remove the entry, unless host aggregates name the property')


def _values(cloud: Cloud) -> Iterator[Finding]:
    """Find the values that the tenant may have and that hosts lack."""
    drivers = cloud.planner.virt_drivers
    for prop in cloud.properties:
        record = prop.record
        # If no driver acts on any value, H1 is about the entry.
        acted = no_effect.acted_on(drivers, record, prop.values)
        nowhere = [value for value in prop.values if acted
                   and value not in acted and cloud.permits(prop, value)]
        if nowhere:
            yield Finding(
                WARNING, 'H1', prop.field,
                f'no driver of this cloud ({", ".join(sorted(drivers))}) acts '
                f'on {", ".join(nowhere)}: such requests are refused',
                'name the values that your hosts have, '
                f'{prop.field}=VALUE|VALUE, or remove the entry')
        few = {value: f'{value} needs {hosts}'
               for value, hosts in record.hosts.items()
               if 'libvirt' in drivers and cloud.permits(prop, value)}
        if not few:
            continue
        # A deployer who names a value has such hosts.
        named = {value for entry in cloud.enforcer.allowed.covering(prop.field)
                 for value in entry.values}
        for severity, values, change in (
                (WARNING, few.keys() - named, 'name the values that your '
                 f'hosts have: {prop.field}=VALUE|VALUE'),
                (NOTE, few.keys() & named, 'remove the value, unless such '
                 'servers go to these hosts only')):
            needs = [few[value] for value in few if value in values]
            if needs:
                yield Finding(
                    severity, 'H3', prop.field, f'{", ".join(needs)}: '
                    'elsewhere the server ends in ERROR', change)


def _properties(cloud: Cloud) -> Iterator[Finding]:
    for field in cloud.enforcer.catalog.unknown:
        yield Finding(
            NOTE, 'L5', field,
            'this Nova reads it, and this release of nova-image-override does '
            'not know it: nobody may override it',
            'look for a newer release of nova-image-override')
    libvirt = 'libvirt' in cloud.planner.virt_drivers
    opened = {prop.field: prop.record
              for entry in cloud.enforcer.allowed.entries
              for prop in cloud.left_open(entry)}
    for name in sorted(opened):
        if libvirt and opened[name].keeps:
            yield Finding(
                NOTE, 'H4', name,
                'on a host that has a server with it, nova-compute no longer '
                f'starts without {opened[name].keeps}',
                'leave that as it is on such hosts, or deny the property')
        if opened[name].billed:
            yield Finding(
                NOTE, 'B1', name,
                "notifications and Ceilometer's samples have the value that "
                'the tenant gives it',
                'bill by the image or the flavor, or deny it')


def _closed_by_glance(cloud: Cloud) -> Iterator[Finding]:
    enforcer = cloud.enforcer
    injected = enforcer.injection.names(cloud.caller.roles)
    # One name of each property, and those that are injected.
    for name in dict.fromkeys((*(
            prop.field if prop.family is None else prop.family.member(
                'CUSTOM_' if prop.family is families.TRAITS else 0)
            for prop in cloud.properties),
            *filter(enforcer.catalog.field_of, injected))):
        prop = enforcer.catalog.resolve(name)
        if any(not entry.values for entry in enforcer.denied.covering(name)
               ) or not any(entry.name in (name, prop.field) for entry
                            in enforcer.allowed.covering(name)):
            continue
        if not enforcer.protected.permitted(
                name, prop, cloud.caller).settable:
            yield Finding(
                WARNING, 'A1', name,
                'allowed_properties names it, but users with the roles '
                f'{cloud.roles} may neither create nor update it in Glance: '
                'the entry does nothing for them',
                'remove the entry, or let these roles "create" or "update" it')
        if not injected.isdisjoint((name, *prop.legacy)):
            yield Finding(
                WARNING, 'A2', name,
                'allowed_properties names it, but Glance injects it for users '
                f'with the roles {cloud.roles}: the entry does nothing for '
                'them', 'remove the entry, or do not inject the property')
    protections = enforcer.protected.protections
    if protections is not None and protections.policies is not None:
        for name in sorted(protections.policies.undefined):
            yield Finding(
                ERROR, 'A3', name,
                'the policy is not defined: Glance permits everybody, '
                'nova-api nobody',
                "define it in Glance's policy.yaml, which "
                'property_protection_policy_file must name')


def _compute_nodes(cloud: Cloud) -> Iterator[Finding]:
    types, drivers = cloud.hypervisor_types, cloud.planner.virt_drivers
    if types is None or not drivers:
        return
    found = {HYPERVISOR_TYPES[each] for each in types
             if each in HYPERVISOR_TYPES}
    for names, why, change in (
            (found - drivers,
             'compute nodes have this driver, and virt_drivers does not name '
             'it: overrides that only it acts on are refused',
             'add it to virt_drivers'),
            (drivers - found,
             'no compute node has this driver: overrides that only it acts on '
             'do nothing', 'remove it from virt_drivers'),
            (types - HYPERVISOR_TYPES.keys(),
             'compute nodes have this hypervisor type, and the properties '
             'that its driver acts on are not known',
             'leave virt_drivers empty')):
        for name in sorted(names):
            yield Finding(WARNING, 'H2', name, why, change)
