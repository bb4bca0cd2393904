"""The tab of an instance's details, for its project and for administrators."""

import typing

from django import http
from django import urls
from django.middleware import csrf
from django.utils.translation import gettext_lazy as _
from horizon import tabs
from keystoneauth1 import exceptions as ksa_exceptions
from novaclient import exceptions as nova_exceptions
from openstack_dashboard.dashboards.project.instances import tables

from nova_image_override.client import answers
from nova_image_override_dashboard import existing
from nova_image_override_dashboard import presence

#: What goes wrong when the cloud is asked.
TROUBLE = (answers.Error, nova_exceptions.ClientException,
           ksa_exceptions.ClientException)


class Overrides(tabs.Tab):
    """What is in force, next to what the image says."""

    name = _('Image Property Overrides')
    slug = 'image_props_override'
    template_name = 'image_props_override/tab.html'
    # Nothing is asked until the tab is opened.
    preload = False

    def allowed(self, request: http.HttpRequest) -> bool:
        """Show the tab where the cloud has the extension."""
        return presence.has_extension(request)

    def get_context_data(
        self, request: http.HttpRequest, **kwargs: typing.Any,
    ) -> dict[str, typing.Any]:
        """Return what the template shows."""
        context = super().get_context_data(request, **kwargs)
        # Read again: what the page has was asked for without the extension.
        instance = self.tab_group.kwargs['instance']
        try:
            server = existing.server(request, instance.id)
        except TROUBLE as exc:
            return {**context, 'trouble': str(exc)}
        overrides = existing.overrides_of(server)
        image = existing.image_properties(
            request, server) if overrides else {}
        table = tables.InstancesTable(request)
        return {
            **context,
            'server': server,
            'preset': existing.preset_named(server),
            'rows': [{'name': name, 'value': value,
                      'image_value': (image or {}).get(name)}
                     for name, value in sorted(overrides.items())],
            'is_image_known': image is not None,
            'is_changeable': existing.is_changeable(server),
            # As Horizon's own table, which takes "stop".
            'offered': [
                name for name in ('stop', 'rebuild') if table._filter_action(
                    table.base_actions[name], request, instance)],
            # Horizon renders tabs without it.
            'csrf_token': csrf.get_token(request),
            'table_url': urls.reverse(
                f'horizon:{request.horizon["dashboard"].slug}'
                ':instances:index'),
        }
