"""``nova-image-override servers``: the servers with overrides."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
import functools
from typing import Any

from nova import exception
from nova import objects

from nova_image_override import errors
from nova_image_override.api import startup
from nova_image_override.api.change.plan import Planner
from nova_image_override.api.list_filter import RecordFilter
from nova_image_override.authorization.presets import Preset
from nova_image_override.cmd import cells
from nova_image_override.cmd import deployment_files
from nova_image_override.override import Override, Overrides
from nova_image_override.server_record import ServerRecord

#: Servers that are read at once.
PAGE = 1000


class Servers(deployment_files.Table):
    """List the servers with overrides of every cell, cell0 included.

    Rows come in the order of cells and of the instances in them, as they are
    read; a table repeats its header after every 1,000 rows. With
    --no-longer-allowed, only overrides that the rules refuse now; the exit
    status is 1 when there is any. It is 2 when a cell cannot be read.
    """

    options = {
        '--server': {
            'metavar': 'SERVER', 'help': 'list only this server (UUID)'},
        '--server-project': {
            'metavar': 'PROJECT',
            'help': 'list only servers of this project (ID)'},
        '--preset': {
            'metavar': 'NAME',
            'help': 'list only servers with this preset'},
        '--outdated': {
            'action': 'store_true',
            'help': 'list only servers whose preset has changed since, or is '
                    'gone'},
        '--no-longer-allowed': {
            'action': 'store_true',
            'help': 'list only overrides that the rules would refuse now to a '
                    'user of the server\'s project with the roles of --role'},
        **deployment_files.ROLE, **deployment_files.CELL,
        '--marker': {
            'metavar': 'SERVER',
            'help': 'list only what follows this server (UUID), the last one '
                    'of a list that was cut off'}}

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> deployment_files.Columns:
        """Read the servers of every cell.

        :raises errors.NotFound: there is no such server
        :raises errors.StartupError: a database or the rules cannot be read
        """
        conf = deployment_files.read_nova_conf(parsed_args, databases=True)
        header: tuple[str, ...] = (
            'Server', 'Project', 'Cell', 'Property', 'Image value', 'Value',
            'Preset')
        refuses = None
        servers = overridden(parsed_args.server_project, parsed_args.server,
                             parsed_args.preset, parsed_args.marker,
                             parsed_args.cell, self.unread)
        planner = startup.read(conf).planner if (
            parsed_args.no_longer_allowed or parsed_args.outdated) else None
        if planner and parsed_args.outdated:
            servers = outdated(servers, planner.enforcer.presets.now())
        if planner and parsed_args.no_longer_allowed:
            header += ('Code', 'Reason')
            refuses = functools.partial(
                self._refused, planner, parsed_args.roles)
        return header, rows(servers, refuses)

    def _refused(
        self, planner: Planner, roles: list[str] | None,
        server: objects.Instance, record: ServerRecord,
    ) -> dict[str, errors.Problem]:
        """Return the overrides of a server that the rules refuse, by name.

        They answer as to a user who would create it now from the same image.
        """
        known: list[Override] = []
        problems: list[errors.Problem] = []
        for name, value in record.in_force.items():
            try:
                known.append(Override(
                    planner.enforcer.catalog.resolve(name), name, value))
            except errors.Invalid as exc:
                # From an earlier Nova.
                problems += exc.problems
        problems += planner.refused(
            deployment_files.context(
                roles, server.project_id, server.user_id),
            Overrides(tuple(known), record.preset, is_kept=True),
            [record.own_properties])
        if problems:
            self.status = 1
        return {problem.name: problem for problem in problems}


def overridden(
    project: str | None = None, server: str | None = None,
    preset: str | None = None, marker: str | None = None,
    only: str | None = None, unread: list[str] | None = None,
) -> Iterator[tuple[str, objects.Instance]]:
    """Yield the name of the cell and each server with overrides.

    They are read in pages, between which nothing is held open (cells.walk).

    :param project: only servers of this project
    :param server: UUID of the only server to yield, even if it is without
        overrides
    :param preset: only servers with this one; None for all
    :param marker: UUID of the server after which to begin
    :raises errors.NotFound: there is no such server or cell
    :raises errors.StartupError: a database cannot be read
    """
    filters: dict[str, Any] = {'deleted': False, 'soft_deleted': True}
    if server:
        filters['uuid'] = server
    if preset or not server:
        filters['system_metadata'] = RecordFilter(preset=preset or '')
    if project is not None:
        filters['project_id'] = project

    def pages(cell: objects.CellMapping) -> Iterator[list[objects.Instance]]:
        nonlocal marker
        after = marker
        while True:
            try:
                with cells.reading(cell) as context:
                    page = list(objects.InstanceList.get_by_filters(
                        context, filters, limit=PAGE, marker=after,
                        sort_keys=['id'], sort_dirs=['asc'],
                        expected_attrs=['system_metadata']))
            except exception.MarkerNotFound:
                # It is in a later cell.
                return
            marker = None
            yield page
            if len(page) < PAGE:
                return
            after = page[-1].uuid

    found = False
    for each in cells.walk(pages, only, unread):
        found = True
        yield each
    absent = marker or (server if not (found or preset) else None)
    if absent and not unread:
        raise errors.NotFound(f'there is no server {absent} in any cell')


def outdated(
    servers: Iterable[tuple[str, objects.Instance]],
    presets: Mapping[str, Preset],
) -> Iterator[tuple[str, objects.Instance]]:
    """Yield the servers whose preset is not, or no longer, among PRESETS."""
    for cell, server in servers:
        used = ServerRecord.of(server).preset
        if used and not (used.name in presets
                         and presets[used.name].overrides.preset == used):
            yield cell, server


def rows(
    servers: Iterable[tuple[str, objects.Instance]],
    refuses: Callable[..., Mapping[str, errors.Problem]] | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of servers.

    :param servers: each with the name of its cell
    :param refuses: returns the refused overrides of a server by name; None
        lists all overrides
    """
    for cell, server in servers:
        record = ServerRecord.of(server)
        problems = refuses(server, record) if refuses and record.in_force \
            else {}
        for name, value in sorted(record.in_force.items()):
            row = (server.uuid, server.project_id, cell, name,
                   record.image_values[name], value,
                   record.preset and record.preset.name)
            if refuses is None:
                yield row
            elif name in problems:
                yield (*row, problems[name].code, problems[name].reason)
