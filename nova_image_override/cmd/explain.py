"""``nova-image-override explain``: each rule in order, and where it is."""

import argparse
from collections.abc import Iterable
import json

from nova_image_override.authorization import rules
from nova_image_override.authorization.glance import (
    property_protections as glance,
)
from nova_image_override.cmd import deployment_files
from nova_image_override.override import ImageProperties, Parser

PERMITS = 'permits'
REFUSES = 'refuses'


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
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace,
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Ask each rule.

        :raises errors.Invalid: there is no such property or value
        :raises errors.StartupError: with these rules nova-api does not start
        :raises OSError, ValueError: the image cannot be read
        """
        conf = deployment_files.read_nova_conf(parsed_args)
        read, caller = deployment_files.read_rules(conf, parsed_args)
        name, has_value, text = parsed_args.property.partition('=')
        value: rules.Value = rules.AnyValue.ANY
        if has_value:
            value = Parser(read.enforcer.catalog).parse(
                {name: text or None})[name]
        image = image_properties(parsed_args.image) \
            if parsed_args.image else None
        made = read.enforcer.decide(caller, name, value, image)
        verdict, why = _conclusion(made, value, image)
        self.status = int(verdict == REFUSES)
        return ('Rule', 'Verdict', 'Reason', 'Source'), [
            *((each.rule, PERMITS if each.permits else REFUSES,
               each.detail or each.reason,
               each.source.line(conf, read.callers.policy)) for each in made),
            ('all', verdict, why, '')]


def image_properties(path: str) -> ImageProperties:
    """Return the properties of an image, as Glance has them.

    :param path: file with what ``openstack image show -f json`` has printed
    :raises OSError: the file cannot be read
    :raises ValueError: the file holds something else
    """
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


def _conclusion(
    made: Iterable[rules.Decision], value: rules.Value,
    image: ImageProperties | None,
) -> tuple[str, str]:
    """Return what follows from all decisions: a verdict, and why.

    :param image: None for any image
    """
    refused = {
        each.operation for each in made if not each.permits and (
            value is None or each.operation != glance.DELETE)}
    if not refused:
        return PERMITS, ''
    # On any image, a value needs one of the two.
    if image is None and value is not None and refused in (
            {glance.CREATE}, {glance.UPDATE}):
        must = 'must' if glance.CREATE in refused else 'must not'
        return ('depends',
                f'on whether the image has the property (here: {must})')
    return REFUSES, 'the first refusal above is told'
