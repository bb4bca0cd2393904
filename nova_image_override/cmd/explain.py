"""``nova-image-override explain``: each rule in order."""
from __future__ import annotations

import argparse
from collections.abc import Mapping
import dataclasses
import json

from nova_image_override.authorization import rules
from nova_image_override.authorization.enforcer import Enforcer
from nova_image_override.cmd import deployment_files
from nova_image_override.override import (
    ImageProperties,
    NONE,
    Overrides,
    Parser,
)

IMAGE: deployment_files.Options = {'--image': {
    'metavar': 'FILE',
    'help': 'image of the server, as openstack image show -f json prints it '
            '(default: one that has no properties of its own)'}}


class Explain(deployment_files.Table):
    """Say what each rule says of overriding a property.

    Rules come in the order in which nova-api asks them; the first refusal
    is the one that a request gets. The exit status is 1 when a rule refuses
    the override.
    """

    options = {
        **deployment_files.USER,
        'property': {
            'metavar': 'PROPERTY=VALUE', 'nargs': '?',
            'help': 'what to override; PROPERTY= asks about its removal'},
        '--preset': {
            'metavar': 'NAME',
            'help': 'ask about the properties of this preset, or about '
                    'PROPERTY=VALUE beside it'},
        **IMAGE}

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> deployment_files.Columns:
        """Apply each rule.

        :raises errors.Invalid: there is no such property, value or preset
        :raises errors.StartupError: with these rules nova-api does not start
        :raises OSError: the image cannot be read
        :raises ValueError: the "=" is missing, or the file holds no image
        """
        name, equals, value = (parsed_args.property or '').partition('=')
        if not equals and (name or not parsed_args.preset):
            name = name or 'PROPERTY'
            raise ValueError(
                f'write {name}=VALUE, or {name}= to ask about its removal')
        planner, caller = deployment_files.read_rules(parsed_args)
        own = {name: value or None} if equals else {}
        image = image_properties(parsed_args.image)
        asked = overrides(planner.enforcer, own, parsed_args.preset, image)
        made = [rules.of_preset(parsed_args.preset, caller)] \
            if parsed_args.preset else []
        made += [
            rules.Decision(each, f'preset {parsed_args.preset}',
                           detail=f'{each} is taken out of it')
            for each in own if each not in asked]
        decisions = planner.enforcer.decisions(caller, asked, [image])
        made += [
            decision if own else dataclasses.replace(
                decision, rule=f'{each}: {decision.rule}')
            for each in own or asked.names
            for decision in decisions if decision.name == each]
        rows = [(each.rule, each.permits, each.detail or each.reason)
                for each in made]
        permits = all(each.permits for each in made)
        self.status = int(not permits)
        rows.append(('all', permits, '' if permits else
                     'the first refusal above is the answer'))
        return ('Rule', 'Verdict', 'Reason'), [
            (rule, 'permits' if passes else 'refuses', why)
            for rule, passes, why in rows]


def overrides(
    enforcer: Enforcer, own: Mapping[str, str | None], preset: str | None,
    image: ImageProperties,
) -> Overrides:
    """Return what a request overrides of an image.

    :param own: what it names itself
    :param preset: name of its preset, if it has one
    :raises errors.Invalid: there is no such property, value or preset
    """
    return Parser(enforcer.catalog).parse(
        own, preset=enforcer.presets.named(preset).overrides if preset
        else NONE).over(image)


def image_properties(path: str | None) -> ImageProperties:
    """Return the properties of an image, as Glance has them.

    :param path: file with what ``openstack image show -f json`` has printed;
        None for an image without any
    :raises OSError: the file cannot be read
    :raises ValueError: the file holds something else
    """
    if path is None:
        return {}
    with open(path, encoding='utf-8') as file:
        try:
            # openstacksdk knows some properties, and turns them into numbers
            # and booleans; Glance has text.
            return {
                name: value if isinstance(value, str) else json.dumps(value)
                for name, value in (
                    json.load(file).get('properties') or {}).items()
                if value is not None}
        except (AttributeError, ValueError):
            raise ValueError(
                f'{path} is not what openstack image show prints with '
                '-f json') from None
