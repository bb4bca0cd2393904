"""Rules and options, read once by nova-api and the operator's commands."""
from __future__ import annotations

import copy
import functools
import importlib.metadata
import types
from typing import NamedTuple

from oslo_config import cfg
from oslo_log import log as logging

from nova_image_override import conf as override_conf
from nova_image_override import errors
from nova_image_override.api.change.plan import Planner
from nova_image_override.api.client_compatibility import ClientCompatibility
from nova_image_override.authorization.caller import Callers
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.properties import catalog as catalog_module

LOG = logging.getLogger(__name__)


class Startup(NamedTuple):
    """The rules and options of a deployment."""

    planner: Planner
    compatibility: ClientCompatibility


def read(conf: cfg.ConfigOpts) -> Startup:
    """Read the options of ``[image_override]``, and the files they name.

    :raises errors.StartupError: naming every fault
    """
    started, wrong = read_the_rest(conf)
    if started is None or wrong:
        raise errors.StartupError(*wrong)
    return started


def read_the_rest(
    conf: cfg.ConfigOpts,
) -> tuple[Startup | None, list[errors.Fault | str]]:
    """Return the configuration without its invalid parts, and the faults.

    :returns: None if nothing is left, because policy files cannot be read
    """
    override_conf.register_opts(conf)
    options = types.SimpleNamespace()
    wrong: list[errors.Fault | str] = []
    for option in override_conf.OPTS:
        try:
            value = conf[override_conf.GROUP.name][option.name]
        except ValueError as exc:
            value = option.default
            wrong.append(errors.Fault(option.name, option.name, ' '.join(
                str(exc).rpartition(' is not valid: ')[-1].split()), ''))
        except cfg.Error as exc:
            value = option.default
            wrong.append(errors.Fault(
                option.name, option.name, f'{exc}: write $$ for a $', ''))
        setattr(options, option.name, copy.copy(value))
    try:
        return _made(options), wrong
    except errors.StartupError as exc:
        stops = exc.args
    for fault in stops:
        value = getattr(options, getattr(fault, 'option', ''), None)
        if isinstance(value, list):
            value[:] = [each for each in value if each != fault.subject]
        elif value is not None:
            setattr(options, fault.option, None)
            if fault.option.startswith('property_protection'):
                # All about them is read with this.
                options.property_protection_file = None
    try:
        return _made(options), [*wrong, *stops]
    except errors.StartupError:
        return None, [*wrong, *stops]


def _made(options: types.SimpleNamespace) -> Startup:
    """Make the rules of OPTIONS, with the files that they name."""
    catalog = catalog_module.running()
    enforcer, callers, compatibility = errors.all_made(
        lambda: Enforcer.from_options(catalog, options),
        Callers,
        lambda: ClientCompatibility.from_options(options))
    callers.warn_of_unknown(catalog, enforcer.presets)
    return Startup(
        Planner(enforcer, callers, frozenset(options.virt_drivers)),
        compatibility)


def announce(started: Startup) -> None:
    """Log what rules there are, once in each process.

    nova-api creates the application for each version of its own API.
    """
    enforcer = started.planner.enforcer
    _announce(
        len(enforcer.allowed.entries), len(enforcer.denied.entries),
        enforcer.glances_files, len(enforcer.presets.now()))


@functools.lru_cache
def _announce(allowed: int, denied: int, glance: str, presets: int) -> None:
    LOG.info('nova-image-override %s: %d entries in allowed_properties, %d in '
             'denied_properties, %d presets; Glance: %s',
             importlib.metadata.version('nova-image-override'), allowed, denied,
             presets, glance)
    if not allowed and not presets:
        LOG.warning('[image_override] allowed_properties is empty: nothing '
                    'may be overridden')
