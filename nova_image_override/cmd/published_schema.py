"""``nova-image-override schema``: the JSON Schema that is published."""

import argparse
import json

from cliff.command import Command

from nova_image_override import versions
from nova_image_override.properties import catalog
from nova_image_override.properties import request_schema


class Schema(Command):
    """Print the JSON Schema of image_props_override with the installed Nova.

    It describes what any caller of any deployment may send, in the newest
    version of the API.
    """

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Print it."""
        schema = request_schema.published(versions.MAX, catalog.running())
        self.app.stdout.write(json.dumps(schema, indent=2) + '\n')
