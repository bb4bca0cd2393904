"""``OS::Nova::Server`` with ``image_props_override`` and its preset.

Heat loads each module of the folders in ``plugin_dirs`` after its own
resources (heat/engine/plugin_manager.py), and the last type with a name wins.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
import re
from typing import Any

from heat.common import exception
from heat.engine import constraints
from heat.engine import properties
from heat.engine.resources.openstack.nova import server

from nova_image_override import errors
from nova_image_override.client import answers
from nova_image_override.client import transport


class Server(server.Server):
    """Heat's server, created with overrides.

    A change of the properties replaces the server, or changes the server
    while it is stopped: that is the template's policy. Heat's rebuild sends no
    overrides, which keeps those of the server.
    """

    IMAGE_PROPS_OVERRIDE, IMAGE_PROPS_OVERRIDE_PRESET = errors.PARAMETERS
    IMAGE_PROPS_OVERRIDE_UPDATE_POLICY = f'{errors.PARAMETER}_update_policy'

    #: The values of the policy.
    REPLACE, STOP = UPDATE_POLICIES = ('REPLACE', 'STOP')

    PROPERTIES = (*server.Server.PROPERTIES, IMAGE_PROPS_OVERRIDE,
                  IMAGE_PROPS_OVERRIDE_PRESET,
                  IMAGE_PROPS_OVERRIDE_UPDATE_POLICY)

    properties_schema = {
        **server.Server.properties_schema,
        IMAGE_PROPS_OVERRIDE: properties.Schema(
            properties.Schema.MAP,
            'Image properties to override for this server: name to value. '
            'null removes the property of the image.',
            default={},
            update_allowed=True),
        IMAGE_PROPS_OVERRIDE_PRESET: properties.Schema(
            properties.Schema.STRING,
            "The name of one of the cloud's presets. What "
            'image_props_override has wins over its properties.',
            update_allowed=True),
        IMAGE_PROPS_OVERRIDE_UPDATE_POLICY: properties.Schema(
            properties.Schema.STRING,
            'How a change of image_props_override, or of its preset, is '
            'applied: by replacing the server, or by changing the server, '
            'which is stopped for it and started again if it runs.',
            default=REPLACE,
            constraints=[constraints.AllowedValues(UPDATE_POLICIES)],
            update_allowed=True),
    }

    def validate(self) -> None:
        """Validate the properties, the preset and the names of the overrides.

        Nova checks the values, which another resource may have yet to provide
        (``get_attr``).

        :raises exception.StackValidationFailed: naming every property that
            may not be overridden, or why none may
        """
        super().validate()
        overrides, preset = _asked(self.properties)
        if not overrides and preset is None:
            return
        try:
            offer = self._adapter().discover()
            given = {} if preset is None else offer.preset(
                preset)['properties']
        except answers.Error as exc:
            raise exception.StackValidationFailed(message=str(exc)) from exc
        closed = [
            name for name in sorted(overrides.keys() - given)
            if name not in offer.schema.get('properties', ()) and not any(
                re.search(pattern, name)
                for pattern in offer.schema.get('patternProperties', ()))]
        if closed:
            raise exception.StackValidationFailed(message=(
                f'{self.IMAGE_PROPS_OVERRIDE}: may not be overridden in this '
                f'cloud: {", ".join(map(errors.printable, closed))}'))

    def handle_create(self) -> str:
        """Create the server with its overrides, or fail.

        :raises Error: the overrides cannot be sent, or were not
        """
        asked = _asked(self.properties)
        if asked == ({}, None):
            return str(super().handle_create())
        with self._adapter().overriding(transport.CREATE, *asked):
            return str(super().handle_create())

    def needs_replace_with_prop_diff(
        self, changed_properties_set: Set[str],
        after_props: Any, before_props: Any,
    ) -> bool:
        """Return whether changed properties need another server."""
        if changed_properties_set & {*errors.PARAMETERS} and after_props.get(
                self.IMAGE_PROPS_OVERRIDE_UPDATE_POLICY) != self.STOP:
            return True
        return bool(super().needs_replace_with_prop_diff(
            changed_properties_set, after_props, before_props))

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: dict[str, Any],
    ) -> tuple[Iterator[None], Any]:
        """Begin an update that needs no other server."""
        steps: Iterator[None] = iter(())
        if prop_diff.keys() & {*errors.PARAMETERS}:
            steps = self._change(*_asked(json_snippet.properties(
                self.properties_schema, self.context)))
        return steps, super().handle_update(json_snippet, tmpl_diff, prop_diff)

    def check_update_complete(self, begun: tuple[Iterator[None], Any]) -> bool:
        """Continue an update; return whether it is complete.

        :raises Error: the overrides cannot be changed
        """
        steps, updaters = begun
        for _ in steps:
            return False
        return bool(super().check_update_complete(updaters))

    def _change(
        self, overrides: transport.Overrides, preset: str | None,
    ) -> Iterator[None]:
        """Change the overrides of the server; yield while it has to wait.

        A server that was running runs again, even if the change is refused.
        """
        nova = self.client_plugin()
        with self._adapter().showing() as asking:
            status = nova.get_status(nova.get_server(self.resource_id))
        if asking.seen.get(self.resource_id) == {
                errors.PARAMETER: overrides, errors.PRESET: preset}:
            # Only the spelling differs.
            return
        runs = status == 'ACTIVE'
        if runs:
            self.client().servers.stop(self.resource_id)
            yield from self._until('SHUTOFF')
        try:
            self._adapter().replace_overrides(
                self.resource_id, overrides, preset)
        finally:
            if runs:
                self.client().servers.start(self.resource_id)
        if runs:
            yield from self._until('ACTIVE')

    def _until(self, status: str) -> Iterator[None]:
        """Yield until the server has a status."""
        nova = self.client_plugin()
        while True:
            # None when Nova does not answer this time.
            found = nova.fetch_server(self.resource_id)
            now = found and nova.get_status(found)
            if now == status:
                return
            if now == 'ERROR':
                raise exception.ResourceInError(resource_status=now)
            yield

    def _adapter(self) -> transport.OverridingSession:
        # Heat's plugin for Nova's client makes one client for each version,
        # which Heat's handle_create uses too (MicroversionMixin.client).
        return transport.attach(self.client().client)


def _asked(properties: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the overrides, as Nova spells them, and the preset."""
    overrides, preset = map(properties.get, errors.PARAMETERS)
    return {name: str(value).lower() if isinstance(value, bool)
            else str(value) if isinstance(value, int) else value
            for name, value in (overrides or {}).items()}, preset


def resource_mapping() -> dict[str, type[Server]]:
    """Return the types of this module, as Heat's plugin manager expects."""
    return {'OS::Nova::Server': Server}
