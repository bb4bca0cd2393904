"""``nova-image-override servers``: which servers override what."""

import argparse
import collections.abc
import functools
import sys
import typing

from nova_image_override import errors
from nova_image_override import override
from nova_image_override import record
from nova_image_override import stored_image
from nova_image_override.api import startup
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd import server_pages
from nova_image_override.properties import catalog

Row = tuple[typing.Any, ...]

#: Returns what the rules refuse of a server's overrides.
Refused = collections.abc.Callable[
    [typing.Any, override.Overrides],
    collections.abc.Mapping[str, errors.Problem]]


class Servers(deployment_files.Lister):
    """List the servers with overrides of every cell, cell0 included.

    Rows come in the order of cells and of the instances in them, as they are
    read: with -f csv or -f value nothing waits for the end. With
    --no-longer-allowed, only what the rules refuse now; the exit status is 1
    when there is any.
    """

    asks_for_project = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--property', metavar='PROPERTY[=[VALUE]]',
            help='only overrides of this property; with a value, only those '
                 'to it; with nothing after the =, only those that remove it')
        parser.add_argument(
            '--project', metavar='PROJECT',
            help='only servers of this project (its ID)')
        place = parser.add_mutually_exclusive_group()
        place.add_argument(
            '--server', metavar='SERVER', help='only this server (its UUID)')
        place.add_argument(
            '--marker', metavar='SERVER',
            help='UUID of the last server of an earlier run, to go on after '
                 'it')
        parser.add_argument(
            '--no-longer-allowed', action='store_true',
            help='only overrides that the rules would refuse now to a user '
                 'of the server\'s project with the roles of --role')
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], collections.abc.Iterator[Row]]:
        """Read the servers of every cell.

        :raises errors.Invalid: there is no such property or value
        :raises errors.NotFound: there is no such server
        :raises errors.StartupError: a database or the rules cannot be read
        """
        conf = deployment_files.read_nova_conf(parsed_args, databases=True)
        header: tuple[str, ...] = (
            'Server', 'Project', 'Cell', 'Property', 'Image value', 'Value')
        refused = None
        if parsed_args.no_longer_allowed:
            header += ('Code', 'Reason')
            refused = functools.partial(
                _refused, startup.read(conf),
                parsed_args.roles or deployment_files.MEMBER)
        return header, self._rows(
            server_pages.pages(
                parsed_args.project, parsed_args.marker, parsed_args.server),
            _wanted(parsed_args.property), refused)

    def _rows(
        self, pages: collections.abc.Iterator[tuple[str, server_pages.Page]],
        wanted: collections.abc.Callable[[str, str | None], bool],
        refused: Refused | None,
    ) -> collections.abc.Iterator[Row]:
        with Progress(sys.stderr) as progress:
            for cell, page in pages:
                progress.clear()
                for row in rows(cell, page.servers, wanted, refused):
                    self.status = int(refused is not None)
                    yield row
                progress.show(cell, page)


def rows(
    cell: str, servers: collections.abc.Iterable[typing.Any],
    wanted: collections.abc.Callable[[str, str | None], bool],
    refused: Refused | None,
) -> collections.abc.Iterator[Row]:
    """Yield the rows of servers of a cell.

    :param wanted: returns whether an override with this name and value is to
        be listed
    :param refused: given if only what is refused is to be listed
    """
    for server in servers:
        overrides = record.in_force(server.system_metadata)
        image_values = record.image_values(server.system_metadata)
        listed = {name: value for name, value in sorted(overrides.items())
                  if wanted(name, value)}
        problems = refused(server, overrides) if refused and listed else None
        for name, value in listed.items():
            row = (server.uuid, server.project_id, cell, name,
                   image_values[name], value)
            if problems is None:
                yield row
            elif name in problems:
                yield (*row, problems[name].code, problems[name].reason)


def _wanted(
        text: str | None) -> collections.abc.Callable[[str, str | None], bool]:
    """Return what ``--property`` asks for.

    :raises errors.Invalid: it is not a property, or not a value of one
    """
    if text is None:
        return lambda name, value: True
    wanted, has_value, value_text = text.partition('=')
    parser = override.Parser(catalog.running())
    if not has_value:
        parser.parse_names([wanted])
        return lambda name, value: name == wanted
    overrides = parser.parse({wanted: value_text or None})
    return lambda name, value: overrides.items() >= {(name, value)}


def _refused(
    read: startup.Startup, roles: collections.abc.Iterable[str],
    server: typing.Any, overrides: override.Overrides,
) -> dict[str, errors.Problem]:
    """Return what the rules refuse of the overrides of a server, by name.

    They answer as to a user who would create it now from the same image.
    """
    known: override.Overrides = {}
    problems: list[errors.Problem] = []
    for name, value in overrides.items():
        try:
            read.enforcer.catalog.resolve(name)
        except errors.Invalid as exc:
            # From an earlier Nova.
            problems += exc.problems
        else:
            known[name] = value
    try:
        read.enforcer.check(
            deployment_files.caller(
                read.callers, roles, server.project_id, server.user_id),
            known, [stored_image.properties_without_overrides(server)])
    except errors.Forbidden as exc:
        problems += exc.problems
    return {problem.name: problem for problem in problems}


class Progress:
    """One line that shows how far reading has got, if somebody is watching.

    :param stream: where to write it, if that is a terminal
    """

    def __init__(self, stream: typing.TextIO) -> None:
        self._stream = stream if stream.isatty() else None
        self._read = self._found = 0

    def __enter__(self) -> typing.Self:
        """Begin."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Leave nothing behind."""
        self.clear()

    def show(self, cell: str, page: server_pages.Page) -> None:
        """Count a page, and show the count."""
        self._read += page.number
        self._found += len(page.servers)
        self._write(f'{cell}: {self._read:,} servers read, '
                    f'{self._found:,} with overrides')

    def clear(self) -> None:
        """Make room for other output."""
        self._write('')

    def _write(self, text: str) -> None:
        if self._stream is not None:
            # ECMA-48: erase to the end of the line.
            self._stream.write(f'\r\x1b[K{text}')
            self._stream.flush()
