"""``nova-image-override check``: the command."""
from __future__ import annotations

import argparse
import collections
import logging

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.api import startup
from nova_image_override.cmd import cells
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd.check import files
from nova_image_override.cmd.check import finding
from nova_image_override.cmd.check import policy
from nova_image_override.cmd.check import presets
from nova_image_override.cmd.check import rules
from nova_image_override.cmd.check.finding import Finding
from nova_image_override.nova_interfaces import api as api_interfaces


class Check(deployment_files.Table):
    """Find mistakes in the rules of this deployment.

    Reads nova.conf and the files that it names; asks no service, and
    reads Nova's databases only for --compute-nodes and --flavors. The exit
    status is 1 when there is an error or a warning. A summary goes to standard
    error.
    """

    options = {
        **deployment_files.USER,
        '--compute-nodes': {
            'action': 'store_true',
            'help': 'read the hypervisor types of all compute nodes from '
                    'Nova\'s databases, and compare them with virt_drivers'},
        '--flavors': {
            'action': 'store_true',
            'help': 'read the flavors from Nova\'s API database, and say which '
                    'of them each preset goes with'},
        '--api-paste': {
            'metavar': 'PATH',
            'help': 'the api-paste.ini that nova-api reads, where a web server '
                    'names it in OS_NOVA_CONFIG_FILES (default: [wsgi] '
                    'api_paste_config)'}}

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> deployment_files.Columns:
        """Look for mistakes.

        :raises errors.StartupError: nova.conf itself cannot be read
        """
        # It logs a traceback for what P3 says, each time that it reads a file.
        logging.getLogger('oslo_policy').setLevel(logging.CRITICAL)
        conf = deployment_files.read_nova_conf(
            parsed_args, databases=(
                parsed_args.compute_nodes or parsed_args.flavors))
        started, wrong = startup.read_the_rest(conf)
        stops = [
            Finding(finding.ERROR, 'S1', getattr(each, 'subject', 'policy'),
                    f'nova-api does not start: {each}',
                    'correct it, or remove it') for each in wrong]
        try:
            api_interfaces.verify()
        except errors.StartupError as exc:
            stops.append(Finding(
                finding.ERROR, 'S2', 'Nova', f'nova-api does not start: {exc}',
                'go back to the Nova from before, or upgrade '
                'nova-image-override'))
        found = [*files.misspelt(conf), *files.missing(conf)]
        for each in files.paste(conf, parsed_args.api_paste):
            (stops if each.severity == finding.ERROR else found).append(each)
        cloud = None
        if started is not None:
            cloud = rules.Cloud(started.planner, deployment_files.context(
                parsed_args.roles, parsed_args.project))
            if parsed_args.flavors:
                cloud.flavors = cells.flavors()
            if parsed_args.compute_nodes:
                cloud.hypervisor_types = {
                    node.hypervisor_type for _, node in cells.compute_nodes()}
            found += [*rules.findings(cloud), *policy.findings(cloud),
                      *presets.findings(cloud)]
        # What is only worth knowing waits until nova-api starts.
        found = stops + sorted(
            (each for each in found
             if not stops or each.severity != finding.NOTE),
            key=lambda each: finding.SEVERITIES.index(each.severity))
        self.status = int(any(each.severity != finding.NOTE for each in found))
        self.summary = _summary(found, None if stops else cloud)
        return ('Severity', 'Code', 'Subject', 'Why', 'What to change'), found


def _summary(found: list[Finding], cloud: rules.Cloud | None) -> str:
    """Return the number of findings and of open properties."""
    counted = collections.Counter(each.severity for each in found)
    codes = {each.code for each in found}
    starts = ("nova-api would start with Nova's own application"
              if 'S4' in codes else
              'the rules can be read, api-paste.ini has not been tried'
              if 'S5' in codes else 'nova-api would start')
    counts = ', '.join(
        f'{counted[each]} {each}{"s" if counted[each] > 1 else ""}'
        for each in finding.SEVERITIES if counted[each]) or '0 findings'
    if cloud is None:
        return f'{counts}; nova-api would not start'
    schema = cloud.planner.schema(cloud.caller, versions.MAX)
    number = len(schema['properties']) + len(schema['patternProperties'])
    usable = len([*cloud.planner.usable(cloud.caller)])
    presets_too = (f', and {usable} preset{"s" if usable > 1 else ""} used,'
                   if usable else '')
    return (f'{counts}; {starts}; {number or "no"} '
            f'{"property" if number == 1 else "properties"} may be overridden'
            f'{presets_too} by {cloud.roles}; '
            f'Glance: {cloud.enforcer.glances_files}')
