"""What nova-api reads once, when it starts, and the operator's commands too."""

import typing

from oslo_config import cfg

from nova_image_override import conf as override_conf
from nova_image_override.api import client_compatibility
from nova_image_override.authorization import callers as callers_module
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.properties import catalog as catalog_module


class Startup(typing.NamedTuple):
    """What has been read.

    Nothing of it changes but the rules of policy, with Nova's files.

    :ivar enforcer: the deployer's rules
    :ivar callers: makes callers of request contexts
    :ivar compatibility: which clients need not send the header entry
    """

    enforcer: enforcer_module.Enforcer
    callers: callers_module.Callers
    compatibility: client_compatibility.ClientCompatibility


def read(conf: cfg.ConfigOpts) -> Startup:
    """Read the options of ``[image_override]``, and the files they name.

    :raises nova_image_override.errors.StartupError: a rule, or another
        option, is malformed
    """
    override_conf.register_opts(conf)
    options = conf[override_conf.GROUP.name]
    enforcer = enforcer_module.Enforcer.from_options(
        catalog_module.running(), options)
    compatibility = client_compatibility.ClientCompatibility.from_options(
        options)
    return Startup(
        enforcer, callers_module.Callers(enforcer.catalog), compatibility)
