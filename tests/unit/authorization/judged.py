"""Callers, what rules refuse them, and what they are offered in advance."""

import re

import jsonschema

from nova_image_override import versions
from nova_image_override.api.change import plan
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.glance import property_protections
from tests.unit.strategies import overrides_of

#: Who may do anything to a property, as a section of protections says it.
OPEN = dict.fromkeys(property_protections.OPERATIONS, ('@',))


def caller(*roles, refused=(), defined=(), **credentials):
    """Return who has these roles.

    :param refused: the rules that policy.yaml refuses
    :param defined: others that it has
    """
    return Caller(
        can=lambda rule: rule not in refused,
        policy_defined=(*refused, *defined),
        credentials={'roles': [*roles], **credentials})


MEMBER = caller('member')


def refusals(rules, overrides, *images, who=MEMBER):
    """Return what is refused where the image is one of these: name -> code."""
    return {each.name: each.code for each in rules.refusals(
        who, overrides_of(overrides), [dict(each) for each in images or [{}]])}


def offers(rules, overrides, who=MEMBER):
    """Return whether a schema that the caller is shown takes OVERRIDES."""
    return jsonschema.Draft202012Validator(
        plan.Planner(rules, None, frozenset()).schema(
            who, versions.MAX)).is_valid(overrides)


def offered(rules, who=MEMBER):
    """Return what may be overridden: names -> schema of the value."""
    return {each.names: each.schema for each in rules.overridable(who)}


def section(expression, **permissions):
    """Return a section of protections that permits all else."""
    return property_protections.Section(
        re.compile(expression), {**OPEN, **permissions})
