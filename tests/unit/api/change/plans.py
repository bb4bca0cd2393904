"""A planner with real rules, changes for it, and what servers have."""

import dataclasses

from nova_image_override.api.change import plan as plan_module
from nova_image_override.api.change.plan import Change, Plan
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import enforcer as enforcer_module
from nova_image_override.server_record import ServerRecord
from tests.unit.api.guest import guests
from tests.unit.strategies import CATALOG
from tests.unit.strategies import overrides_of

IMAGE = {'hw_disk_bus': 'ide', 'hw_pmu': 'true', 'owner': 'x'}

#: The policy rule for reading the extra specs of flavors.
SPECS = 'os_compute_api:os-flavor-extra-specs:index'


def planner(*allowed, closed=(), drivers=('libvirt',), **rules):
    """Return a planner of a cloud that closes some policy rules."""
    class Callers:
        @staticmethod
        def caller(context, owner=None):
            return caller_module.Caller(
                can=lambda rule: rule not in closed, policy_defined=closed)

    return plan_module.Planner(
        enforcer_module.Enforcer(CATALOG, allowed=allowed or ('*',), **rules),
        Callers, frozenset(drivers))


def change(asked, own=IMAGE, specs=None, **kwargs):
    """Return the change of a server that is created with overrides."""
    asked = overrides_of(asked)
    return Change(
        guests.flavor(**(specs or {})), {'id': 'a', 'properties': own}, asked,
        asked, **kwargs)


def unchecked(asked, own, drivers=('libvirt',), **image):
    """Return the plan of a server that is created, as it is merged."""
    asked, image = overrides_of(asked), {**image, 'properties': own}
    return Plan(Change(None, image, asked, asked),
                {**image, 'properties': asked.merge(own)}, frozenset(drivers))


def stored(overrides, image, more=None, preset=None):
    """Return the system metadata of a server with OVERRIDES of an image.

    :param image: the properties of the image
    :param more: what else is stored among them, such as nova-compute's defaults
    """
    made = overrides_of(overrides, preset)
    return ServerRecord.read({}).with_properties({
        **made.merge(image), **made.recorded(image), **(more or {})})


def withdrawing(asked):
    """Return overrides that take what they remove out of a preset."""
    asked = overrides_of(asked)
    return dataclasses.replace(asked, members=tuple(
        dataclasses.replace(each, withdraws=each.value is None)
        for each in asked.members))
