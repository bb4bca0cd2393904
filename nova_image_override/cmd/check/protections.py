"""Findings about Glance's property protections: A1, A5 to A9, A12, A13."""

import re
import typing

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


def not_settable(cloud: Cloud) -> Findings:
    """A1: an allowed property that Glance closes to the tenant."""
    closed = [
        name for name in cloud.fields if cloud.allowed(name)
        and not cloud.glance.can_set(cloud.caller, name)]
    open_ones = tuple(
        name for name in closed
        if cloud.enforcer.can_set(cloud.caller, name))
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


def snapshots_of_everything(cloud: Cloud) -> Findings:
    """A12: no snapshot can be made at all."""
    if cloud.protections is None:
        return
    closed = tuple(
        name for name in SNAPSHOT_NAMES
        if name not in cloud.conf.non_inheritable_image_properties
        and not cloud.protections.permits(
            name, property_protections.CREATE, cloud.caller.credentials))
    if closed:
        yield Finding(
            cloud_module.ERROR, 'A12', closed,
            f'users with the roles {cloud.roles} may not create it, but Nova '
            'writes it into every snapshot: theirs fail with 403, and '
            'shelving leaves the server in "shelving"',
            'let these roles "create" it, or add it to '
            'non_inheritable_image_properties in nova.conf')


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


def opened_by_service_token(cloud: Cloud) -> Findings:
    """A6: a snapshot creates what its user may not."""
    if cloud.protections is None or \
            not cloud.conf.service_user.send_service_user_token:
        return
    service = {**cloud.caller.credentials,
               'roles': [*cloud.caller.roles, 'service']}
    names = tuple(
        name for name in cloud.closed(property_protections.CREATE)
        if cloud.protections.permits(
            name, property_protections.CREATE, service))
    if names:
        yield Finding(
            cloud_module.WARNING, 'A6', names,
            'Nova sends its service token along, and Glance lets the role '
            '"service" create it: a snapshot gives users with the roles '
            f'{cloud.roles} an image of their own with it',
            'take "service" out of "create", or add the property to '
            'non_inheritable_image_properties in nova.conf')


def aliases(cloud: Cloud) -> Findings:
    """A7: one name of a property is open while another one is closed."""
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
                    cloud_module.WARNING, 'A7', open_ones,
                    f'users with the roles {cloud.roles} may {operation} it, '
                    f'but not {closed}, and Nova reads both as one: the '
                    'protection can be got round in Glance',
                    f'protect all of {name}, {", ".join(prop.legacy_names)}')
                break


def unanchored(cloud: Cloud) -> Findings:
    """A8: a section that names one property and matches more."""
    for section in cloud.sections:
        name = cloud_module.literal(section.name)
        if name is None or section.name.startswith('^'):
            continue
        more = tuple(sorted(
            each for each in cloud.names
            if each != name and section.pattern.search(each)
            and cloud.protections is not None
            and cloud.protections.section(each) is section))
        if more:
            yield Finding(
                cloud_module.WARNING, 'A8', (section.name,),
                'the section is searched for anywhere in a name and decides '
                f'on {", ".join(more)} too', f'write [^{name}$]')


def unreachable(cloud: Cloud) -> Findings:
    """A8: a section that never decides, because earlier ones match first."""
    if cloud.protections is None:
        return
    for section in cloud.sections:
        matched = [name for name in cloud.names
                   if section.pattern.search(name)]
        first = {id(cloud.protections.section(name)) for name in matched}
        if matched and id(section) not in first:
            yield Finding(
                cloud_module.WARNING, 'A8', (section.name,),
                'every property that it matches is matched by a section '
                'above it: it never decides',
                'move it up, or drop it')


def misread(cloud: Cloud) -> Findings:
    """A8: headers and values that Glance does not read as they look."""
    for section in cloud.sections:
        if re.search(r'[A-Za-z0-9]_\*', section.name):
            yield Finding(
                cloud_module.WARNING, 'A8', (section.name,),
                'the header is a regular expression: "_*" there means any '
                'number of underscores, not anything',
                'write "_.*"')
        for operation, parts in section.permissions.items():
            if any(char in part for part in parts for char in '#;'):
                yield Finding(
                    cloud_module.WARNING, 'A8', (section.name,),
                    f'{operation} = {", ".join(parts)}: a comment behind a '
                    'value is part of it', 'put the comment on its own line')


def reserved(cloud: Cloud) -> Findings:
    """A8: sections for Glance's own namespace, which it drops."""
    path = cloud.options['property_protection_file']
    if path is None:
        return
    with open(path, encoding='utf-8') as file:
        names = re.findall(r'(?m)^\[(os_glance.*)\]', file.read())
    for name in names:
        yield Finding(
            cloud_module.WARNING, 'A8', (name,),
            'Glance drops sections that begin with os_glance', 'drop it')


def undefined_policies(cloud: Cloud) -> Findings:
    """A9: policies that do not exist, or can never be true."""
    if cloud.protections is None or cloud.protections.policies is None:
        return
    policies = cloud.protections.policies
    if policies.undefined:
        yield Finding(
            cloud_module.ERROR, 'A9', tuple(sorted(policies.undefined)),
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
            cloud_module.WARNING, 'A9', owner,
            'the policy compares with the image ("%(...)s"), but Glance '
            'checks it without one: it is never true',
            'use roles only')


def _spelled(check: typing.Any, rules: typing.Any) -> str:
    """Return CHECK with the rules that it refers to, as text."""
    text = str(check)
    for name in re.findall(r'rule:([^\s()]+)', text):
        text += ' ' + _spelled(rules.get(name), rules)
    return text


def unreadable(cloud: Cloud) -> Findings:
    """A13: properties that every save by the tenant destroys."""
    names = tuple(cloud.closed(property_protections.READ))
    if names:
        yield Finding(
            cloud_module.WARNING, 'A13', names,
            f'users with the roles {cloud.roles} may not read it: Glance '
            'removes it from their image whenever they change or upload '
            'anything', 'let these roles "read" it')


CHECKS = (not_settable, snapshots_of_everything, snapshots_of_protected,
          opened_by_service_token, aliases, unanchored, unreachable,
          misread, reserved, undefined_policies, unreadable)
