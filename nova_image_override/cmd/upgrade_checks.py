"""``nova-image-override-status upgrade check``: before an upgrade.

Run it with the new Nova installed and the old services still running: it says
whether this package works with that Nova and with the rules as they are.
"""


from collections.abc import Callable

import nova.conf
from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.api import startup
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.nova_interfaces import compute as compute_interfaces


class Checks(upgradecheck.UpgradeCommands):
    """The checks, in the order in which they are reported."""

    def _check_nova(self) -> upgradecheck.Result:
        """Check that this Nova has the shape that nova-api relies on."""
        return _result(api_interfaces.verify)

    def _check_compute(self) -> upgradecheck.Result:
        """Check that this Nova has the shape that nova-compute relies on."""
        return _result(compute_interfaces.verify)

    def _check_rules(self) -> upgradecheck.Result:
        """Check that nova-api starts with these rules, and what they name."""
        conf = nova.conf.CONF
        override_conf.register_opts(conf)
        if not conf.config_file and not conf.config_dir:
            return upgradecheck.Result(
                upgradecheck.Code.FAILURE,
                'no nova.conf was found, name it with --config-file')
        try:
            enforcer = startup.read(conf).enforcer
        except errors.StartupError as exc:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, str(exc))
        unknown = [
            f'{checked.option}: {entry.text}'
            for checked in (enforcer.denied, enforcer.allowed)
            for entry in checked.unknown_names()]
        if unknown:
            return upgradecheck.Result(
                upgradecheck.Code.WARNING,
                'This Nova has no such image property: ' + ', '.join(unknown))
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    _upgrade_checks = (
        ('Nova API', _check_nova),
        ('Nova compute', _check_compute),
        ('Rules', _check_rules),
    )


def _result(verify: Callable[[], None]) -> upgradecheck.Result:
    try:
        verify()
    except errors.UnsupportedNova as exc:
        return upgradecheck.Result(upgradecheck.Code.FAILURE, str(exc))
    return upgradecheck.Result(upgradecheck.Code.SUCCESS)


def run(arguments: list[str]) -> int:
    """Run the checks.

    :param arguments: of the command line
    :returns: 0 all is well, 1 there is a warning, 2 there is a failure
    :raises errors.StartupError: nova.conf cannot be read
    """
    try:
        return int(upgradecheck.main(
            nova.conf.CONF, 'nova', Checks(), arguments))
    except cfg.Error as exc:
        raise errors.StartupError(' '.join(str(exc).split())) from None
