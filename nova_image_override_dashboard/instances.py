"""Horizon's tables of instances, with one more column, action and filter.

They replace Horizon's own through the attribute ``table_class`` of its views,
as Horizon's guide on customizing it describes.
"""

import typing

from django import http
from django import urls
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from horizon import exceptions
from horizon import tables
from openstack_dashboard import api
from openstack_dashboard import policy
from openstack_dashboard.api import _nova
from openstack_dashboard.dashboards.admin.instances import (
    tables as admin_tables,
)
from openstack_dashboard.dashboards.admin.instances import views as admin_views
from openstack_dashboard.dashboards.project.instances import (
    tables as project_tables,
)
from openstack_dashboard.dashboards.project.instances import (
    views as project_views,
)

from nova_image_override import errors
from nova_image_override.client import transport
from nova_image_override_dashboard import existing
from nova_image_override_dashboard import presence

#: ID of the tab, on the page of an instance.
TAB = 'instance_details__image_props_override'

_FILTER = (errors.PARAMETER, _('Overridden Image Property ='), True)


def show_overrides(request: http.HttpRequest) -> None:
    """Let what Horizon asks of nova-api during REQUEST show overrides.

    Horizon makes one python-novaclient for each request and microversion, and
    lists and shows servers with these two.
    """
    try:
        for client in (api.nova.get_novaclient_with_locked_status(request),
                       _nova.get_novaclient_with_instance_desc(request)):
            transport.attach(client.client).naming = True
    except Exception:
        # Horizon asks again, and reports what is wrong.
        exceptions.handle(request, ignore=True)


class EditOverrides(policy.PolicyTargetMixin, tables.LinkAction):
    """Opens the dialog, as Horizon's own "Update Metadata" does."""

    name = 'edit_image_props_override'
    verbose_name = _('Edit Image Property Overrides')
    ajax = False
    icon = 'pencil'
    attrs = {'ng-controller': 'ImagePropsEditOpener as opener'}
    policy_rules = (('compute', 'os_compute_api:servers:update'),)

    def get_link_url(self, datum: typing.Any) -> str:
        """Return an address that leads nowhere: Angular handles the click."""
        self.attrs['ng-click'] = (
            f"opener.open('{self.table.get_object_id(datum)}')")
        return 'javascript:void(0);'

    def allowed(
        self, request: http.HttpRequest, instance: typing.Any = None,
    ) -> bool:
        """Offer it where the API accepts it."""
        return (instance is not None and existing.is_changeable(instance)
                and presence.has_extension(request))


class OverridesColumn(tables.Column):
    """How many properties an instance overrides, and with which preset.

    Their names appear on hovering.

    It costs no request: the list of servers shows it.

    :param detail: name of the URL of an instance's page
    """

    def __init__(self, detail: str) -> None:
        super().__init__(
            self._badge, verbose_name=_('Overrides'), sortable=False)
        self._detail = detail

    def allowed(self, request: http.HttpRequest) -> bool:
        """Show the column where the cloud has the extension."""
        return presence.has_extension(request)

    def _badge(self, server: typing.Any) -> str:
        if not existing.is_known(server):
            return _('not known')
        names = sorted(existing.overrides_of(server._apiresource))
        if not names:
            return '-'
        said = ngettext('%(count)d image property is overridden: %(names)s',
                        '%(count)d image properties are overridden: %(names)s',
                        len(names)) % {
                            'count': len(names), 'names': ', '.join(names)}
        return format_html(
            '<a href="{}?tab={}" class="badge image-props-badge" title="{}" '
            'aria-label="{}">{}</a> {}',
            urls.reverse(self._detail, args=[server.id]), TAB, said, said,
            len(names), existing.preset_named(server._apiresource))


class _Showing(tables.DataTable):
    """A table whose servers show their overrides."""

    data: typing.Any

    def __init__(
        self, request: http.HttpRequest, *args: typing.Any,
        **kwargs: typing.Any,
    ) -> None:
        if presence.has_extension(request):
            show_overrides(request)
        super().__init__(request, *args, **kwargs)

    def maybe_handle(self) -> typing.Any:
        """Let an action answer; else show no more than the filter leaves."""
        handled = super().maybe_handle()
        if (handled is None and self.get_filter_string().strip()
                and self.get_filter_field() == errors.PARAMETER):
            self.data = existing.filtered(self.request, self.data)
        return handled


class _Filter(tables.FilterAction):
    """A filter by the name of a property, where the cloud has the extension."""

    def get_select_options(self) -> typing.Any:
        """Return the choices that the page shows."""
        options = super().get_select_options()
        if presence.has_extension(self.table.request):
            return options
        return [each for each in options if each[0] != errors.PARAMETER]


class ProjectFilter(_Filter, project_tables.InstancesFilterAction):
    """The filter for the instances of a project."""

    filter_choices = (
        *project_tables.InstancesFilterAction.filter_choices, _FILTER)


class AdminFilter(_Filter, admin_tables.AdminInstanceFilterAction):
    """The filter for all instances."""

    filter_choices = (
        *admin_tables.AdminInstanceFilterAction.filter_choices, _FILTER)


def _with_edit(actions: tuple[typing.Any, ...]) -> tuple[typing.Any, ...]:
    """Return a row's actions with ours after Horizon's "Edit Instance"."""
    place = [action.name for action in actions].index('edit') + 1
    return (*actions[:place], EditOverrides, *actions[place:])


def _with_filter(
        actions: tuple[type, ...], ours: type) -> tuple[type, ...]:
    """Return a table's actions with our filter in place of Horizon's."""
    return tuple(ours if issubclass(ours, action) else action
                 for action in actions)


_Project: typing.Any = project_views.IndexView.table_class
_Admin: typing.Any = admin_views.AdminIndexView.table_class


class ProjectInstances(_Showing, _Project):
    """The instances of a project."""

    image_props_override = OverridesColumn('horizon:project:instances:detail')

    class Meta(_Project.Meta):
        """Horizon's, with ours."""

        row_actions = _with_edit(_Project.Meta.row_actions)
        table_actions = _with_filter(
            _Project.Meta.table_actions, ProjectFilter)


class AdminInstances(_Showing, _Admin):
    """All instances, for administrators."""

    image_props_override = OverridesColumn('horizon:admin:instances:detail')

    class Meta(_Admin.Meta):
        """Horizon's, with ours."""

        row_actions = _with_edit(_Admin.Meta.row_actions)
        table_actions = _with_filter(_Admin.Meta.table_actions, AdminFilter)


def register() -> None:
    """Let Horizon's pages use these tables."""
    project_views.IndexView.table_class = ProjectInstances
    admin_views.AdminIndexView.table_class = AdminInstances
