"""Findings about what Glance injects: A2 to A4, A10, A11."""

from oslo_policy import policy as oslo_policy

from nova_image_override.authorization.glance import property_protections
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check.cloud import Cloud
from nova_image_override.cmd.check.cloud import Finding
from nova_image_override.cmd.check.cloud import Findings


def injected_but_overridable(cloud: Cloud) -> Findings:
    """A2: an injected property that the tenant may override, or an entry
    that cannot allow one."""
    injected = [name for name in cloud.fields if cloud.allowed(name)
                and cloud.glance.injects(cloud.caller, name)]
    injected += [
        name for name in cloud.injection.names(cloud.caller.roles)
        if name not in injected and cloud.catalog.field_of(name) is not None
        and cloud.allowed(name)]
    open_ones = tuple(name for name in injected if not cloud.enforcer.injects(
        cloud.caller, name))
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
    path = cloud.options['policy_file']
    names = cloud.injection.names(cloud.caller.roles)
    if not names or path is None:
        return
    with open(path, encoding='utf-8') as file:
        rules = oslo_policy.Rules.load(file.read())
    if permits(rules, 'upload_image', cloud):
        yield Finding(
            cloud_module.NOTE, 'A3', ('upload_image',),
            'PUT /v2/images/{id}/file stores an image without injecting '
            'anything, and is open to users with the roles '
            f'{cloud.roles}', 'set "upload_image" in Glance\'s policy.yaml to '
            'a role that may dodge injection')


def permits(rules: oslo_policy.Rules, name: str, cloud: Cloud) -> bool:
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


def parse_smells(cloud: Cloud) -> Findings:
    """A10: "inject" is not read as it looks."""
    for name, value in cloud.injection.properties.items():
        why = None
        if any(char in name + value for char in '"\'{}'):
            why = 'quotes and braces are no syntax there, they become part ' \
                'of names and values'
        elif name == 'trait':
            why = 'a name ends at the first colon: traits cannot be injected'
        elif ',' in name:
            why = 'a value with a comma is cut there, the rest becomes a name'
        if why is not None:
            yield Finding(
                cloud_module.ERROR, 'A10', (f'{name}:{value}',),
                f'"inject" is read as {name} = {value}: {why}',
                'write inject = name:value,name:value')


def ignored_roles(cloud: Cloud) -> Findings:
    """A11: roles to ignore that no user can have."""
    wrong = tuple(sorted(
        role for role in cloud.injection.ignored_roles
        if role != role.lower() or any(c in role for c in '[]"\'')))
    if wrong:
        yield Finding(
            cloud_module.ERROR, 'A11', wrong,
            'ignore_user_roles: Glance compares it with roles in lower case '
            'and takes brackets and quotes for part of the role: it ignores '
            'nobody', 'write ignore_user_roles = role,role in lower case')


CHECKS = (
    injected_but_overridable,
    plugin_off,
    upload_open,
    not_creatable,
    parse_smells,
    ignored_roles,
)
