"""``nova-image-override``: the operator's command."""

import importlib.metadata
import sys

from cliff import app
from cliff import commandmanager


class Shell(app.App):
    """The application that finds its commands by entry point."""

    def __init__(self) -> None:
        super().__init__(
            description='Boot-time override of image properties for Nova: '
                        'what operators ask and check.',
            version=importlib.metadata.version('nova-image-override'),
            command_manager=commandmanager.CommandManager(
                'nova_image_override.cli'),
            deferred_help=True)


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    :returns: the exit status
    """
    return Shell().run(sys.argv[1:] if argv is None else argv)
