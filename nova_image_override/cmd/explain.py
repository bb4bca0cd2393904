"""``nova-image-override explain``: each rule in order, and where it is."""

import argparse
from collections.abc import Iterable, Iterator
import dataclasses
from typing import Any

from oslo_config import cfg

from nova_image_override import errors
from nova_image_override.api import startup
from nova_image_override.api.change.change import Change
from nova_image_override.api.change.plan import Planner
from nova_image_override.authorization import rules
from nova_image_override.authorization.caller import Caller
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.authorization.glance import property_protections
from nova_image_override.cmd import deployment_files
from nova_image_override.cmd import openstack_files
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.override import Parser

PERMITS = 'permits'
REFUSES = 'refuses'

#: Rule, verdict, reason, source.
Row = tuple[str, str, str, str]


@dataclasses.dataclass(frozen=True)
class Question:
    """A question to the rules.

    :ivar name: the property
    :ivar value: what the override is to do with it
    :ivar image: boot metadata; None for any image
    :ivar flavor: ``nova.objects.Flavor``; None for any flavor
    """

    name: str
    value: rules.Value
    image: dict[str, Any] | None = None
    flavor: Any = None

    @property
    def depends_on_image(self) -> bool:
        """True if Glance's answer depends on whether the image has it."""
        return self.image is None and self.value is not None


class Explain(deployment_files.Lister):
    """Say what each rule says of overriding a property, and where.

    Rules come in the order in which nova-api asks them; the first refusal
    is the one that a request is told. The exit status is 1 when no image is
    left on which the user could make this override.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'property', metavar='PROPERTY[=[VALUE]]',
            help='what to override; without a value, any value; with nothing '
                 'after the =, whether it may be removed')
        parser.add_argument(
            '--image', metavar='FILE',
            help='image to ask for, as openstack image show -f json prints '
                 'it; by default any')
        parser.add_argument(
            '--flavor', metavar='FILE',
            help='flavor to ask for, as openstack flavor show -f json prints '
                 'it; without --image, beside an image without properties')
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[Row]]:
        """Ask each rule.

        :raises errors.Invalid: there is no such property or value
        :raises errors.StartupError: with these rules nova-api does not start
        :raises OSError, ValueError: image or flavor cannot be read, or there
            is a flavor but no value
        """
        conf = deployment_files.read_nova_conf(parsed_args)
        read = startup.read(conf)
        rows = list(explain(
            conf, read,
            deployment_files.caller(
                read.callers, parsed_args.roles or deployment_files.MEMBER,
                parsed_args.project),
            _question(read.enforcer, parsed_args), parsed_args.flavor))
        self.status = 1 if rows[-1][1] == REFUSES else 0
        return ('Rule', 'Verdict', 'Reason', 'Source'), rows


def _question(enforcer: Enforcer, parsed_args: argparse.Namespace) -> Question:
    """Return what the command line asks."""
    name, has_value, text = parsed_args.property.partition('=')
    value: rules.Value = rules.AnyValue.ANY
    if has_value:
        value = Parser(enforcer.catalog).parse({name: text or None})[name]
    elif parsed_args.flavor:
        raise ValueError(
            '--flavor: whether a flavor agrees depends on the value, write '
            f'{name}=VALUE, or {name}= to remove it')
    return Question(
        name, value,
        parsed_args.image and openstack_files.read_image(parsed_args.image),
        parsed_args.flavor
        and openstack_files.read_flavor(parsed_args.flavor))


def explain(
    conf: cfg.ConfigOpts, read: startup.Startup,
    caller: Caller, question: Question, flavor_file: str,
) -> Iterator[Row]:
    """Yield what each rule says about an override, then what follows.

    :param flavor_file: where the flavor of QUESTION comes from
    """
    made = read.enforcer.decide(
        caller, question.name, question.value,
        question.image and question.image['properties'])
    for decision in made:
        yield (decision.rule, PERMITS if decision.permits else REFUSES,
               decision.detail or decision.reason,
               decision.source.line(conf, read.callers.policy))
    problems = _problems(read, question)
    if question.flavor is not None:
        yield from _by_flavor(question, problems, flavor_file)
    yield ('all', *((REFUSES, _FIRST) if problems
                    else _conclusion(made, question)), '')


def _problems(
    read: startup.Startup, question: Question,
) -> tuple[errors.Problem, ...]:
    """Return what flavor and image say, by the path that requests take."""
    value = question.value
    if question.flavor is None or isinstance(value, rules.AnyValue):
        return ()
    api_interfaces.verify()
    try:
        Planner(read.enforcer, read.callers, read.virt_drivers).plan(
            None, Change({}, {question.name: value}),
            question.flavor, question.image or {}, new={})
    except errors.Invalid as exc:
        return exc.problems
    return ()


def _by_flavor(
    question: Question, problems: Iterable[errors.Problem], flavor_file: str,
) -> Iterator[Row]:
    """Yield whether a flavor agrees and, if so, whether anything happens."""
    ineffective = [problem.reason for problem in problems
                   if problem.code == errors.NO_EFFECT]
    conflicts = [
        problem.reason if problem.name == question.name
        else f'{problem.name}: {problem.reason}' for problem in problems
        if problem.code != errors.NO_EFFECT]
    if conflicts:
        yield 'flavor', REFUSES, '; '.join(conflicts), flavor_file
        return
    image = question.image
    yield ('flavor', PERMITS, f'{question.flavor.name}, with '
           + ('an image without properties' if image is None
              else f'image {image.get("name")}'), flavor_file)
    yield ('effect', REFUSES if ineffective else PERMITS,
           '; '.join(ineffective), flavor_file)


_FIRST = 'the first refusal above is told'


def _conclusion(
    made: Iterable[rules.Decision], question: Question,
) -> tuple[str, str]:
    """Return what follows from all decisions: a verdict, and why."""
    if question.value is not None:
        made = [each for each in made
                if each.operation != property_protections.DELETE]
    one_of = (property_protections.CREATE, property_protections.UPDATE)
    creates, updates = (
        all(each.permits for each in made if each.operation == operation)
        for operation in one_of)
    if any(not each.permits for each in made if not (
            question.depends_on_image and each.operation in one_of)) or not (
            creates or updates):
        return REFUSES, _FIRST
    if creates and updates:
        return PERMITS, ''
    return 'depends', ('on whether the image has the property '
                       f'(here: {"must not" if creates else "must"})')
