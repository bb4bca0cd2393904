"""Horizon's form for a rebuild, which says what becomes of overrides."""
from __future__ import annotations

import contextlib
import typing

from django import http
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from horizon import forms
from horizon import messages
from novaclient import exceptions as nova_exceptions
from openstack_dashboard import api
from openstack_dashboard.api import _nova
from openstack_dashboard.dashboards.project.instances import views

from nova_image_override import errors
from nova_image_override.client import answers
from nova_image_override.client import transport
from nova_image_override_dashboard import existing
from nova_image_override_dashboard import presence
from nova_image_override_dashboard import tabs

KEEP = 'keep'
DROP = 'drop'

_Form: typing.Any = views.RebuildView.form_class


class RebuildForm(_Form):
    """Horizon's form, with a choice if the instance overrides properties.

    If it overrides none, or the cloud does not have the extension, the form is
    Horizon's own.
    """

    def __init__(
        self, request: http.HttpRequest, *args: typing.Any,
        **kwargs: typing.Any,
    ) -> None:
        super().__init__(request, *args, **kwargs)
        overrides = _overrides(
            request, kwargs.get('initial', {}).get('instance_id'))
        if overrides:
            self.fields[errors.PARAMETER] = forms.ChoiceField(
                label=gettext_lazy('Image Property Overrides'),
                choices=[
                    (KEEP, _('Keep: %s') % ', '.join(
                        _spelled(name, value)
                        for name, value in sorted(overrides.items()))),
                    (DROP, _('Drop: the instance gets the properties of '
                             'the image'))],
                initial=KEEP, widget=forms.RadioSelect)

    @sensitive_variables('data')
    def handle(
        self, request: http.HttpRequest, data: dict[str, typing.Any],
    ) -> bool:
        """Rebuild; show in the form what the cloud refuses."""
        choice = data.pop(errors.PARAMETER, None)
        if choice is None:
            return super().handle(request, data)
        # The client of server_rebuild (openstack_dashboard/api/nova.py).
        client = _nova.get_novaclient_with_instance_desc(request).client
        try:
            with (transport.attach(client).overriding(transport.REBUILD, {})
                  if choice == DROP else contextlib.nullcontext()):
                api.nova.server_rebuild(
                    request, data['instance_id'], data['image'],
                    data.get('password') or None, data.get('disk_config'),
                    description=data.get('description'))
        except nova_exceptions.ClientException as exc:
            self.api_error(exc.message)
            return False
        except answers.Error as exc:
            self.api_error(str(exc))
            return False
        messages.info(
            request, _('Rebuilding instance %s.') % data['instance_id'])
        return True


def _overrides(
        request: http.HttpRequest, server_id: str | None,
) -> dict[str, str | None]:
    """Return what a server overrides; nothing if that cannot be seen."""
    if server_id is None or not presence.has_extension(request):
        return {}
    try:
        return existing.overrides_of(existing.server(request, server_id))
    except tabs.TROUBLE:
        return {}


def _spelled(name: str, value: str | None) -> str:
    return _('%s removed') % name if value is None else f'{name}={value}'


def register() -> None:
    """Let Horizon's page use this form."""
    views.RebuildView.form_class = RebuildForm
