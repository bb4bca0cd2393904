"""Pages of the panel."""

import collections
import typing

from django import http
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from horizon import exceptions
from horizon import tables as horizon_tables
from openstack_dashboard import api

from nova_image_override import errors
from nova_image_override.client import transport
from nova_image_override_dashboard import choices
from nova_image_override_dashboard import cloud
from nova_image_override_dashboard import existing
from nova_image_override_dashboard import instances
from nova_image_override_dashboard.admin import tables


class Rules(horizon_tables.DataTableView):
    """The rules, as far as they let the user override something.

    The API does not say what other roles may do.
    """

    table_class = tables.Rules
    template_name = 'image_props_override/rules.html'
    page_title = _('Image Property Overrides')

    def get_data(self) -> list[tables.Rule]:
        """Return what the cloud lets the user override."""
        try:
            schema = cloud.compute(self.request).discover().schema
        except Exception:
            # From whichever client; Horizon knows them all.
            exceptions.handle(self.request, _(
                'Unable to retrieve what may be overridden.'))
            return []
        return [tables.Rule(
            choice['name'], _member(choice), choice['purpose'],
            choice['description'], choice['expects'], choice['removable'])
            for choice in choices.choices(schema)]


def _member(choice: dict[str, typing.Any]) -> str:
    """Return the property that every server with a family's members has."""
    if choice['prefix'] is None:
        return choice['name']
    return choice['prefix'] + ('0' if choice['name'].endswith('.N') else '')


class _BelowRules(horizon_tables.DataTableView):
    """A page to which that of the rules leads."""

    def get_context_data(self, **kwargs: typing.Any) -> dict[str, typing.Any]:
        """Return what the page shows, with a link back to the rules."""
        return {**super().get_context_data(**kwargs), 'custom_breadcrumb': [
            (Rules.page_title,
             reverse('horizon:admin:image_props_override:index')),
            (self.kwargs.get('name', self.page_title), None)]}


class Used(_BelowRules):
    """What the servers of all projects override, whoever may do so."""

    table_class = tables.Used
    page_title = _('Who overrides what')

    def get_data(self) -> list[tables.Use]:
        """Count the overrides of all servers.

        That takes as many requests as nova-api has pages of servers
        ([api]max_limit, 1000 each).
        """
        try:
            nova = cloud.client(self.request)
            with transport.attach(nova.client).showing():
                servers = nova.servers.list(
                    search_opts={'all_tenants': True}, limit=-1)
        except Exception:
            # From whichever client; Horizon knows them all.
            exceptions.handle(
                self.request, _('Unable to retrieve instances.'))
            return []
        projects = _project_names(self.request)
        counted = collections.Counter(
            (name, value, projects.get(server.tenant_id, server.tenant_id))
            for server in servers
            for name, value in existing.overrides_of(server).items())
        return [tables.Use(
            name, _('removed') if value is None else value, project, count)
            for (name, value, project), count in sorted(
                counted.items(), key=lambda item: (item[0][0], -item[1]))]


def _project_names(request: http.HttpRequest) -> dict[str, str]:
    try:
        return {project.id: project.name
                for project in api.keystone.tenant_list(request)[0]}
    except Exception:
        # Their IDs are shown instead.
        exceptions.handle(request, ignore=True)
        return {}


class Servers(horizon_tables.PagedTableMixin, _BelowRules):
    """The servers of all projects that override a property."""

    table_class = tables.Servers
    page_title = _('Instances that override {{ name }}')

    def get_data(self) -> list[typing.Any]:
        """Return one page of servers, by the API's own filter."""
        instances.show_overrides(self.request)
        marker, direction = self._get_marker()
        try:
            servers, self._has_more_data, self._has_prev_data = (
                api.nova.server_list_paged(
                    self.request, sort_dir=direction, search_opts={
                        'marker': marker, 'paginate': True,
                        'all_tenants': True,
                        errors.PARAMETER: self.kwargs['name']}))
        except Exception:
            # From whichever client; Horizon knows them all.
            exceptions.handle(
                self.request, _('Unable to retrieve instances.'))
            return []
        return existing.filtered(self.request, servers)
