"""``nova-image-override explain``: each rule in order, and where it stands."""

import argparse
import collections.abc
import typing

from oslo_config import cfg

from nova_image_override import policies
from nova_image_override.api import extension as extension_module
from nova_image_override.cmd import deployment
from nova_image_override.rules import injection
from nova_image_override.rules import judge
from nova_image_override.rules import lists
from nova_image_override.rules import policy
from nova_image_override.rules import protections

PERMITS = 'permits'
REFUSES = 'refuses'

#: Rule, verdict, reason, source.
Row = tuple[str, str, str, str]


class Explain(deployment.Lister):
    """Say what each rule says of overriding a property, and where.

    Rules come in the order in which nova-api judges them; the first refusal
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
        conf = deployment.read_nova_conf(parsed_args)
        extension = extension_module.Extension.from_conf(conf)
        name, has_value, text = parsed_args.property.partition('=')
        value = None
        if has_value:
            value = extension.parser.parse({name: text}, removals=False)[name]
        rows = list(explain(
            conf, extension,
            deployment.caller(
                extension, parsed_args.roles or deployment.MEMBER,
                parsed_args.project), name, value))
        self.status = 1 if rows[-1][1] == REFUSES else 0
        return ('Rule', 'Verdict', 'Reason', 'Source'), rows


def explain(
    conf: cfg.ConfigOpts, extension: extension_module.Extension,
    caller: judge.Caller, name: str, value: str | None,
) -> collections.abc.Iterator[Row]:
    """Yield what each rule says of overriding NAME, then what follows.

    :param value: the canonical value, or None for any
    """
    rules = extension.rules
    stand = rules.stand(name)
    rows = [_never(stand), _denied(conf, stand, value),
            _allowed(conf, stand, value), _injected(conf, rules, caller, name)]
    refused = any(verdict == REFUSES for _, verdict, *_ in rows)
    yield from rows
    glance = list(_protected(conf, rules, caller, name))
    settable = [
        all(verdict == PERMITS for rule, verdict, *_ in glance
            if rule.startswith(f'protections: {operation} '))
        for operation in (protections.CREATE, protections.UPDATE)]
    yield from glance
    last = _policy(extension, caller, stand)
    yield last
    if refused or last[1] == REFUSES or not any(settable):
        yield ('all', REFUSES, 'the first refusal above is told', '')
    elif all(settable):
        yield ('all', PERMITS, '', '')
    else:
        yield ('all', 'depends', 'on whether the image has the property '
               f'(here: {"must not" if settable[0] else "must"})', '')


def _never(stand: judge.Stand) -> Row:
    if stand.never:
        return ('never', REFUSES,
                'describes the image itself and can never be overridden',
                'nova-image-override')
    return ('never', PERMITS, '', 'nova-image-override')


def _matching(
    entries: collections.abc.Iterable[lists.Entry], value: str | None,
) -> lists.Entry | None:
    """Return the first entry that covers VALUE; None stands for any value."""
    return next((entry for entry in entries if (
        not entry.values if value is None
        else entry.matches_value(value))), None)


def _denied(conf: cfg.ConfigOpts, stand: judge.Stand, value: str | None) -> Row:
    rule = 'denied_properties'
    entry = _matching(stand.denied, value)
    if entry is not None:
        return (rule, REFUSES, f'entry {entry.text}',
                deployment.option_source(conf, rule, entry.text))
    if value is None and stand.denied:
        return (rule, PERMITS, 'values other than those of '
                + ', '.join(entry.text for entry in stand.denied),
                deployment.option_source(conf, rule, stand.denied[0].text))
    return (rule, PERMITS, 'no entry', deployment.option_source(conf, rule))


def _allowed(
        conf: cfg.ConfigOpts, stand: judge.Stand, value: str | None) -> Row:
    rule = 'allowed_properties'
    entry = _matching(stand.allowed, value)
    if entry is not None:
        return (rule, PERMITS, f'entry {entry.text}',
                deployment.option_source(conf, rule, entry.text))
    if not stand.allowed:
        return (rule, REFUSES, 'no entry',
                deployment.option_source(conf, rule))
    return (rule, PERMITS if value is None else REFUSES,
            'only the values of '
            + ', '.join(entry.text for entry in stand.allowed),
            deployment.option_source(conf, rule, stand.allowed[0].text))


def _injected(
    conf: cfg.ConfigOpts, rules: judge.Rules, caller: judge.Caller, name: str,
) -> Row:
    rule = 'injection'
    paths = conf.image_override.glance_image_import_files
    if not paths:
        return (rule, PERMITS, 'glance_image_import_files is not set',
                'default')
    # Where Glance says so last.
    source = next((
        found for path in reversed(paths)
        if (found := deployment.ini_source(
            path, injection.GROUP, 'inject')) != path), paths[-1])
    problem = judge.injected_refusal(
        name, rules.stand(name), rules.injection.names(caller.roles))
    if problem is not None:
        return (rule, REFUSES, problem.reason, source)
    if not rules.injection.enabled:
        return (rule, PERMITS, f'the plugin {injection.PLUGIN} is off', source)
    return (rule, PERMITS, 'not injected for these roles', source)


def _protected(
    conf: cfg.ConfigOpts, rules: judge.Rules, caller: judge.Caller,
    name: str,
) -> collections.abc.Iterator[Row]:
    if rules.protections is None:
        yield ('protections', PERMITS, 'property_protection_file is not set',
               'default')
        return
    path: typing.Any = conf.image_override.property_protection_file
    set_, removed = (rules.needed(name, {name: value}, {})
                     for value in ('', None))
    for each in set_:
        section = rules.protections.section(each)
        for operation in (
                protections.CREATE, protections.UPDATE,
                *((protections.DELETE,) if each in removed else ())):
            rule = f'protections: {operation} {each}'
            if section is None:
                yield (rule, REFUSES, 'no section matches', path)
                continue
            said = ', '.join(section.permissions[operation]) or 'nobody'
            if section.line == 0:
                source = 'Glance'
            else:
                source = deployment.ini_source(path, section.name, operation)
            yield (
                rule, PERMITS if rules.permits(each, operation, caller)
                else REFUSES, f'[{section.name}] {operation} = {said}', source)


def _policy(
    extension: extension_module.Extension, caller: judge.Caller,
    stand: judge.Stand,
) -> Row:
    refusing = policy.refused_by(
        caller.can, caller.policy_defined, [stand.field]).get(stand.field)
    rule = policies.property_rule(stand.field)
    if rule not in caller.policy_defined or refusing == policies.CREATE:
        rule = policies.CREATE
    return ('policy', PERMITS if refusing is None else REFUSES, rule,
            deployment.policy_source(extension, rule))


