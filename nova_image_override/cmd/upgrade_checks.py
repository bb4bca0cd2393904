"""``nova-image-override-status upgrade check``: before an upgrade.

Run it with the new Nova installed and the old services still running: it checks
that this package works with that Nova and with the rules as they are.
"""
from __future__ import annotations

import argparse
from collections.abc import Callable
import sys

import nova.conf
from oslo_upgradecheck import upgradecheck
from oslo_upgradecheck.upgradecheck import Code, Result

from nova_image_override import errors
from nova_image_override.api import startup
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd import shell
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.nova_interfaces import compute as compute_interfaces


def unknown_names() -> str:
    """Return a warning if the lists name properties that this Nova lacks.

    :raises errors.StartupError: with these rules nova-api does not start
    """
    started = startup.read(deployment_files.found_nova_conf())
    return '; '.join(started.planner.enforcer.unknown_names())


class Checks(upgradecheck.UpgradeCommands):
    """The checks, in the order in which they are reported."""

    def _result(self, check: Callable[[], str | None]) -> Result:
        """Return the result of a check, which raises, or returns a warning."""
        try:
            warning = check()
        except errors.StartupError as exc:
            return Result(Code.FAILURE, str(exc))
        return Result(Code.WARNING, warning) if warning else Result(
            Code.SUCCESS)

    def check(self) -> Code:
        """Report the checks, unless another word than "check" is given."""
        word = nova.conf.CONF.command.check
        if word != 'check':
            print(f'there is no upgrade {word!r}: write upgrade check',
                  file=sys.stderr)
            sys.exit(shell.CANNOT_CHECK)
        return super().check()

    _upgrade_checks = (
        ('Nova API', (_result, {'check': api_interfaces.verify})),
        ('Nova compute', (_result, {'check': compute_interfaces.verify})),
        ('Rules', (_result, {'check': unknown_names})),
    )


def run(arguments: list[str]) -> int:
    """Run the checks; return the exit status.

    :raises errors.StartupError: a nova.conf is not UTF-8
    """
    try:
        return int(upgradecheck.main(
            nova.conf.CONF, 'nova', Checks(), arguments))
    except UnicodeDecodeError as exc:
        parser = argparse.ArgumentParser()
        shell.add_file_options(parser)
        raise deployment_files.not_decoded(
            exc, parser.parse_known_args(arguments)[0]) from None
