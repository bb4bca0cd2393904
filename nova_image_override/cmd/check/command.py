"""``nova-image-override check``: the command."""

import argparse
import collections

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import startup
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd.check import cloud as cloud_module
from nova_image_override.cmd.check import glance
from nova_image_override.cmd.check import hosts
from nova_image_override.cmd.check import own_rules
from nova_image_override.cmd.check import spelling

CHECKS = (*own_rules.CHECKS, *glance.CHECKS, *hosts.CHECKS)


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
            help='Glance configuration file to compare with the copies that '
                 'nova.conf names; repeat in the order in which Glance reads '
                 'them (default: trust the copies)')
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
        cloud, found = self._read(conf, parsed_args)
        if cloud is not None:
            if parsed_args.compute_nodes:
                cloud.hypervisor_types = hosts.hypervisor_types()
            found += [each for check in CHECKS for each in check(cloud)]
        self.status = int(any(
            each.severity != cloud_module.NOTE for each in found))
        self._summary = _in_words(
            found, cloud, bool(parsed_args.glance_config_file))
        return ('Severity', 'Code', 'Subject', 'Why', 'What to change'), [
            (each.severity, each.code, ', '.join(each.subjects), each.why,
             each.change) for each in found]

    def _read(
        self, conf: cfg.ConfigOpts, parsed_args: argparse.Namespace,
    ) -> tuple[cloud_module.Cloud | None, list[cloud_module.Finding]]:
        """Return the deployment, None if it cannot be read, and why not."""
        found = list(spelling.findings(conf))
        try:
            started = startup.read(conf)
        except errors.StartupError as exc:
            return None, found + _unreadable(
                exc, 'S1', 'nova-api does not start',
                'correct the file or the option')
        caller = deployment_files.caller(
            started.callers, parsed_args.roles or deployment_files.MEMBER,
            parsed_args.project)
        try:
            return cloud_module.read(
                conf, started.enforcer, caller,
                parsed_args.glance_config_file), found
        except errors.StartupError as exc:
            return None, found + _unreadable(
                exc, 'S2', 'nothing could be checked',
                'correct the file, or the argument that names it')


def _unreadable(
    exc: errors.StartupError, code: str, why: str, change: str,
) -> list[cloud_module.Finding]:
    """Return a finding for each thing that is wrong."""
    return [cloud_module.Finding(
        cloud_module.ERROR, code, (line,), why, change)
        for line in str(exc).split('\n')]


def _in_words(
    found: list[cloud_module.Finding], cloud: cloud_module.Cloud | None,
    has_glance_files: bool,
) -> str:
    """Return how many findings there are, what is open, and the files read.

    :param cloud: None when it could not be read
    """
    counted = collections.Counter(each.severity for each in found)
    told = ', '.join(
        f'{counted[each]} {each}{"s" if counted[each] > 1 else ""}'
        for each in cloud_module.SEVERITIES if counted[each]) or '0 findings'
    if cloud is None:
        return told
    schema = cloud.enforcer.schema(cloud.caller, versions.MAX)
    number = len(schema['properties']) + len(schema['patternProperties'])
    options = cloud.conf[override_conf.GROUP.name]
    glance = (
        'its own files' if has_glance_files
        else 'the files that nova.conf names'
        if options.glance_image_import_files
        or options.property_protection_file else 'not given')
    return (f'{told}; {number or "no"} '
            f'{"property" if number == 1 else "properties"} may be overridden '
            f'by {cloud.roles}; Glance: {glance}')
