"""``OS::Nova::Server`` with ``image_props_override`` and its preset.

Heat loads each module of the folders in ``plugin_dirs`` after its own
resources (heat/engine/plugin_manager.py), and the last type with a name wins.
"""
from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Set
import re
from typing import Any

from heat.common import exception
from heat.engine import constraints
from heat.engine import properties
from heat.engine.resources.openstack.nova import server
from heat.objects import resource

from nova_image_override import errors
from nova_image_override.client import answers
from nova_image_override.client import transport

#: The id of a stack that is not stored, as its template may ask for it.
_NO_ID = 'None'


class Server(server.Server):
    """Heat's server, created with overrides.

    A change of the properties replaces the server, or changes the server
    while it is stopped: that is the template's policy. Heat's rebuild sends no
    overrides, which keeps those of the server.
    """

    IMAGE_PROPS_OVERRIDE, IMAGE_PROPS_OVERRIDE_PRESET = errors.PARAMETERS
    IMAGE_PROPS_OVERRIDE_UPDATE_POLICY = f'{errors.PARAMETER}_update_policy'

    #: In the resource's data from the beginning of a change to the end of the
    #: update: whether the server is still to be started.
    _STOPPED = f'{errors.PARAMETER}_stopped'

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
        (``get_attr``). What the server has already is not validated again.

        :raises exception.StackValidationFailed: naming every property that
            may not be overridden, or why none may
        """
        super().validate()
        overrides, preset = _asked(self.properties)
        if not overrides and preset is None:
            return
        kept, kept_preset = self._has()
        names = sorted(overrides.keys() - kept)
        if not names and preset in (None, kept_preset):
            return
        try:
            offer = self._adapter().discover()
            given = {} if preset is None else offer.preset(
                preset)['properties']
        except answers.Error as exc:
            raise exception.StackValidationFailed(message=str(exc)) from exc
        closed = [
            name for name in names if name not in given
            and name not in offer.schema.get('properties', ()) and not any(
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

    def _has(self) -> tuple[transport.Overrides, str | None]:
        """Return overrides and preset of the server in a stack to be updated.

        A stack validates the stacks nested in it by copies that do not know
        their ids (StackResource.validate_nested_stack). In an update such a
        copy has what it asks for: the nested stack's own update validates it.
        """
        own = _id(self.stack)
        row = resource.Resource.get_by_name_and_stack(
            self.context, self.name, own)
        if row is not None and row.physical_resource_id is not None:
            return _asked(row.properties_data)
        (_, root), *_ = self.stack.object_path_in_stack()
        if own == _NO_ID and _id(root) != _NO_ID:
            return _asked(self.properties)
        return {}, None

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

    def _needs_update(self, *args: Any, **kwargs: Any) -> bool:
        # The properties are those of before an update that was interrupted.
        needs = super()._needs_update(*args, **kwargs)
        return needs or self._STOPPED in self.data()

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Any, prop_diff: dict[str, Any],
    ) -> tuple[Iterator[None], Any]:
        """Begin an update that needs no other server."""
        steps: Iterator[None] = iter(())
        if self._STOPPED in self.data() or prop_diff.keys() & {
                *errors.PARAMETERS}:
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
        if not super().check_update_complete(updaters):
            return False
        if self._STOPPED in self.data():
            self.data_delete(self._STOPPED)
        return True

    def _change(
        self, overrides: transport.Overrides, preset: str | None,
    ) -> Iterator[None]:
        """Change the overrides of the server; yield while it has to wait.

        A server that was running runs again, even if the change is refused.
        If Heat gives up waiting, the stack's next update goes on from there.
        """
        servers = self.client().servers
        status = yield from self._settled()
        runs = status == 'ACTIVE' or self.data().get(self._STOPPED) == str(True)
        try:
            with self._adapter().showing() as asking:
                servers.get(self.resource_id)
            # Else only the spelling differs.
            if self._differs(
                    asking.seen.get(self.resource_id) or {}, overrides, preset):
                self.data_set(self._STOPPED, str(runs))
                if status == 'ACTIVE':
                    servers.stop(self.resource_id)
                    status = yield from self._settled()
                self._adapter().replace_overrides(
                    self.resource_id, overrides, preset)
        finally:
            # It is still ACTIVE if Heat gives up while it stops.
            if runs and status != 'ACTIVE':
                servers.start(self.resource_id)
                self.data_set(self._STOPPED, str(False))
        if runs:
            status = yield from self._settled()
            if status != 'ACTIVE':
                raise exception.ResourceInError(resource_status=status)

    def _differs(
        self, shown: Mapping[str, Any], overrides: transport.Overrides,
        preset: str | None,
    ) -> bool:
        """Return whether a server that is SHOWN has other overrides.

        :raises Error: the cloud does not offer the preset
        """
        given, used = {}, None
        if preset is not None:
            offered = self._adapter().discover().preset(preset)
            given, used = offered['properties'], {
                'name': preset, 'digest': offered['digest']}
        has = shown.get(errors.PARAMETER) or {}
        # What null takes out of the preset is not shown.
        wanted = {
            name: value for name, value in {**given, **overrides}.items()
            if value is not None or name in has or name not in given}
        return (wanted, used) != (has, shown.get(errors.PRESET))

    def _settled(self) -> Generator[None, None, str]:
        """Yield while something is done to the server; return its status."""
        nova = self.client_plugin()
        while True:
            # None when Nova does not answer this time.
            found = nova.fetch_server(self.resource_id)
            if found and getattr(found, 'OS-EXT-STS:task_state') is None:
                return str(nova.get_status(found))
            yield

    def _adapter(self) -> transport.OverridingSession:
        # Heat's plugin for Nova's client makes one client for each version,
        # which Heat's handle_create uses too (MicroversionMixin.client).
        return transport.attach(self.client().client)


def _id(stack: Any) -> str:
    """Return a stack's id, which an update tells its template.

    That is heat/engine/service.py, EngineService._prepare_stack_updates.
    """
    parameters = stack.parameters
    # An ARN in templates of CloudFormation.
    return str(parameters[parameters.PARAM_STACK_ID]).rpartition('/')[2]


def _asked(properties: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the overrides, as Nova spells them, and the preset."""
    overrides, preset = map(properties.get, errors.PARAMETERS)
    # YAML reads a name such as 7 as a number.
    return {str(name): str(value).lower() if isinstance(value, bool)
            else str(value) if isinstance(value, int) else value
            for name, value in (overrides or {}).items()}, preset


def resource_mapping() -> dict[str, type[Server]]:
    """Return the types of this module, as Heat's plugin manager expects."""
    return {'OS::Nova::Server': Server}
