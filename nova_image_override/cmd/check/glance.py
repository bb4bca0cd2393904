"""Findings about overrides beside Glance's rules: A1 to A9."""

import re
import typing

from oslo_policy import policy as oslo_policy

from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.authorization.glance import property_protections
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check.cloud import Cloud
from nova_image_override.cmd.check.cloud import Finding
from nova_image_override.cmd.check.cloud import Findings

#: What the libvirt driver adds to every server's image properties
#: (nova/virt/libvirt/driver.py _register_undefined_instance_details), and
#: what nova-api and nova-compute add to every snapshot.
SNAPSHOT_NAMES = (
    'hw_cdrom_bus', 'hw_disk_bus', 'hw_input_bus', 'hw_machine_type',
    'hw_pointer_model', 'hw_video_model', 'hw_vif_model',
    'base_image_ref', 'boot_roles', 'image_type', 'instance_uuid',
    'network_allocated', 'owner_project_name', 'owner_user_name', 'user_id',
    'image_location', 'image_state', 'kernel_id', 'owner_id', 'ramdisk_id')

#: Properties that Nova adds to a snapshot of its own accord, at most: eight
#: when nova-api creates it, seven from the libvirt driver, six when
#: nova-compute uploads it.
SNAPSHOT_OVERHEAD = 21


def not_settable(cloud: Cloud) -> Findings:
    """A1: an allowed property that Glance closes to the tenant."""
    closed = [
        name for name in cloud.fields if cloud.allowed(name)
        and not _can_set(cloud, cloud.glance, name)]
    open_ones = tuple(
        name for name in closed if _can_set(cloud, cloud.enforcer, name))
    if open_ones:
        yield Finding(
            cloud_module.ERROR, 'A1', open_ones,
            f'users with the roles {cloud.roles} may not set it in Glance, '
            'but can override it at boot',
            'name Glance\'s current file in property_protection_file')
    idle = tuple(name for name in closed
                 if name not in open_ones and cloud.exact(name))
    if idle:
        yield Finding(
            cloud_module.WARNING, 'A1', idle,
            'allowed_properties names it, but users with the roles '
            f'{cloud.roles} may neither create nor update it in Glance: the '
            'entry does nothing for them',
            'drop the entry, or let these roles "create" or "update" it')


def _can_set(cloud: Cloud, enforcer: Enforcer, name: str) -> bool:
    return enforcer.protected.permitted(
        name, cloud.catalog.resolve(name), cloud.caller).settable


def injected_but_overridable(cloud: Cloud) -> Findings:
    """A2: an injected property that the tenant may override, or an entry
    that cannot allow one."""
    injected = [name for name in cloud.fields if cloud.allowed(name)
                and _injects(cloud, cloud.glance, name)]
    injected += [
        name for name in cloud.injection.names(cloud.caller.roles)
        if name not in injected and cloud.catalog.field_of(name) is not None
        and cloud.allowed(name)]
    open_ones = tuple(name for name in injected
                      if not _injects(cloud, cloud.enforcer, name))
    if open_ones:
        yield Finding(
            cloud_module.ERROR, 'A2', open_ones,
            'Glance injects it for users with the roles '
            f'{cloud.roles}, and they can override it at boot',
            'name Glance\'s current files in glance_image_import_files')
    idle = tuple(name for name in injected
                 if name not in open_ones and cloud.exact(name))
    if idle:
        yield Finding(
            cloud_module.WARNING, 'A2', idle,
            'allowed_properties names it, but Glance injects it for users '
            f'with the roles {cloud.roles}: the entry does nothing for them',
            'drop the entry, or do not inject the property')


def _injects(cloud: Cloud, enforcer: Enforcer, name: str) -> bool:
    return not enforcer.injection.names(cloud.caller.roles).isdisjoint(
        (name, *cloud.catalog.resolve(name).legacy_names))


def plugin_off(cloud: Cloud) -> Findings:
    """A3: properties to inject, but nothing that injects them."""
    if cloud.injection.properties and not cloud.injection.enabled:
        yield Finding(
            cloud_module.WARNING, 'A3', tuple(cloud.injection.properties),
            '"inject" is set, but image_import_plugins lacks '
            'inject_image_metadata: nothing is injected',
            'add the plugin, or drop "inject"')


def upload_open(cloud: Cloud) -> Findings:
    """A3: an upload, which injects nothing, is open to the tenant.

    Reported only if Glance's policy.yaml is known.
    """
    path = cloud.policy_file
    names = cloud.injection.names(cloud.caller.roles)
    if not names or path is None:
        return
    with open(path, encoding='utf-8') as file:
        rules = oslo_policy.Rules.load(file.read())
    if _permits(rules, 'upload_image', cloud):
        yield Finding(
            cloud_module.NOTE, 'A3', ('upload_image',),
            'PUT /v2/images/{id}/file stores an image without injecting '
            'anything, and is open to users with the roles '
            f'{cloud.roles}', 'set "upload_image" in Glance\'s policy.yaml to '
            'a role that may dodge injection')


def _permits(rules: oslo_policy.Rules, name: str, cloud: Cloud) -> bool:
    """Check a rule of policy.yaml; one that it lacks is open by default."""
    if name not in rules:
        return True
    project = cloud.caller.credentials['project_id']
    checked = property_protections.Policies([name], rules)
    return checked.permits(name, cloud.caller.credentials, {
        'project_id': project, 'owner': project})


def not_creatable(cloud: Cloud) -> Findings:
    """A4: injection writes what the importing user may not create."""
    if cloud.protections is None:
        return
    closed = tuple(
        name for name in cloud.injection.names(cloud.caller.roles)
        if not cloud.protections.permits(
            name, property_protections.CREATE, cloud.caller.credentials))
    if closed:
        yield Finding(
            cloud_module.ERROR, 'A4', closed,
            'Glance injects with the rights of the user who imports, and '
            f'the roles {cloud.roles} may not create it: every import fails '
            'and leaves an image in "importing"',
            'let these roles "create" it (overriding it stays closed)')


def snapshots_of_protected(cloud: Cloud) -> Findings:
    """A5: a protected property goes into snapshots, where it is refused."""
    closed = tuple(
        name for name in cloud.closed(property_protections.CREATE)
        if name not in SNAPSHOT_NAMES
        and name not in cloud.conf.non_inheritable_image_properties)
    if closed:
        yield Finding(
            cloud_module.WARNING, 'A5', closed,
            'a server from an image with it passes it on to snapshots, where '
            f'the roles {cloud.roles} may not create it: snapshots fail with '
            '403, and shelving leaves the server in "shelving"',
            'add it to non_inheritable_image_properties in nova.conf')


def aliases(cloud: Cloud) -> Findings:
    """A6: one name of a property is open while another one is closed."""
    if cloud.protections is None:
        return
    for name, prop in cloud.fields.items():
        for operation in (
            property_protections.CREATE,
            property_protections.UPDATE,
        ):
            verdicts = {
                each: cloud.protections.permits(
                    each, operation, cloud.caller.credentials)
                for each in (name, *prop.legacy_names)
                if cloud.protections.section(each) is not None}
            if len(set(verdicts.values())) > 1:
                open_ones = tuple(n for n, may in verdicts.items() if may)
                closed = ', '.join(n for n, may in verdicts.items() if not may)
                yield Finding(
                    cloud_module.WARNING, 'A6', open_ones,
                    f'users with the roles {cloud.roles} may {operation} it, '
                    f'but not {closed}, and Nova reads both as one: the '
                    'protection can be got round in Glance',
                    f'protect all of {name}, {", ".join(prop.legacy_names)}')
                break


def undefined_policies(cloud: Cloud) -> Findings:
    """A7: policies that do not exist, or can never be true."""
    if cloud.protections is None or cloud.protections.policies is None:
        return
    policies = cloud.protections.policies
    if policies.undefined:
        yield Finding(
            cloud_module.ERROR, 'A7', tuple(sorted(policies.undefined)),
            'the policy is not defined: Glance then lets everybody do it '
            '(here it denies everybody)',
            'define it in Glance\'s policy.yaml, which '
            'property_protection_policy_file must name')
    named = {part for section in cloud.sections
             for parts in section.permissions.values() for part in parts}
    owner = tuple(sorted(
        name for name in named
        if '%(' in _spelled(policies.rules.get(name), policies.rules)))
    if owner:
        yield Finding(
            cloud_module.WARNING, 'A7', owner,
            'the policy compares with the image ("%(...)s"), but Glance '
            'checks it without one: it is never true',
            'use roles only')


def _spelled(check: typing.Any, rules: typing.Any) -> str:
    """Return CHECK with the rules that it refers to, as text."""
    text = str(check)
    for name in re.findall(r'rule:([^\s()]+)', text):
        text += ' ' + _spelled(rules.get(name), rules)
    return text


def snapshots_of_everything(cloud: Cloud) -> Findings:
    """A8: no snapshot can be made at all."""
    if cloud.protections is None:
        return
    closed = tuple(
        name for name in SNAPSHOT_NAMES
        if name not in cloud.conf.non_inheritable_image_properties
        and not cloud.protections.permits(
            name, property_protections.CREATE, cloud.caller.credentials))
    if closed:
        yield Finding(
            cloud_module.ERROR, 'A8', closed,
            f'users with the roles {cloud.roles} may not create it, but Nova '
            'writes it into every snapshot: theirs fail with 403, and '
            'shelving leaves the server in "shelving"',
            'let these roles "create" it, or add it to '
            'non_inheritable_image_properties in nova.conf')


def quota(cloud: Cloud) -> Findings:
    """A9: snapshots of overridden servers may exceed the quota."""
    limit = cloud.property_quota
    # What can only be removed adds nothing.
    needed = SNAPSHOT_OVERHEAD + len({
        each.prop.field for each in cloud.enforcer.overridable(cloud.caller)
        if each.can_be_set})
    if 0 <= limit < needed:
        yield Finding(
            cloud_module.WARNING, 'A9', ('image_property_quota',),
            f'Glance takes {limit} properties; a snapshot of a server with '
            f'everything overridden that is allowed has {needed} beside the '
            'image\'s own: such snapshots fail',
            f'set it to at least {needed}, or allow less')


CHECKS = (not_settable, injected_but_overridable, plugin_off, upload_open,
          not_creatable, snapshots_of_protected, aliases, undefined_policies,
          snapshots_of_everything, quota)
