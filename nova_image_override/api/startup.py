"""Rules and options, read once by nova-api and the operator's commands."""

from collections.abc import Callable
import functools
import importlib.metadata
from typing import NamedTuple

from oslo_config import cfg
from oslo_log import log as logging

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.api.client_compatibility import ClientCompatibility
from nova_image_override.authorization.caller import Callers
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.properties import catalog as catalog_module

LOG = logging.getLogger(__name__)


class Startup(NamedTuple):
    """The rules and options of a deployment.

    None of it changes except the policy rules, which change with Nova's files.

    :ivar enforcer: the deployer's rules
    :ivar callers: turns request contexts into callers
    :ivar compatibility: which clients need not send the header entry
    :ivar virt_drivers: the drivers of the cloud's hosts; none if nothing is
        refused for want of a driver
    """

    enforcer: Enforcer
    callers: Callers
    compatibility: ClientCompatibility
    virt_drivers: frozenset[str]


def read(conf: cfg.ConfigOpts) -> Startup:
    """Read the options of ``[image_override]``, and the files they name.

    :raises errors.StartupError: naming every rule and every other option that
        is malformed
    """
    override_conf.register_opts(conf)
    options = conf[override_conf.GROUP.name]
    catalog = catalog_module.running()
    return Startup(*errors.all_made(
        lambda: Enforcer.from_options(catalog, options),
        lambda: Callers(catalog),
        lambda: ClientCompatibility.from_options(options),
        lambda: virt_drivers(options)))


def virt_drivers(options: cfg.ConfigOpts.GroupAttr) -> frozenset[str]:
    """Return the drivers that the option names.

    :raises errors.StartupError: there is no such driver
    """
    try:
        return frozenset(options.virt_drivers)
    except ValueError as exc:
        why = ' '.join(str(exc).rpartition(' is not valid: ')[-1].split())
        raise errors.StartupError(
            f'[image_override] virt_drivers: {why}') from None


def announce(started: Startup) -> None:
    """Log what the rules leave open, once in each process.

    nova-api creates the application for each version of its own API.
    """
    _announce(_what_is_open(started), bool(started.enforcer.allowed.entries))


@functools.lru_cache
def _announce(text: str, allows: bool) -> None:
    LOG.info('nova-image-override %s: %s',
             importlib.metadata.version('nova-image-override'), text)
    if not allows:
        LOG.warning('[image_override] allowed_properties is empty: nothing '
                    'may be overridden')


def _what_is_open(started: Startup) -> str:
    """Return how many properties each rule names, and who needs no header."""
    enforcer = started.enforcer
    properties = [each for each in enforcer.catalog.values() if not each.never]

    def named(rule: Callable[[str], object]) -> int:
        return sum(any(map(rule, (each.spelling, *each.legacy_names)))
                   for each in properties)

    injected = enforcer.injection.names(())
    protections = enforcer.protected.protections
    counts = {
        'allowed': sum(
            bool(enforcer.allowed.reaching(each)) for each in properties),
        'denied': sum(
            bool(enforcer.denied.reaching(each)) for each in properties),
        'protected': named(protections.section)
        if protections else 0,
        'injected': named(injected.__contains__)}
    open_to = [
        *['scheduler hints'] * started.compatibility.scheduler_hint,
        *[f'compute microversion {each.get_string()}'
          for each in [started.compatibility.compute] if each]]
    return (
        f'of {len(properties)} image properties the rules name '
        + ', '.join(f'{number} as {rule}' for rule, number in counts.items())
        + '; header entry not needed by: ' + (', '.join(open_to) or 'nobody'))
