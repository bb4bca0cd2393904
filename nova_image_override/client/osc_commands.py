"""``openstack image override``: the cloud's offer, and checks of creates."""
from __future__ import annotations

import argparse
from typing import Any

from cliff.formatters import table
from osc_lib.cli import format_columns
from osc_lib.command import command

from nova_image_override import errors
from nova_image_override import property_table
from nova_image_override.client import answers
from nova_image_override.client import arguments
from nova_image_override.client import transport
from nova_image_override.properties import book

Rows = list[tuple[Any, ...]]

#: The result of a command: names of columns, and their content.
Table = tuple[tuple[str, ...], Any]

PROPERTY_COLUMNS = ('Property', 'Value', 'Image Value', 'Drivers')
NODE_COLUMNS = (
    'NUMA Node', 'CPUs', 'Dedicated CPUs', 'Memory MB', 'Page Size',
    'CPU Policy', 'CPU Thread Policy', 'Emulator Threads')
HOST_COLUMNS = ('Host Now', 'Override', 'Reason')
LEFT_OUT_COLUMNS = ('Properties Without Room in the Answer',)

#: The option of dry runs of a create.
HOSTS_OPTION: dict[str, Any] = {
    'action': 'store_true',
    'help': 'In a dry run, ask whether a host can take the server now, and '
            'which overrides are in the way (by default administrators only)'}


def _offer(shown: command.Command) -> answers.Discovery:
    """Return the cloud's offer, or raise answers.Error."""
    manager: Any = shown.app.client_manager
    return transport.attach(manager.compute).discover()


class List(command.Lister):
    """List the image properties that may be overridden, and their values."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'names', metavar='<key|value>', nargs='*', type=arguments.name,
            help='List only these properties, or those that can have these '
                 'values (* stands for any characters), or that mention these '
                 'words')
        parser.add_argument(
            '--long', action='store_true',
            help='List limits, drivers and descriptions too')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Ask the cloud.

        :raises answers.Error: it does not have the extension, does not
            answer, or does not offer a property that is named
        """
        rows = property_table.rows(_offer(self).schema)
        names = parsed_args.names
        found = {name: property_table.found(rows, name) for name in names}
        # Each with the name that was meant, if one is like it.
        missing = {name: errors.nearest(name, [row.name for row in rows])
                   for name in names if not found[name]}
        if missing:
            raise answers.Error('You may not override ' + ', '.join(
                name + (near and f' (did you mean {near}?)')
                for name, near in missing.items()))
        if names:
            rows = [row for row in rows
                    if any(row in each for each in found.values())]
        shown = 7 if parsed_args.long else 3
        return ('Property', 'Type', 'Values', 'Removable', 'Names',
                'Drivers', 'Description')[:shown], [
            (row.name, row.kind, row.values, row.removable, row.pattern,
             row.drivers, row.description)[:shown] for row in rows]


class Show(command.ShowOne):
    """Show one image property: its effect, values, limits and needs."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the argument."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'name', metavar='<key>', type=arguments.name,
            help='Name of the property')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Ask the cloud.

        :raises answers.Error: it does not offer the property; with the reason
        """
        name = parsed_args.name
        for row in property_table.rows(_offer(self).schema):
            if row.is_named(name):
                return ('property', 'purpose', 'description', 'type', 'values',
                        'removable', 'drivers'), (
                    row.name, book.purpose_of(book.field_of(name)),
                    row.description, row.kind, row.values, row.removable,
                    row.drivers)
        record = book.RECORDS.get(book.field_of(name))
        raise answers.Error(
            f'You may not override {self._why_not(name)}'
            + (f'. {record.description}' if record else ''))

    def _why_not(self, name: str) -> str:
        """Return the cloud's reason for not offering the property NAME.

        Its rules are checked before image and flavor, so any will do; and a
        removal has no value that could be the reason.
        """
        manager: Any = self.app.client_manager
        image = next(iter(manager.image.images(limit=1)), None)
        flavor = next(iter(manager.compute.flavors(limit=1)), None)
        if not (image and flavor):
            return f'{name}; why can be asked where image and flavor exist'
        try:
            transport.attach(manager.compute).check(
                {'imageRef': image.id, 'flavorRef': flavor.id}, {name: None})
        except answers.Refused as exc:
            # Without a problem image, flavor or quota are refused. The list's
            # values come before the rules that close them.
            if exc.problems:
                return str(exc) + ''.join(
                    ', which another rule closes or no host acts on: '
                    '"openstack image override check" with '
                    f'{name}=VALUE says why' for each in exc.problems
                    if each.code == errors.VALUE_NOT_ALLOWED)
        return f'{name}: none of this cloud\'s hosts acts on it'


class PresetList(command.Lister):
    """List the presets that you may use: sets of image property overrides."""

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Ask the cloud."""
        return ('Name', 'Description', 'Flavors'), [
            (name, preset['description'],
             format_columns.ListColumn(preset['flavors']))
            for name, preset in sorted(_offer(self).presets.items())]


class PresetShow(command.ShowOne):
    """Show a preset, and the image properties that it overrides."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the argument."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'name', metavar='<name>', help='Name of the preset')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Ask the cloud.

        :raises answers.Error: it does not offer the preset
        """
        preset = _offer(self).preset(parsed_args.name)
        return ('name', 'description', 'properties', 'flavors'), (
            parsed_args.name, preset['description'],
            format_columns.DictColumn(preset['properties']),
            format_columns.ListColumn(preset['flavors']))


class Check(command.Lister, command.ShowOne):
    """Check overrides, and show the image properties of the server.

    This is a dry run: nothing is created or reserved. If the create would be
    refused, each reason is shown on a line, and the exit status is 1. The
    formats json and yaml have the cloud's whole answer.
    """

    _below: list[tuple[tuple[str, ...], Rows]]

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the arguments."""
        parser = super().get_parser(prog_name)
        boots_from = parser.add_mutually_exclusive_group(required=True)
        boots_from.add_argument(
            '--image', metavar='<image>', action=arguments.Once,
            help='Image that the server would boot from (name or ID)')
        boots_from.add_argument(
            '--volume', metavar='<volume>', action=arguments.Once,
            help='Volume that the server would boot from (name or ID)')
        parser.add_argument(
            '--flavor', metavar='<flavor>', action=arguments.Once,
            required=True,
            help='Flavor that the server would have (name or ID)')
        parser.add_argument(arguments.SET, **arguments.OPTION)
        parser.add_argument(nargs='*', **arguments.OPTION)
        parser.add_argument(arguments.PRESET, **arguments.PRESET_OPTION)
        parser.add_argument('--hosts', **HOSTS_OPTION)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Ask the cloud.

        :raises answers.Refused: the create would be refused
        :raises answers.Error: the cloud cannot be asked
        """
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
                transport.CHECK._replace(hosts=parsed_args.hosts),
                *arguments.asked(parsed_args)) as asking:
            compute.create_server(**server)
        answer = asking.checked
        if parsed_args.formatter in property_table.OBJECT_FORMATS:
            return tuple(answer), tuple(answer.values())
        (names, rows), *self._below = _tables(answer)
        return names, rows

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Any, data: Any,
    ) -> int:
        """Print the properties and, as tables, the rest below them."""
        if parsed_args.formatter in property_table.OBJECT_FORMATS:
            return command.ShowOne.produce_output(
                self, parsed_args, column_names, data)
        super().produce_output(parsed_args, column_names, data)
        # Columns can be chosen for the first table only.
        if parsed_args.formatter == 'table' and not parsed_args.columns:
            for names, rows in self._below:
                super().produce_output(parsed_args, names, rows)
        return 0


def print_answer(
    shown: command.Command, parsed_args: argparse.Namespace,
    answer: dict[str, Any],
) -> None:
    """Print the answer to a dry run of another command, as Check does."""
    options = argparse.Namespace(**{
        'max_width': 0, 'fit_width': False, 'print_empty': False,
        **vars(parsed_args)})
    for names, rows in _tables(answer):
        table.TableFormatter().emit_list(
            names, rows, shown.app.stdout, options)


def _tables(answer: dict[str, Any]) -> list[tuple[tuple[str, ...], Rows]]:
    """Return the tables that show an answer; the first is always there."""
    tables = ((PROPERTY_COLUMNS, _property_rows(
        answer['properties'], answer['overridden'])),
        (NODE_COLUMNS, _node_rows(answer.get('numa_topology'))),
        (HOST_COLUMNS, _host_rows(answer.get('hosts'))),
        (LEFT_OUT_COLUMNS, [(answer[errors.LEFT_OUT],)]
         if errors.LEFT_OUT in answer else []))
    return [(names, list(property_table.for_people(rows)))
            for names, rows in tables if rows or names is PROPERTY_COLUMNS]


def _host_rows(hosts: dict[str, Any] | None) -> Rows:
    """Return the rows about hosts, if the check has asked for them."""
    if hosts is None:
        return []
    possible = {True: 'yes', False: 'no'}.get(hosts['possible'], 'unknown')
    return [(possible, name, reason) for name, reason in sorted(
        hosts['in_the_way'].items())] or [(possible, '', ', '.join(
            f'not asked: {each}' for each in hosts['not_asked']))]


def _property_rows(
    properties: dict[str, Any], overridden: dict[str, dict[str, Any]],
) -> Rows:
    """Return the rows of all properties, including those that are removed."""
    shown = {**{name: {'value': value, 'image_value': value}
                for name, value in properties.items()}, **overridden}
    return [(
        name, each['value'], each['image_value'],
        # Those that act on it, if not all of them do.
        ', '.join(driver for driver, outcome in each.get('drivers', {}).items()
                  if outcome == 'acts'),
    ) for name, each in sorted(shown.items())]


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
