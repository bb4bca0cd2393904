"""``nova-image-override schema``: the JSON Schemas that the API publishes."""

import argparse
import json
import pathlib

from cliff import command
from nova import version as nova_version

from nova_image_override import versions
from nova_image_override.properties import catalog
from nova_image_override.properties import request_schema


def file_name(version: versions.Version) -> str:
    """Return the name under which a schema is published.

    One file for each API version and Nova release, such as
    ``1.0-nova-34.json``.
    """
    release = nova_version.version_string().split('.')[0]
    return f'{version}-nova-{release}.json'


def text(version: versions.Version) -> str:
    """Return the published schema of VERSION with the running Nova."""
    return json.dumps(
        request_schema.published(version, catalog.running()), indent=2) + '\n'


class Schema(command.Command):
    """Print the JSON Schema of image_props_override, or write it to a file."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--write', metavar='FOLDER', type=pathlib.Path,
            help='write every API version to a file of FOLDER instead, '
                 'for the Nova release that runs')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print or write."""
        if parsed_args.write is None:
            self.app.stdout.write(text(versions.MAX))
            return 0
        for version in versions.VERSIONS:
            path = parsed_args.write / file_name(version)
            path.write_text(text(version))
            self.app.stdout.write(f'{path}\n')
        return 0
