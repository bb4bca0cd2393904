"""Tables of the panel."""
from __future__ import annotations

import typing

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from horizon import tables

from nova_image_override_dashboard import existing
from nova_image_override_dashboard import instances


class Rule(typing.NamedTuple):
    """What the user may set for a property, or for a family of properties.

    :ivar member: the property whose servers are listed
    """

    name: str
    member: str
    purpose: str
    description: str
    values: str
    removable: bool


def _servers_of(rule: Rule) -> str | None:
    # The members of a family that have no numbers cannot be guessed.
    if rule.member.endswith(':'):
        return None
    return reverse('horizon:admin:image_props_override:servers',
                   args=[rule.member])


class RulesFilter(tables.FilterAction):
    """Searches the first four columns, of uses, too."""

    def filter(
        self, table: typing.Any, data: list[Rule], filter_string: str,
    ) -> list[Rule]:
        """Return the rows that have each word somewhere."""
        words = filter_string.lower().split()
        return [rule for rule in data if all(
            word in ' '.join(map(str, rule[:4])).lower() for word in words)]


class Rules(tables.DataTable):
    """What the user may override."""

    name = tables.Column('name', verbose_name=_('Property'), link=_servers_of)
    purpose = tables.Column('purpose', verbose_name=_('Purpose'))
    description = tables.Column(
        'description', verbose_name=_('Description'))
    values = tables.Column('values', verbose_name=_('Values'))
    removable = tables.Column(
        'removable', verbose_name=_('Can be removed'),
        filters=(lambda value: _('Yes') if value else _('No'),))

    class Meta:
        """What Horizon asks of a table."""

        name = 'rules'
        verbose_name = _('What you may override')
        table_actions = (RulesFilter,)
        multi_select = False

    def get_object_id(self, datum: Rule) -> str:
        """Return what tells a rule from the others."""
        return datum.name


def _value(server: typing.Any) -> str:
    overrides = existing.overrides_of(server._apiresource)
    return ', '.join(
        f'{name}={value}' if value is not None else str(_('%s removed')) % name
        for name, value in sorted(overrides.items()))


def _page(server: typing.Any) -> str:
    return (reverse('horizon:admin:instances:detail', args=[server.id])
            + f'?tab={instances.TAB}')


class Use(typing.NamedTuple):
    """How many servers of a project override a property with a value."""

    name: str
    value: str
    project: str
    count: int


class Used(tables.DataTable):
    """What is overridden, by all users."""

    name = tables.Column(
        'name', verbose_name=_('Property'), link=lambda use: reverse(
            'horizon:admin:image_props_override:servers', args=[use.name]))
    value = tables.Column('value', verbose_name=_('Value'))
    project = tables.Column('project', verbose_name=_('Project'))
    count = tables.Column('count', verbose_name=_('Instances'))

    class Meta:
        """What Horizon asks of a table."""

        name = 'used'
        verbose_name = _('Who overrides what')
        table_actions = (RulesFilter,)
        multi_select = False

    def get_object_id(self, datum: Use) -> str:
        """Return what tells a use from the others."""
        return '/'.join(map(str, datum[:3]))


class Servers(tables.DataTable):
    """Servers that override a property."""

    name = tables.WrappingColumn(
        'name', verbose_name=_('Name'), link=_page)
    project = tables.Column('tenant_id', verbose_name=_('Project ID'))
    status = tables.Column('status', verbose_name=_('Status'))
    overrides = tables.Column(
        _value, verbose_name=_('Image Property Overrides'))

    class Meta:
        """What Horizon asks of a table."""

        name = 'servers'
        verbose_name = _('Instances')
        multi_select = False
