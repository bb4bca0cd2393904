"""What the operator's commands read, and the users for whom they ask.

nova.conf is read as nova-manage reads it (nova.config.parse_args), and the
rules as nova-api reads them, so that a command reports what nova-api does.
"""

import argparse
import collections.abc
import contextlib
import typing

from cliff import lister
from nova import config as nova_config
from nova import context as nova_context
from nova import objects
import nova.conf
from oslo_config import cfg
from oslo_db import exception as db_exception

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.caller import Callers
from nova_image_override.nova_interfaces import commands as command_interfaces
from nova_image_override.properties import table

#: Roles of a plain tenant, as Keystone's bootstrap makes them.
MEMBER = ('member', 'reader')


class Table(lister.Lister):
    """A table of what is found in a deployment.

    :ivar status: the exit status, once the table is made
    """

    status = 0

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options that say which files to read."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        add_config_options(parser)
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Print the table; return the exit status."""
        super().run(parsed_args)
        return self.status

    def produce_output(
        self, parsed_args: argparse.Namespace,
        column_names: typing.Any, data: typing.Any,
    ) -> int:
        """Print the table in the format that is asked for."""
        if parsed_args.formatter not in table.OBJECT_FORMATS:
            data = table.with_null(data)
        return int(super().produce_output(parsed_args, column_names, data))


class Lister(Table):
    """A table of what the rules say to a user.

    :ivar asks_for_project: whether an option says whose user is asked for
    """

    asks_for_project = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options that say for which user to ask."""
        parser = super().get_parser(prog_name)
        add_role_options(parser, project=self.asks_for_project)
        return parser


def add_config_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that oslo.config gives every service."""
    parser.add_argument(
        '--config-file', metavar='PATH', action='append', default=[],
        help='nova.conf to read (may be repeated); by default where Nova '
             'looks for it')
    parser.add_argument(
        '--config-dir', metavar='FOLDER', action='append', default=[],
        help='folder of configuration files to read after the others')


def add_role_options(
        parser: argparse.ArgumentParser, *, project: bool = True) -> None:
    """Add the options that say for which user to ask."""
    parser.add_argument(
        '--role', metavar='ROLE', action='append', dest='roles',
        help='role of the user to ask for (may be repeated); by default '
             + ' and '.join(MEMBER))
    if project:
        parser.add_argument(
            '--project', metavar='PROJECT', default='project',
            help='project of the user to ask for, for policies that name one')


def read_nova_conf(
    options: argparse.Namespace, *, databases: bool = False,
) -> cfg.ConfigOpts:
    """Read nova.conf.

    :param options: what :func:`add_config_options` added
    :param databases: whether Nova's databases are to be used
    :raises errors.StartupError: there is none, or Nova has a different shape
    """
    command_interfaces.verify()
    arguments = ['nova-image-override']
    for name in ('config_file', 'config_dir'):
        for value in getattr(options, name):
            arguments += [f'--{name.replace("_", "-")}', value]
    try:
        # Without RPC Nova cannot name the message queues of cells
        # (nova.context.set_target_cell); nothing is sent to them.
        nova_config.parse_args(
            arguments, configure_db=databases, init_rpc=databases)
    except cfg.Error as exc:
        raise errors.StartupError(' '.join(str(exc).split())) from None
    conf = nova.conf.CONF
    override_conf.register_opts(conf)
    if not conf.config_file and not conf.config_dir:
        raise errors.StartupError(
            'no nova.conf was found, name it with --config-file')
    return conf


@contextlib.contextmanager
def database(which: str = 'API database') -> collections.abc.Iterator[None]:
    """Read one of Nova's databases in the context.

    :param which: its name in the message
    :raises errors.StartupError: it cannot be read, or nova.conf names none
    """
    try:
        yield
    except db_exception.CantStartEngineError:
        raise errors.StartupError(
            'nova.conf has no [api_database] connection') from None
    except db_exception.DBError as exc:
        raise errors.StartupError(
            f'Nova\'s {which} cannot be read: {" ".join(str(exc).split())}'
        ) from None


def cells() -> list[typing.Any]:
    """Return ``nova.objects.CellMapping`` of each cell, cell0 included.

    :raises errors.StartupError: the API database cannot be read
    """
    with database():
        return list(objects.CellMappingList.get_all(
            nova_context.get_admin_context()))


def cell_name(cell: typing.Any) -> str:
    """Return what a cell is called; operators need not name their cells."""
    return str(cell.name or cell.uuid)


@contextlib.contextmanager
def targeted(cell: typing.Any) -> collections.abc.Iterator[typing.Any]:
    """Read the database of a cell in the context.

    :raises errors.StartupError: it cannot be read
    """
    with database(f'database of cell {cell_name(cell)}'), \
            nova_context.target_cell(
                nova_context.get_admin_context(), cell) as context:
        yield context


def caller(
    callers: Callers, roles: collections.abc.Iterable[str], project: str,
    user: str = 'user',
) -> Caller:
    """Return a user with these roles, as nova-api would see one."""
    return callers.caller(nova_context.RequestContext(
        user_id=user, project_id=project, roles=list(roles)))
