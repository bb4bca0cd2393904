"""``nova-image-override show``: the record of one server."""

import argparse

from cliff import lister
from nova import context as nova_context
from nova import exception
from nova import objects

from nova_image_override import errors
from nova_image_override import record
from nova_image_override.cmd import deployment_files


class Show(lister.Lister):
    """Show what one server overrides, from Nova's databases.

    For each property: the image's own value, and the one in force. Works for
    servers in every cell, cell0 included.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument('server', metavar='SERVER', help='UUID')
        deployment_files.add_config_options(parser)
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[str, str | None, str | None]]]:
        """Read the server's system metadata.

        :raises errors.NotFound: there is no such server
        """
        deployment_files.read_nova_conf(parsed_args, databases=True)
        objects.register_all()
        return ('Property', 'Image value', 'In force'), rows(
            parsed_args.server)


def rows(server: str) -> list[tuple[str, str | None, str | None]]:
    """Return property, image's value, value in force; None where there is none.

    :param server: UUID
    :raises errors.NotFound: there is no such server
    :raises errors.StartupError: a database cannot be read
    """
    context = nova_context.get_admin_context()
    try:
        with deployment_files.database('databases'):
            mapping = objects.InstanceMapping.get_by_instance_uuid(
                context, server)
            if mapping.cell_mapping is None:
                raise errors.NotFound(
                    f'server {server} has not been scheduled yet, ask again')
            with nova_context.target_cell(
                    context, mapping.cell_mapping) as cell:
                metadata = objects.Instance.get_by_uuid(
                    cell, server, expected_attrs=['system_metadata']
                ).system_metadata
    except (exception.InstanceNotFound, exception.InstanceMappingNotFound):
        raise errors.NotFound(f'there is no server {server}') from None
    own = record.image_values(metadata)
    return [(name, own[name], value)
            for name, value in sorted(record.in_force(metadata).items())]
