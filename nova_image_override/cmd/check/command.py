"""``nova-image-override check``: the command."""

import argparse
import collections.abc
import typing

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.api import doors
from nova_image_override.api import extension as extension_module
from nova_image_override.cmd import deployment
from nova_image_override.cmd.check import beyond
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check import injection
from nova_image_override.cmd.check import lists
from nova_image_override.cmd.check import protections
from nova_image_override.properties import catalog as catalog_module
from nova_image_override.rules import injection as injection_rule
from nova_image_override.rules import judge
from nova_image_override.rules import lists as lists_rule
from nova_image_override.rules import protections as protections_rule

CHECKS = (*lists.CHECKS, *protections.CHECKS, *injection.CHECKS,
          *beyond.CHECKS)

T = typing.TypeVar('T')


class Check(deployment.Lister):
    """Find what is wrong with the rules of this deployment.

    Reads nova.conf, policy.yaml and Glance's files; asks no service. The exit
    status is 1 when there is an error or a warning.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--glance-config-file', metavar='PATH', action='append',
            default=[],
            help='Glance\'s own configuration file (may be repeated, in '
                 'Glance\'s order), to hold against the copies that '
                 'nova.conf names; by default those copies are believed')
        parser.add_argument(
            '--cinder-config-file', metavar='PATH', action='append',
            default=[],
            help='cinder.conf (may be repeated), without which what only '
                 'Cinder decides is not checked')
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Look for everything that is wrong.

        :raises errors.StartupError: nova.conf itself cannot be read
        """
        conf = deployment.read_nova_conf(parsed_args)
        found = list(findings(
            conf, parsed_args.roles or deployment.MEMBER,
            parsed_args.project, parsed_args.glance_config_file,
            parsed_args.cinder_config_file))
        self.status = int(any(
            each.severity != cloud_module.NOTE for each in found))
        return ('Severity', 'Code', 'Subject', 'Why', 'What to change'), [
            (each.severity, each.code, ', '.join(each.subjects), each.why,
             each.change) for each in found]


def findings(
    conf: cfg.ConfigOpts, roles: collections.abc.Iterable[str], project: str,
    glance_files: collections.abc.Sequence[str] = (),
    cinder_files: collections.abc.Sequence[str] = (),
) -> cloud_module.Findings:
    """Yield everything that is wrong.

    :param conf: nova.conf
    :param roles: roles of a plain tenant
    :param project: the tenant's project
    :param glance_files: Glance's own configuration files
    :param cinder_files: Cinder's configuration files
    """
    problems: list[errors.StartupError] = []

    def tried(make: collections.abc.Callable[[], T], otherwise: T) -> T:
        try:
            return make()
        except errors.StartupError as exc:
            problems.append(exc)
            return otherwise

    options = conf[override_conf.GROUP.name]
    catalog = catalog_module.running()
    checked: dict[str, list[str]] = {}
    for option in ('denied_properties', 'allowed_properties'):
        checked[option] = tried(
            lambda option=option: [  # type: ignore[misc]
                entry.text for entry in lists_rule.PropertyList(
                    option, options[option], catalog).entries], [])
    tried(lambda: doors.Doors.from_options(options), doors.CLOSED)
    copied = tried(lambda: injection_rule.load(
        options.glance_image_import_files), injection_rule.Injection())
    copy_path = options.property_protection_file
    protected = tried(lambda: _protections(
        copy_path, options.property_protection_rule_format,
        options.property_protection_policy_file), None)
    rules = judge.Rules(
        catalog, checked['denied_properties'], checked['allowed_properties'],
        copied, protected)
    extension = tried(
        lambda: extension_module.Extension.with_rules(rules), None)

    # The copies, when they have been read, can be read for other options too.
    paths = glance_files or (
        () if problems else options.glance_image_import_files)
    glance: dict[str, typing.Any] = tried(
        lambda: cloud_module.read_options(
            'glance', paths, cloud_module.GLANCE_OPTIONS), {})
    if glance_files and glance:
        copied = tried(
            lambda: injection_rule.load(glance_files), copied)
        protected = tried(lambda: _protections(
            glance['property_protection_file'],
            glance['property_protection_rule_format'],
            glance['policy_file']), protected)
    else:
        glance['property_protection_file'] = copy_path
        glance['policy_file'] = options.property_protection_policy_file
    cinder = tried(lambda: cloud_module.read_options(
        'cinder', cinder_files, cloud_module.CINDER_OPTIONS), None) \
        if cinder_files else None
    if problems or extension is None:
        for problem in dict.fromkeys(
                line for each in problems for line in str(each).split('\n')):
            yield cloud_module.Finding(
                cloud_module.ERROR, 'S1', (problem,),
                'nova-api does not start', 'correct the file or the option')
        return
    cloud = cloud_module.Cloud(
        conf, rules, deployment.caller(extension, roles, project), copied,
        protected, glance, cinder)
    for check in CHECKS:
        yield from check(cloud)


def _protections(
    path: str | None, rule_format: str, policy_path: str | None,
) -> protections_rule.Protections | None:
    return None if path is None else protections_rule.load(
        path, rule_format, policy_path)
