"""``nova-image-override paste``: Nova's api-paste.ini with our application."""

import argparse
import importlib.metadata
import os
import re
import sys

from cliff.command import Command

from nova_image_override import errors
from nova_image_override.authorization.glance import config_files

_SECTION = 'app:osapi_compute_app_v21'
_KEY = 'paste.app_factory'

#: Nova's application, and ours.
NOVA = 'nova.api.openstack.compute:APIRouterV21.factory'
OURS = 'nova_image_override.api.router:APIRouterV21.factory'


class Paste(Command):
    """Print api-paste.ini of the installed Nova with the extension in it.

    For a file beside the one that a tool writes. Under uWSGI and Apache the
    first of OS_NOVA_CONFIG_FILES names it; where the script nova-api runs,
    [wsgi] api_paste_config does.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the option."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--from', dest='path', metavar='PATH',
            help='path to the api-paste.ini to extend (default: the one that '
                 'Nova ships)')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Print it.

        :raises errors.StartupError: there is no such file, or it names
            another application
        """
        path = parsed_args.path or shipped()
        try:
            with open(path, encoding='utf-8') as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as exc:
            raise errors.StartupError(
                f'{path}: cannot be read: {exc}') from None
        self.app.stdout.write(extended(path, text))


def shipped() -> str:
    """Return the path of the api-paste.ini that the installed Nova ships.

    :raises errors.StartupError: it ships none, as distributions' packages do
    """
    for file in importlib.metadata.files('nova') or ():
        if file.name == 'api-paste.ini':
            return os.path.realpath(file.locate())
    raise errors.StartupError(
        f'Nova in {sys.prefix} ships no api-paste.ini, name yours with --from')


def extended(path: str, text: str) -> str:
    """Return TEXT with the extension's application in place of Nova's.

    All else stays as it is. A text that already names the extension is
    returned unchanged.

    :param path: where TEXT is from, for messages
    :raises errors.StartupError: TEXT names another application, or none
    """
    number = config_files.key_line(text, _SECTION, _KEY)
    if number is None:
        raise errors.StartupError(
            f'{path}: has no {_KEY} in a section [{_SECTION}]')
    lines = text.split('\n')
    name, value = re.split('[=:]', lines[number - 1], maxsplit=1)
    if value.strip() == OURS:
        return text
    if value.strip() != NOVA:
        raise errors.StartupError(
            f'{path}:{number}: names {value.strip()}, not {NOVA}: the '
            'extension cannot take the place of another application')
    lines[number - 1] = f'{name.rstrip()} = {OURS}'
    return '\n'.join(lines)
