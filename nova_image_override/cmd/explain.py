"""``nova-image-override explain``: each rule in order, and where it stands."""

import argparse
import collections.abc

from oslo_config import cfg

from nova_image_override import override
from nova_image_override.api import startup
from nova_image_override.authorization import caller as caller_module
from nova_image_override.authorization import callers as callers_module
from nova_image_override.authorization import decisions
from nova_image_override.authorization.glance import metadata_injection
from nova_image_override.authorization.glance import property_protections
from nova_image_override.cmd import deployment_files

PERMITS = 'permits'
REFUSES = 'refuses'

#: Rule, verdict, reason, source.
Row = tuple[str, str, str, str]


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
            'property', metavar='PROPERTY[=VALUE]',
            help='what to override; without a value, any value')
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[Row]]:
        """Ask each rule.

        :raises errors.Invalid: the property or its value is none
        :raises errors.StartupError: with these rules nova-api does not start
        """
        conf = deployment_files.read_nova_conf(parsed_args)
        read = startup.read(conf)
        name, has_value, text = parsed_args.property.partition('=')
        value: decisions.Value = decisions.AnyValue.ANY
        if has_value:
            value = override.Parser(read.enforcer.catalog).parse(
                {name: text}, removals=False)[name]
        rows = list(explain(
            conf, read,
            deployment_files.caller(
                read.callers, parsed_args.roles or deployment_files.MEMBER,
                parsed_args.project), name, value))
        self.status = 1 if rows[-1][1] == REFUSES else 0
        return ('Rule', 'Verdict', 'Reason', 'Source'), rows


def explain(
    conf: cfg.ConfigOpts, read: startup.Startup,
    caller: caller_module.Caller, name: str, value: decisions.Value,
) -> collections.abc.Iterator[Row]:
    """Yield what each rule says of overriding NAME, then what follows."""
    enforcer = read.enforcer
    made = enforcer.decide(
        caller, name, value, enforcer.operations_on_some_image(name))
    for decision in made:
        yield (decision.rule, PERMITS if decision.permits else REFUSES,
               decision.detail or decision.reason,
               _source(conf, read.callers, decision.source))
    yield ('all', *_conclusion(made), '')


def _conclusion(
    made: collections.abc.Iterable[decisions.Decision],
) -> tuple[str, str]:
    """Return what follows from all decisions: a verdict, and why."""
    creates, updates = (
        all(each.permits for each in made if each.operation == operation)
        for operation in (property_protections.CREATE,
                          property_protections.UPDATE))
    if any(not each.permits for each in made if not each.operation) or not (
            creates or updates):
        return REFUSES, 'the first refusal above is told'
    if creates and updates:
        return PERMITS, ''
    return 'depends', ('on whether the image has the property '
                       f'(here: {"must not" if creates else "must"})')


def _source(
    conf: cfg.ConfigOpts, callers: callers_module.Callers,
    source: decisions.Source,
) -> str:
    """Return FILE:LINE of a rule."""
    options = conf.image_override
    if source.rule == decisions.NEVER:
        return 'nova-image-override'
    if source.rule in (decisions.DENIED, decisions.ALLOWED):
        return deployment_files.option_source(
            conf, source.rule, source.name or None)
    if source.rule == decisions.INJECTION:
        paths = options.glance_image_import_files
        if not paths:
            return 'default'
        # Where Glance says so last.
        return next((
            found for path in reversed(paths)
            if (found := deployment_files.ini_source(
                path, metadata_injection.GROUP, 'inject')) != path), paths[-1])
    if source.rule == decisions.PROTECTIONS:
        path: str = options.property_protection_file or 'default'
        return deployment_files.ini_source(
            path, source.name, source.key) if source.name else path
    return deployment_files.policy_source(callers, source.name)
