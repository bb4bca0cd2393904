"""Horizon's form for a rebuild, in which the overrides can be edited."""
from __future__ import annotations

import contextlib
import typing

from django import http
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from horizon import forms
from horizon import messages
from novaclient import exceptions as nova_exceptions
from openstack_dashboard import api
from openstack_dashboard.api import _nova
from openstack_dashboard.dashboards.project.instances import views

from nova_image_override import errors
from nova_image_override.client import answers
from nova_image_override.client import arguments
from nova_image_override.client import transport
from nova_image_override_dashboard import cloud
from nova_image_override_dashboard import existing
from nova_image_override_dashboard import presence
from nova_image_override_dashboard import tabs

_Form: typing.Any = views.RebuildView.form_class


class RebuildForm(_Form):
    """Horizon's form, with the overrides, which can be edited.

    If the cloud does not have the extension, the form is Horizon's own.
    """

    def __init__(
        self, request: http.HttpRequest, *args: typing.Any,
        **kwargs: typing.Any,
    ) -> None:
        super().__init__(request, *args, **kwargs)
        known = _known(request, kwargs.get('initial', {}).get('instance_id'))
        if known is None:
            return
        server, presets = known
        # By name and digest: one that changes meanwhile is not chosen.
        self._presets = {_key(preset): preset for preset in presets}
        used = existing.preset_of(server)
        chosen = _key(used) if used else ''
        self._lost = ''
        if chosen and chosen not in self._presets:
            chosen, self._lost = '', existing.preset_named(server)
        self._shown = chosen, _beside(
            self._presets.get(chosen), existing.overrides_of(server))
        if self._presets:
            self.fields[errors.PRESET] = self._choice(chosen)
        self.fields[errors.PARAMETER] = self._lines(self._shown[1])

    def _choice(self, chosen: str) -> typing.Any:
        """Return the field for the preset."""
        return forms.ChoiceField(
            label=_('Preset'), required=False, initial=chosen,
            choices=[('', _('No preset')), *(
                (key, f'{preset["name"]}: {preset["description"]}')
                for key, preset in self._presets.items())],
            error_messages={'invalid_choice': _(
                'This preset has changed, or is no longer offered.')},
            help_text=self._lost and _(
                'The overrides came with a preset that has changed since, or '
                'that you cannot choose. A preset that you choose replaces '
                'the lines that you leave as they are.'))

    def _lines(self, overrides: dict[str, str | None]) -> typing.Any:
        """Return the field for the overrides."""
        lines = [f'{name}={value or ""}' for name, value in
                 sorted(overrides.items())]
        explained = [_('A line NAME=VALUE for each property. With NAME= alone '
                       'the instance is built without it.')]
        if self._presets:
            explained.append(_(
                'With a preset, the lines are only what differs from it; '
                'without one, an empty field drops all overrides.'))
        else:
            explained.append(_('An empty field drops all overrides.'))
        if self._lost:
            explained.append(_(
                'A change leaves the instance without the preset.'))
        return forms.CharField(
            label=_('Image Property Overrides') + (
                self._lost and f' ({self._lost})'),
            required=False, initial='\n'.join(lines),
            widget=forms.Textarea(attrs={
                'rows': max(2, len(lines)), 'wrap': 'off',
                'placeholder': 'NAME=VALUE', 'spellcheck': 'false'}),
            help_text=' '.join(explained))

    def clean_image_props_override(self) -> dict[str, str | None]:
        """Return the overrides that the field asks for."""
        overrides: dict[str, str | None] = {}
        try:
            arguments.take(filter(
                None, map(str.strip, self.cleaned_data[
                    errors.PARAMETER].splitlines())), overrides)
        except ValueError as exc:
            raise forms.ValidationError(str(exc)) from None
        return overrides

    @sensitive_variables('data')
    def handle(
        self, request: http.HttpRequest, data: dict[str, typing.Any],
    ) -> bool:
        """Rebuild; show in the form what the cloud refuses."""
        asked = data.pop(errors.PARAMETER, None)
        if asked is None:
            return super().handle(request, data)
        chosen = data.pop(errors.PRESET, '')
        preset = self._presets[chosen]['name'] if chosen else None
        is_kept = (chosen, asked) == self._shown
        if preset and self._lost:
            # What came with the old one gives way to the new one.
            asked = dict(asked.items() - self._shown[1].items())
        # The client of server_rebuild (openstack_dashboard/api/nova.py).
        client = _nova.get_novaclient_with_instance_desc(request).client
        try:
            with (contextlib.nullcontext() if is_kept
                  else transport.attach(client).overriding(
                      transport.REBUILD, asked, preset)):
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


def _key(preset: dict[str, typing.Any]) -> str:
    return f'{preset["name"]}:{preset["digest"]}'


def _beside(
    preset: dict[str, typing.Any] | None, overrides: dict[str, str | None],
) -> dict[str, str | None]:
    """Return what differs from the PRESET that OVERRIDES came with."""
    properties = preset['properties'] if preset else {}
    return dict({**dict.fromkeys(properties), **overrides}.items()
                - properties.items())


def _known(
    request: http.HttpRequest, server_id: str | None,
) -> tuple[typing.Any, list[dict[str, typing.Any]]] | None:
    """Return a server with its overrides, and the presets that it may have.

    None if they cannot be seen.
    """
    if server_id is None or not presence.has_extension(request):
        return None
    try:
        return existing.server(request, server_id), cloud.presets(request)
    except tabs.TROUBLE:
        return None


def register() -> None:
    """Let Horizon's page use this form."""
    views.RebuildView.form_class = RebuildForm
