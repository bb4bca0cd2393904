"""Findings about what is around Nova and Glance: A14 to A16."""

from oslo_policy import policy as oslo_policy

from nova_image_override.authorization import overridable_schema
from nova_image_override.authorization.glance import property_protections
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check import injection
from nova_image_override.cmd.check.cloud import Cloud
from nova_image_override.cmd.check.cloud import Finding
from nova_image_override.cmd.check.cloud import Findings

#: cinder/policies/volume_metadata.py
SET_IMAGE_METADATA = 'volume_extension:volume_image_metadata:set'

#: Properties that Nova adds to a snapshot of its own accord, at most: eight
#: when nova-api creates it, seven from the libvirt driver, six when
#: nova-compute uploads it.
SNAPSHOT_OVERHEAD = 21


def _closed(cloud: Cloud) -> tuple[str, ...]:
    """Return what Glance closes to the tenant, or injects."""
    return tuple(sorted({
        *cloud.closed(property_protections.CREATE),
        *cloud.closed(property_protections.UPDATE),
        *cloud.injection.names(cloud.caller.roles)}))


def volume_metadata(cloud: Cloud) -> Findings:
    """A14: Cinder lets the tenant write what Glance closes."""
    if cloud.cinder is None or not _closed(cloud):
        return
    rules = oslo_policy.Rules()
    if cloud.cinder['policy_file'] is not None:
        with open(cloud.cinder['policy_file'], encoding='utf-8') as file:
            rules = oslo_policy.Rules.load(file.read())
    if injection.permits(rules, SET_IMAGE_METADATA, cloud):
        yield Finding(
            cloud_module.WARNING, 'A14', (SET_IMAGE_METADATA,),
            f'users with the roles {cloud.roles} may write any image '
            'property of their volumes, which Nova boots from: Glance\'s '
            'protections and injection do not hold there',
            'restrict the rule in Cinder\'s policy.yaml')


def reserved_namespaces(cloud: Cloud) -> Findings:
    """A15: a volume made into an image sheds or fakes what Glance closes."""
    if cloud.cinder is None:
        return
    prefixes = tuple(cloud.cinder['reserved_image_namespaces'])
    names = tuple(name for name in _closed(cloud)
                  if not name.startswith(prefixes))
    if names:
        yield Finding(
            cloud_module.WARNING, 'A15', names,
            'reserved_image_namespaces of cinder.conf does not cover it: '
            'making an image of a volume with it fails',
            'add its prefix there')


def quota(cloud: Cloud) -> Findings:
    """A16: snapshots of overridden servers may exceed the quota."""
    limit = cloud.options['image_property_quota']
    # What can only be removed adds nothing.
    needed = SNAPSHOT_OVERHEAD + len({
        each.prop.field for each in overridable_schema.overridable(
            cloud.enforcer, cloud.caller) if each.can_be_set})
    if 0 <= limit < needed:
        yield Finding(
            cloud_module.WARNING, 'A16', ('image_property_quota',),
            f'Glance takes {limit} properties; a snapshot of a server with '
            f'everything overridden that is allowed has {needed} beside the '
            'image\'s own: such snapshots fail',
            f'set it to at least {needed}, or allow less')


CHECKS = (volume_metadata, reserved_namespaces, quota)
