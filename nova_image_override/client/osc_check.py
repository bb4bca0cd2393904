"""``openstack image override check``: the image properties of a create."""
from __future__ import annotations

import argparse
from typing import Any

from osc_lib.command import command

from nova_image_override import property_table
from nova_image_override.client import arguments
from nova_image_override.client import transport

Rows = list[tuple[Any, ...]]

PROPERTY_COLUMNS = ('Property', 'Value', 'Image Value', 'Drivers')
NODE_COLUMNS = (
    'NUMA Node', 'CPUs', 'Dedicated CPUs', 'Memory MB', 'Page Size',
    'CPU Policy', 'CPU Thread Policy', 'Emulator Threads')


class Check(command.Lister, command.ShowOne):
    """Check overrides, and show the image properties of the server.

    This is a dry run: nothing is created or reserved. If the create would be
    refused, each reason is shown on a line, and the exit status is 1. The
    formats json and yaml have the cloud's whole answer.
    """

    _nodes: Rows

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the arguments."""
        parser = super().get_parser(prog_name)
        boots_from = parser.add_mutually_exclusive_group(required=True)
        boots_from.add_argument(
            '--image', metavar='<image>',
            help='Image that the server would boot from (name or ID)')
        boots_from.add_argument(
            '--volume', metavar='<volume>',
            help='Volume that the server would boot from (name or ID)')
        parser.add_argument(
            '--flavor', metavar='<flavor>', required=True,
            help='Flavor that the server would have (name or ID)')
        parser.add_argument(arguments.SET, **arguments.OPTION)
        parser.add_argument(nargs='*', **arguments.OPTION)
        parser.add_argument(arguments.PRESET, **arguments.PRESET_OPTION)
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], Any]:
        """Ask the cloud.

        :raises answers.Refused: the create would be refused
        :raises answers.Error: the cloud cannot be asked
        """
        answer = self._ask(parsed_args)
        if parsed_args.formatter in property_table.OBJECT_FORMATS:
            return tuple(answer), tuple(answer.values())
        self._nodes = list(property_table.with_null(
            _node_rows(answer['numa_topology'])))
        return PROPERTY_COLUMNS, property_table.with_null(_property_rows(
            answer['properties'], answer['overridden']))

    def _ask(self, parsed_args: argparse.Namespace) -> dict[str, Any]:
        manager: Any = self.app.client_manager
        compute = manager.compute
        server = {'flavor_id': compute.find_flavor(
            parsed_args.flavor, ignore_missing=False).id}
        if parsed_args.image is not None:
            server['image_id'] = manager.image.find_image(
                parsed_args.image, ignore_missing=False).id
        else:
            # client_manager.volume is python-cinderclient's before release 8.
            volume = manager.sdk_connection.block_storage.find_volume(
                parsed_args.volume, ignore_missing=False)
            server['block_device_mapping'] = [{
                'boot_index': 0, 'source_type': 'volume',
                'destination_type': 'volume', 'uuid': volume.id}]
        with transport.attach(compute).overriding(
                transport.CHECK, *arguments.asked(parsed_args)) as asking:
            compute.create_server(**server)
        return asking.checked

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Any, data: Any,
    ) -> int:
        """Print the properties and, as a table, the NUMA nodes below them."""
        if parsed_args.formatter in property_table.OBJECT_FORMATS:
            return command.ShowOne.produce_output(
                self, parsed_args, column_names, data)
        super().produce_output(parsed_args, column_names, data)
        # Columns can be chosen for the first table only.
        if self._nodes and parsed_args.formatter == 'table' and (
                not parsed_args.columns):
            super().produce_output(parsed_args, NODE_COLUMNS, self._nodes)
        return 0


def _property_rows(
    properties: dict[str, Any], overridden: dict[str, dict[str, Any]],
) -> Rows:
    """Return the rows of all properties, including those that are removed."""
    told = {**{name: {'value': value, 'image_value': value}
               for name, value in properties.items()}, **overridden}
    return [(
        name, said['value'], said['image_value'],
        # Those that act on it, if not all of them do.
        ', '.join(driver for driver, outcome in said.get('drivers', {}).items()
                  if outcome == 'acts'),
    ) for name, said in sorted(told.items())]


def _node_rows(topology: dict[str, Any] | None) -> Rows:
    """Return the rows of NUMA nodes, if the guest has any."""
    if topology is None:
        return []
    return [(
        node['id'], _spelled(node['cpus']), _spelled(node['dedicated_cpus']),
        node['memory_mb'], node['page_size'], node['cpu_policy'],
        node['cpu_thread_policy'], topology['emulator_threads_policy'],
    ) for node in topology['nodes']]


def _spelled(cpus: list[int]) -> str:
    """Return a list of CPUs in ranges, such as ``0-3,8``."""
    spans: list[list[int]] = []
    for cpu in sorted(cpus):
        if spans and cpu == spans[-1][-1] + 1:
            spans[-1][1:] = [cpu]
        else:
            spans.append([cpu])
    return ','.join('-'.join(map(str, span)) for span in spans)
