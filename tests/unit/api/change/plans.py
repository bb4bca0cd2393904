"""A planner with real rules, and changes for it."""

from nova_image_override.api.change import plan as plan_module
from nova_image_override.api.change.plan import Change
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import enforcer as enforcer_module
from tests.unit.api.guest import guests
from tests.unit.strategies import CATALOG
from tests.unit.strategies import overrides_of

IMAGE = {'hw_disk_bus': 'ide', 'hw_pmu': 'true', 'owner': 'x'}

#: The policy rule for reading the extra specs of flavors.
SPECS = 'os_compute_api:os-flavor-extra-specs:index'


def planner(*allowed, closed=(), protections=None):
    """Return a planner of a cloud that closes some policy rules."""
    class Callers:
        @staticmethod
        def caller(context, owner=None):
            return caller_module.Caller(
                can=lambda rule: rule not in closed, policy_defined=closed)

    return plan_module.Planner(
        enforcer_module.Enforcer(
            CATALOG, allowed=allowed or ('*',), protections=protections),
        Callers, frozenset({'libvirt'}))


def change(asked, own=IMAGE, specs=None, **kwargs):
    """Return the change of a server that is created with overrides."""
    asked = overrides_of(asked)
    return Change(
        guests.flavor(**(specs or {})), {'id': 'a', 'properties': own}, asked,
        asked, **kwargs)
