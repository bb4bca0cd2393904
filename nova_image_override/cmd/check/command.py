"""``nova-image-override check``: the command."""

import argparse
import collections.abc
import typing

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.api import client_compatibility
from nova_image_override.api import startup
from nova_image_override.authorization import callers as callers_module
from nova_image_override.authorization import decisions
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.authorization import property_lists
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.authorization.glance import property_protections
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check import hosts
from nova_image_override.cmd.check import injection
from nova_image_override.cmd.check import other_services
from nova_image_override.cmd.check import own_rules
from nova_image_override.cmd.check import protections
from nova_image_override.cmd.check import spelling
from nova_image_override.cmd.check import summary
from nova_image_override.properties import catalog as catalog_module

CHECKS = (*own_rules.CHECKS, *protections.CHECKS, *injection.CHECKS,
          *other_services.CHECKS, *hosts.CHECKS)

T = typing.TypeVar('T')


class Check(deployment_files.Lister):
    """Find what is wrong with the rules of this deployment.

    Reads nova.conf, policy.yaml and Glance's files; asks no service, and
    Nova's databases only for --compute-nodes. The exit status is 1 when there
    is an error or a warning. What was looked at is told in a line on standard
    error.
    """

    _summary: str

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
        parser.add_argument(
            '--compute-nodes', action='store_true',
            help='read the hypervisor types of all compute nodes from Nova\'s '
                 'databases, and compare them with virt_drivers')
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Print the table and, in words, what was looked at."""
        status = super().run(parsed_args)
        self.app.stderr.write(f'{self._summary}\n')
        return status

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Look for everything that is wrong.

        :raises errors.StartupError: nova.conf itself cannot be read
        """
        conf = deployment_files.read_nova_conf(
            parsed_args, databases=parsed_args.compute_nodes)
        reader = _Reader()
        cloud = reader.read(
            conf, parsed_args.roles or deployment_files.MEMBER,
            parsed_args.project, parsed_args.glance_config_file,
            parsed_args.cinder_config_file)
        if cloud is not None and parsed_args.compute_nodes:
            cloud.hypervisor_types = hosts.hypervisor_types()
        found = [*spelling.findings(conf), *(
            reader.problems() if cloud is None else (
                finding for check in CHECKS for finding in check(cloud)))]
        self.status = int(any(
            each.severity != cloud_module.NOTE for each in found))
        self._summary = summary.of(found, cloud, parsed_args)
        return ('Severity', 'Code', 'Subject', 'Why', 'What to change'), [
            (each.severity, each.code, ', '.join(each.subjects), each.why,
             each.change) for each in found]


class _Reader:
    """Reads all files of a deployment, even when some are faulty."""

    def __init__(self) -> None:
        #: What is wrong, and whether it is in an argument of this command.
        self._problems: list[tuple[errors.StartupError, bool]] = []

    def problems(self) -> list[cloud_module.Finding]:
        """Return what is wrong: S1 stops nova-api, S2 only this command."""
        told = {
            False: ('S1', 'nova-api does not start',
                    'correct the file or the option'),
            True: ('S2', 'nothing could be checked',
                   'correct the argument, or the file that it names')}
        lines = dict.fromkeys(
            (line, is_given) for each, is_given in self._problems
            for line in str(each).split('\n'))
        return [
            cloud_module.Finding(cloud_module.ERROR, code, (line,), why, change)
            for line, is_given in lines
            for code, why, change in [told[is_given]]]

    def _tried(
        self, make: collections.abc.Callable[[], T], otherwise: T,
        is_given: bool = False,
    ) -> T:
        try:
            return make()
        except errors.StartupError as exc:
            self._problems.append((exc, is_given))
            return otherwise

    def read(
        self, conf: cfg.ConfigOpts, roles: collections.abc.Iterable[str],
        project: str, glance_files: collections.abc.Sequence[str],
        cinder_files: collections.abc.Sequence[str],
    ) -> cloud_module.Cloud | None:
        """Return the deployment; None when something is wrong."""
        options = conf[override_conf.GROUP.name]
        enforcer = self._enforcer(options)
        self._tried(
            lambda: client_compatibility.ClientCompatibility.from_options(
                options), client_compatibility.NONE)
        callers = self._tried(
            lambda: callers_module.Callers(enforcer.catalog), None)
        # The copies, when they have been read, can be read for other options
        # too.
        paths = glance_files or (
            () if self._problems else options.glance_image_import_files)
        glance: dict[str, typing.Any] = self._tried(
            lambda: cloud_module.read_options(
                'glance', paths, cloud_module.GLANCE_OPTIONS), {},
            bool(glance_files))
        injection, protections = enforcer.injection, enforcer.protections
        if glance_files and glance:
            injection = self._tried(
                lambda: metadata_injection.load(glance_files), injection,
                True)
            protections = self._tried(lambda: _protections(
                glance['property_protection_file'],
                glance['property_protection_rule_format'],
                glance['policy_file']), protections, True)
        else:
            glance['property_protection_file'] = (
                options.property_protection_file)
            glance['policy_file'] = options.property_protection_policy_file
        cinder = self._tried(lambda: cloud_module.read_options(
            'cinder', cinder_files, cloud_module.CINDER_OPTIONS), None, True) \
            if cinder_files else None
        self._tried(
            lambda: startup.virt_drivers(options), frozenset[str]())
        if self._problems or callers is None:
            return None
        return cloud_module.Cloud(
            conf, enforcer, deployment_files.caller(callers, roles, project),
            injection, protections, glance, cinder)

    def _enforcer(self, options: typing.Any) -> enforcer_module.Enforcer:
        """Return the rules, without the parts that cannot be read."""
        catalog = catalog_module.running()

        def checked(option: str) -> list[str]:
            return self._tried(lambda: [
                entry.text for entry in property_lists.PropertyList(
                    option, options[option], catalog).entries], [])

        return enforcer_module.Enforcer(
            catalog, checked(decisions.DENIED), checked(decisions.ALLOWED),
            self._tried(
                lambda: metadata_injection.load(
                    options.glance_image_import_files),
                metadata_injection.Injection()),
            self._tried(lambda: _protections(
                options.property_protection_file,
                options.property_protection_rule_format,
                options.property_protection_policy_file), None))


def _protections(
    path: str | None, rule_format: str, policy_path: str | None,
) -> property_protections.Protections | None:
    return None if path is None else property_protections.load(
        path, rule_format, policy_path)
