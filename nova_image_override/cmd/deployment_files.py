"""Reading nova.conf, and the options of commands that do.

It is read as nova-manage reads it (nova.config.parse_args), so that a command
reports what nova-api does.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
import glob
import itertools
import os
import pathlib
import sys
from typing import Any

from cliff import command
from cliff import lister
from cliff.formatters import json_format
from nova import config as nova_config
from nova import context as nova_context
import nova.conf
from oslo_config import cfg

from nova_image_override import errors
from nova_image_override import property_table
from nova_image_override.api import startup
from nova_image_override.api.change.plan import Planner
from nova_image_override.authorization.caller import Caller
from nova_image_override.client import arguments
from nova_image_override.cmd import shell
from nova_image_override.nova_interfaces import common
from nova_image_override.nova_interfaces import interface

#: Roles of a plain tenant, as Keystone's bootstrap makes them.
MEMBER = ('member', 'reader')

#: Rows of one table, after which the next begins.
PAGE = 1000

#: Options and arguments of a command -> how argparse takes them.
Options = dict[str, dict[str, Any]]
#: The columns of a table, and its rows.
Columns = tuple[tuple[str, ...], Iterable[tuple[Any, ...]]]

ROLE: Options = {'--role': {
    'metavar': 'ROLE', 'action': 'append', 'dest': 'roles',
    'help': 'role of the user; may be repeated (default: '
            f'{" and ".join(MEMBER)})'}}
#: What describes the user to whom the rules answer.
USER: Options = {**ROLE, '--project': {
    'metavar': 'PROJECT',
    'help': 'project of the user, for policies that look at it (ID)'}}
CELL: Options = {'--cell': {
    'metavar': 'CELL',
    'help': 'list only what is in this cell (name or UUID)'}}


def text(value: str) -> str:
    """Return an option's value, which must not be empty.

    An empty one is what a shell makes of a variable that is not set.

    :raises argparse.ArgumentTypeError: it is empty
    """
    if not value:
        raise argparse.ArgumentTypeError('must not be empty')
    return value


def add_options(parser: argparse._ActionsContainer, options: Options) -> None:
    """Add OPTIONS, of which those that take a value take one, and only once."""
    for name, option in options.items():
        if option.get('action') != 'store_true':
            option = {'type': text, 'action': arguments.Once, **option}
        parser.add_argument(name, **option)


class JSON(json_format.JSONFormatter):
    """cliff's JSON, without waiting for the last row."""

    def emit_list(
        self, column_names: Any, data: Any, stdout: Any, parsed_args: Any,
    ) -> None:
        """Write each row as it comes."""
        before = '['
        for row in data:
            stdout.write(before)
            self.emit_one(column_names, row, stdout, parsed_args)
            before = ','
        stdout.write(']\n' if before == ',' else '[]\n')


class Command(command.Command):
    """A command about a deployment.

    :ivar options: what it takes, besides the files of nova.conf
    """

    options: Options = {}

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options to those that the shell itself takes (Shell)."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        shell.add_file_options(parser, self.app)
        add_options(parser, self.options)
        return parser

    def get_epilog(self) -> str:
        """Return nothing: cliff reads every package for its own."""
        return ''


class Table(Command, lister.Lister):
    """A table about a deployment.

    :ivar status: the exit status, once the table is made
    :ivar unread: what is wrong with cells that are left out of it
    :ivar summary: a line for standard error, if there is one
    """

    status = 0
    summary = ''
    unread: list[str]

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Print the table; return the exit status."""
        self.unread = []
        super().run(parsed_args)
        # Before anything of standard error, in whatever both go to.
        self.app.stdout.flush()
        for line in filter(None, (*self.unread, self.summary)):
            print(line, file=sys.stderr)
        return 2 if self.unread else self.status

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Any, data: Any,
    ) -> int:
        """Print the rows as they come, in pages where cliff collects them."""
        written = parsed_args.formatter
        if written not in property_table.OBJECT_FORMATS:
            data = property_table.for_people(data)
        if written == 'json':
            self.formatter = JSON()
        if written not in ('table', 'yaml') or parsed_args.sort_columns:
            return int(super().produce_output(parsed_args, column_names, data))
        rows = iter(data)
        pages = iter(lambda: list(itertools.islice(rows, PAGE)), [])
        for page in itertools.chain([next(pages, [])], pages):
            super().produce_output(parsed_args, column_names, page)
        return 0


def read_nova_conf(
    options: argparse.Namespace, *, databases: bool = False,
) -> cfg.ConfigOpts:
    """Read nova.conf.

    :param databases: whether Nova's databases are to be used
    :raises errors.StartupError: there is none, or Nova has a different shape
    """
    interface.verify(common.INTERFACES, common.RULES, common.COMMANDS)
    words = ['nova-image-override',
             *(f'--config-file={each}' for each in options.config_file),
             *(f'--config-dir={each}' for each in options.config_dir)]
    try:
        # Without RPC Nova cannot name the message queues of cells
        # (nova.context.set_target_cell); nothing is sent to them.
        nova_config.parse_args(
            words, configure_db=databases, init_rpc=databases)
    except cfg.Error as exc:
        raise errors.StartupError(' '.join(str(exc).split())) from None
    except UnicodeDecodeError as exc:
        raise not_decoded(exc, options) from None
    return found_nova_conf()


def found_nova_conf() -> cfg.ConfigOpts:
    """Return the configuration that has been read.

    :raises errors.StartupError: from no file
    """
    conf = nova.conf.CONF
    if not conf.config_file and not conf.config_dir:
        raise errors.StartupError(
            'no nova.conf was found, name it with --config-file')
    return conf


def paths(files: Iterable[str], folders: Iterable[str]) -> list[str]:
    """Return which files oslo.config reads of these, in its order."""
    return [*map(os.path.expanduser, files), *(
        path for folder in folders for path in sorted(glob.glob(
            os.path.join(os.path.expanduser(folder), '*.conf'))))]


def not_decoded(
    exc: UnicodeDecodeError, options: argparse.Namespace,
) -> errors.StartupError:
    """Return the error with the file's name, which oslo.config leaves out."""
    def is_to_blame(path: str) -> bool:
        try:
            pathlib.Path(path).read_text(exc.encoding)
        except OSError:
            return False
        except UnicodeDecodeError:
            return True
        return False

    conf = nova.conf.CONF
    path = next(filter(is_to_blame, paths(
        options.config_file or conf.default_config_files,
        options.config_dir or conf.default_config_dirs)))
    return errors.StartupError(f'{path}: {exc}')


def context(
    roles: list[str] | None, project: str | None = None, user: str = 'user',
) -> nova_context.RequestContext:
    """Return the context of a user's request, by default of a plain tenant."""
    return nova_context.RequestContext(
        user_id=user, project_id=project or 'project',
        roles=roles or [*MEMBER])


def read_rules(options: argparse.Namespace) -> tuple[Planner, Caller]:
    """Return the rules, and the caller whom the options describe.

    :raises errors.StartupError: with these rules nova-api does not start
    """
    planner = startup.read(read_nova_conf(options)).planner
    return planner, planner.callers.caller(
        context(options.roles, options.project))
