"""Horizon's form for a rebuild, in which the overrides can be edited."""
from __future__ import annotations

import contextlib
import typing
from urllib import parse

from django import http
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from horizon import forms
from horizon import messages
from novaclient import exceptions as nova_exceptions
from openstack_dashboard.api import _nova
from openstack_dashboard.dashboards.project.instances import views

from nova_image_override import errors
from nova_image_override.client import answers
from nova_image_override.client import transport
from nova_image_override_dashboard import cloud
from nova_image_override_dashboard import presence

_Form: typing.Any = views.RebuildView.form_class


class _Editor(forms.Widget):
    """The list of Launch Instance (rebuild.component.js).

    :param server_id: of the instance
    """

    def __init__(self, server_id: str) -> None:
        super().__init__()
        self._server_id = server_id

    def render(
        self, name: str, value: str, attrs: typing.Any = None,
        renderer: typing.Any = None,
    ) -> str:
        """Return the element, with what the form was sent with."""
        # Quoted: AngularJS interpolates attributes.
        return format_html(
            '<image-props-rebuild server="{}" sent="{}">'
            '</image-props-rebuild>', self._server_id, parse.quote(value))


class RebuildForm(_Form):
    """Horizon's form, with the overrides, which can be edited.

    If the cloud does not have the extension, the form is Horizon's own.
    """

    def __init__(
        self, request: http.HttpRequest, *args: typing.Any,
        **kwargs: typing.Any,
    ) -> None:
        super().__init__(request, *args, **kwargs)
        if presence.has_extension(request):
            self.fields[errors.PARAMETER] = forms.JSONField(
                label=_('Image Property Overrides'), required=False,
                widget=_Editor(kwargs['initial']['instance_id']))

    def clean_image_props_override(self) -> dict[str, typing.Any] | None:
        """Return the parameters that are asked for; None to keep all."""
        asked = self.cleaned_data[errors.PARAMETER]
        if asked is not None and not (
                isinstance(asked, dict)
                and isinstance(asked.get(errors.PARAMETER), dict)
                and isinstance(asked.get(errors.PRESET) or {}, dict)):
            raise forms.ValidationError(_('These are no overrides.'))
        return asked

    @sensitive_variables('data')
    def handle(
        self, request: http.HttpRequest, data: dict[str, typing.Any],
    ) -> bool:
        """Rebuild; show in the form what the cloud refuses."""
        if errors.PARAMETER not in data:
            return super().handle(request, data)
        asked = data[errors.PARAMETER]
        # As openstack_dashboard.api.nova.server_rebuild (cloud.client).
        nova = _nova.get_novaclient_with_instance_desc(request)
        description = data.get('description')
        try:
            with (transport.attach(nova.client).overriding(
                    transport.REBUILD, asked[errors.PARAMETER],
                    cloud.preset_as_shown(request, asked.get(errors.PRESET)))
                  if asked else contextlib.nullcontext()):
                nova.servers.rebuild(
                    data['instance_id'], data['image'],
                    data.get('password') or None, data.get('disk_config'),
                    **{'description': description} if description else {})
        except nova_exceptions.ClientException as exc:
            self.api_error(exc.message)
            return False
        except answers.Error as exc:
            self.api_error(str(exc))
            return False
        messages.info(
            request, _('Rebuilding instance %s.') % data['instance_id'])
        return True


def register() -> None:
    """Let Horizon's page use this form."""
    views.RebuildView.form_class = RebuildForm
