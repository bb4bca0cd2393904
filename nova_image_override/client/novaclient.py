"""``nova boot`` with overrides, as an extension of python-novaclient.

Found by entry point (``novaclient.extension``); the functions with underscores
are called by novaclient/shell.py OpenStackComputeShell.main.
"""

import argparse
from typing import Any

from novaclient import utils
from novaclient.v2 import shell

from nova_image_override.client import arguments
from nova_image_override.client import transport


def __pre_parse_args__() -> None:
    """Add the options to ``nova boot``."""
    utils.add_arg(shell.do_boot, arguments.SET, **arguments.OPTION)
    utils.add_arg(shell.do_boot, arguments.PRESET, **arguments.PRESET_OPTION)


def __post_parse_args__(args: argparse.Namespace) -> None:
    """Let the command create its server with the overrides."""
    do_boot, asked = args.func, arguments.asked(args)

    def boot(nova: Any, args: argparse.Namespace) -> None:
        with transport.attach(nova.client).overriding(
                transport.CREATE, *asked):
            do_boot(nova, args)

    if asked:
        args.func = boot
