"""``nova-image-override hosts``: which hosts can take a server, and why not."""
from __future__ import annotations

import argparse
from collections.abc import Callable
import functools
from typing import Any
import uuid

from nova import context as nova_context
from nova import objects
from nova.pci import request as pci_request
from nova.virt import hardware

from nova_image_override import errors
from nova_image_override.api import startup
from nova_image_override.api.change.plan import Change, Planner
from nova_image_override.api.guest import guest
from nova_image_override.client import arguments
from nova_image_override.cmd import cells
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd import explain
from nova_image_override.cmd import list_servers
from nova_image_override.hosts import scheduler as host_scheduler
from nova_image_override.nova_interfaces import scheduler as interfaces
from nova_image_override.override import NONE
from nova_image_override.server_record import ServerRecord

_TAKES = 'can take the server'

#: What a host is like that lacks a part of what Placement is asked for.
_LACKING = {
    'in_tree': 'not the host that the request names',
    'member_of': 'not in the zone, or the aggregates, of the request',
    'resources': 'no room for {}',
    'required': 'without the trait {}',
}


class Hosts(deployment_files.Table):
    """Say how many hosts can take a server, and why the others cannot.

    Asks Placement and the filters as nova-scheduler does, with its nova.conf,
    and claims nothing; and again without each override. Either of a server
    that exists, or of one with --flavor. The exit status is 1 when no host can
    take it, and 2 when it could not be asked.
    """

    options = {
        **explain.IMAGE,
        '--preset': {
            'metavar': 'NAME',
            'help': 'preset of its overrides'},
        '--zone': {'metavar': 'ZONE', 'help': 'its availability zone'},
        '--project': {'metavar': 'PROJECT', 'help': 'its project (ID)'},
        arguments.SET: {
            'metavar': 'NAME=VALUE', 'action': 'append', 'dest': 'overrides',
            'help': 'an override of it; NAME= removes; may be repeated'},
        '--hosts': {
            'action': 'store_true',
            'help': 'list each host, instead of how many there are'}}

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options."""
        parser = super().get_parser(prog_name)
        deployment_files.add_options(
            parser.add_mutually_exclusive_group(required=True), {
                '--server': {
                    'metavar': 'SERVER', 'help':
                    'a server, such as one that found no host (UUID)'},
                '--flavor': {
                    'metavar': 'FLAVOR', 'help':
                    'flavor of a server to be created (name or ID)'}})
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Print the table; return the exit status."""
        try:
            return super().run(parsed_args)
        except BrokenPipeError:
            raise
        except Exception as exc:  # 1 would say that no host can take it.
            self.app.stderr.write(f'{" ".join(str(exc).split())}\n')
            return 2

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> deployment_files.Columns:
        """Ask; :meth:`run` turns what is raised into one line."""
        if parsed_args.server and any(
                getattr(parsed_args, option.get('dest', name.lstrip('-')))
                is not None for name, option in self.options.items()
                if name != '--hosts'):
            raise ValueError(
                '--server goes with --hosts only, the rest with --flavor')
        asked = arguments.take(parsed_args.overrides or ())
        conf = deployment_files.read_nova_conf(parsed_args, databases=True)
        interfaces.verify()
        context = nova_context.get_admin_context()
        nodes = list(cells.compute_nodes(unread=self.unread))
        spec, change = _of_server(context, parsed_args.server) \
            if parsed_args.server else _of_create(
                context, parsed_args, asked, startup.read(conf).planner)
        scheduler = host_scheduler.Scheduler()
        answer = scheduler.ask(context, spec)
        self.status = int(not answer.able)
        having = functools.cache(scheduler.placement_client.having)
        found = [(cell, node, _reason(having, answer, node.uuid))
                 for cell, node in nodes]
        if parsed_args.hosts:
            return ('Cell', 'Host', 'Node', 'Answer'), [
                (cell, node.host, node.hypervisor_hostname, why)
                for cell, node, why in found]
        nodes_by_reason: dict[str, set[str]] = {_TAKES: set()}
        for _, node, why in found:
            nodes_by_reason.setdefault(why, set()).add(node.uuid)
        without = list(host_scheduler.ask_without(
            scheduler, context, spec, change))
        return ('Hosts', 'Answer', 'Overrides'), [
            *((len(nodes), why, ', '.join(sorted(
                name for names, other in without for name in names
                if nodes & (other.able - answer.able))))
              for why, nodes in nodes_by_reason.items()),
            *((len(other.able), f'{_TAKES} without', ', '.join(names))
              for names, other in without)]


def _of_server(
    context: Any, server: str,
) -> tuple[objects.RequestSpec, Change]:
    """Return request and overrides of a server that exists."""
    # It may be in another cell than those that cannot be read.
    _, instance = next(
        list_servers.overridden(server=server, unread=[]), (None, None))
    if instance is None:
        raise errors.NotFound(
            f'there is no server {server} in any cell that can be read')
    record = ServerRecord.of(instance)
    spec = objects.RequestSpec.get_by_instance_uuid(context, server)
    return spec, Change(
        spec.flavor, {**record.image, 'properties': record.own_properties},
        record.overrides, NONE)


def _of_create(
    context: Any, options: argparse.Namespace, asked: dict[str, str | None],
    planner: Planner,
) -> tuple[objects.RequestSpec, Change]:
    """Return request and overrides of a server that is to be created."""
    flavor = next((each for each in cells.flavors() if options.flavor in (
        each.name, each.flavorid)), None)
    if flavor is None:
        raise errors.NotFound(f'there is no flavor {options.flavor}')
    base = explain.image_properties(options.image)
    overrides = explain.overrides(
        planner.enforcer, asked, options.preset, base)
    change = Change(flavor, {'properties': base}, overrides, overrides)
    # Operators may read every extra spec.
    meta = guest.read(planner.plan(
        deployment_files.context(['admin']), change,
        authorises=False).image)
    # As API._validate_and_build_base_options and _create_instance do.
    spec = objects.RequestSpec.from_components(
        context, str(uuid.uuid4()), meta, flavor,
        hardware.numa_get_constraints(flavor, meta),
        pci_request.get_pci_requests_from_flavor(
            flavor, affinity_policy=hardware.get_pci_numa_policy_constraint(
                flavor, meta)),
        {}, None, options.zone, project_id=options.project,
        user_id=context.user_id)
    spec.is_bfv = False
    spec.requested_networks = objects.NetworkRequestList(objects=[])
    return spec, change


def _reason(
    having: Callable[[host_scheduler.Part], set[str]],
    answer: host_scheduler.Answer, node: str,
) -> str:
    """Say what a compute node lacks; HAVING returns which have a part."""
    if node in answer.able:
        return _TAKES
    if node in answer.refused:
        return f'refused by {answer.refused[node]}'
    if answer.reason:
        return answer.reason
    lacking = next(
        (part for part in answer.parts if node not in having(part)), None)
    if lacking is None:
        return 'Placement has not all of it together'
    if lacking.value == '!COMPUTE_STATUS_DISABLED':
        return 'disabled'
    if lacking.value.startswith('!'):
        return f'with the trait {lacking.value[1:]}'
    return _LACKING[lacking.name].format(lacking.value)
