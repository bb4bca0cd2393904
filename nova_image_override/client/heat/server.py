"""``OS::Nova::Server`` with the property ``image_props_override``.

Heat loads each module of the folders in ``plugin_dirs`` after its own
resources (heat/engine/plugin_manager.py), and the last type with a name wins.
"""

import collections.abc
import json
import typing

from heat.common import exception
from heat.engine import constraints
from heat.engine import properties
from heat.engine.resources.openstack.nova import server
import jsonschema

from nova_image_override import errors
from nova_image_override.client import discovery
from nova_image_override.client import transport

#: Statuses of a server.
_RUNNING = 'ACTIVE'
_STOPPED = 'SHUTOFF'


class Server(server.Server):
    """Heat's server, created with overrides.

    A change of the property replaces the server, or changes the server while
    it is stopped: that is the template's policy. Heat's rebuild sends no
    overrides, which keeps those of the server.
    """

    IMAGE_PROPS_OVERRIDE = errors.PARAMETER
    IMAGE_PROPS_OVERRIDE_UPDATE_POLICY = f'{errors.PARAMETER}_update_policy'

    #: What the policy may be.
    REPLACE, STOP = UPDATE_POLICIES = ('REPLACE', 'STOP')

    PROPERTIES = (*server.Server.PROPERTIES, IMAGE_PROPS_OVERRIDE,
                  IMAGE_PROPS_OVERRIDE_UPDATE_POLICY)

    properties_schema = {
        **server.Server.properties_schema,
        IMAGE_PROPS_OVERRIDE: properties.Schema(
            properties.Schema.MAP,
            'Image properties to override for this server: name to value. '
            'null removes the property of the image.',
            default={},
            update_allowed=True),
        IMAGE_PROPS_OVERRIDE_UPDATE_POLICY: properties.Schema(
            properties.Schema.STRING,
            'How a change of image_props_override is applied: by replacing '
            'the server, or by changing the server, which is stopped for it '
            'and started again if it runs.',
            default=REPLACE,
            constraints=[constraints.AllowedValues(UPDATE_POLICIES)],
            update_allowed=True),
    }

    def validate(self) -> None:
        """Validate the properties, and the overrides by what the cloud says.

        :raises exception.StackValidationFailed: naming every override that
            is wrong or not permitted, or why there can be none
        """
        super().validate()
        overrides = self._overrides(
            self.properties[self.IMAGE_PROPS_OVERRIDE])
        if not overrides:
            return
        try:
            offer = self._adapter().discover()
        except discovery.Error as exc:
            raise exception.StackValidationFailed(message=str(exc)) from exc
        self._refuse(_wrong(offer.schema, overrides))

    def handle_create(self) -> str:
        """Create the server.

        :raises discovery.Error: the overrides cannot be sent, or were not
        """
        overrides = self._overrides(
            self.properties[self.IMAGE_PROPS_OVERRIDE])
        if not overrides:
            return str(super().handle_create())
        with self._adapter().overriding(discovery.CREATE, overrides):
            return str(super().handle_create())

    def needs_replace_with_prop_diff(
        self, changed_properties_set: collections.abc.Set[str],
        after_props: typing.Any, before_props: typing.Any,
    ) -> bool:
        """Return whether changed properties need another server."""
        if self.IMAGE_PROPS_OVERRIDE in changed_properties_set and \
                after_props.get(
                    self.IMAGE_PROPS_OVERRIDE_UPDATE_POLICY) != self.STOP:
            return True
        return bool(super().needs_replace_with_prop_diff(
            changed_properties_set, after_props, before_props))

    def handle_update(
        self, json_snippet: typing.Any, tmpl_diff: typing.Any,
        prop_diff: dict[str, typing.Any],
    ) -> tuple[collections.abc.Iterator[None], typing.Any]:
        """Begin an update that needs no other server.

        :returns: what :meth:`check_update_complete` continues with
        """
        steps: collections.abc.Iterator[None] = iter(())
        if self.IMAGE_PROPS_OVERRIDE in prop_diff:
            steps = self._change(
                self._overrides(prop_diff[self.IMAGE_PROPS_OVERRIDE]))
        return steps, super().handle_update(
            json_snippet, tmpl_diff, prop_diff)

    def check_update_complete(
        self, begun: tuple[collections.abc.Iterator[None], typing.Any],
    ) -> bool:
        """Continue an update; return whether it is complete.

        :raises discovery.Error, refusal.Refused: the overrides cannot be
            changed
        """
        steps, updaters = begun
        for _ in steps:
            return False
        return bool(super().check_update_complete(updaters))

    def _change(
        self, overrides: discovery.Overrides,
    ) -> collections.abc.Iterator[None]:
        """Change the overrides of the server; yield while it has to wait.

        A server that was running runs again, even if the change is refused.
        """
        if self._adapter().overrides_of(self.resource_id) == overrides:
            # Only the spelling differs.
            return
        nova = self.client_plugin()
        runs = nova.get_status(
            nova.get_server(self.resource_id)) == _RUNNING
        if runs:
            self.client().servers.stop(self.resource_id)
            yield from self._until(_STOPPED)
        try:
            self._adapter().replace_overrides(self.resource_id, overrides)
        finally:
            if runs:
                self.client().servers.start(self.resource_id)
        if runs:
            yield from self._until(_RUNNING)

    def _until(self, status: str) -> collections.abc.Iterator[None]:
        """Yield until the server has a status.

        :raises exception.ResourceInError: it has failed
        """
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

    def _adapter(self) -> transport.OverridingAdapter:
        # Heat's plugin for Nova's client makes one client for each version,
        # which Heat's handle_create uses too (MicroversionMixin.client).
        return transport.attach(self.client().client)

    def _overrides(
        self, given: dict[str, typing.Any] | None,
    ) -> dict[str, str | None]:
        """Return the overrides as Nova spells them.

        :param given: the value of the property
        :raises exception.StackValidationFailed: a value has a wrong type
        """
        given = given or {}
        self._refuse({
            name: 'write it in quotes, YAML has read it as '
            f'{value!r}' if isinstance(value, float)
            else 'must be a string, a number, true, false or null'
            for name, value in given.items()
            if not isinstance(value, bool | int | str | None)})
        return {
            name: str(value).lower() if isinstance(value, bool)
            else str(value) if isinstance(value, int) else value
            for name, value in given.items()}

    def _refuse(self, wrong: collections.abc.Mapping[str, str]) -> None:
        if wrong:
            raise exception.StackValidationFailed(
                message=f'{self.IMAGE_PROPS_OVERRIDE}: ' + '; '.join(
                    f'{errors.printable(name)}: {reason}'
                    for name, reason in sorted(wrong.items())))


def _content(
    validator: typing.Any, schema: dict[str, typing.Any],
    instance: typing.Any, _: dict[str, typing.Any],
) -> collections.abc.Iterator[jsonschema.ValidationError]:
    """Check what a string stands for; jsonschema leaves that to the caller."""
    try:
        value = json.loads(instance)
    except (TypeError, ValueError):
        # Not a string, or one that its pattern refuses.
        return
    yield from validator.descend(value, schema)


_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator, {'contentSchema': _content})


def _wrong(
    schema: dict[str, typing.Any],
    overrides: collections.abc.Mapping[str, str | None],
) -> dict[str, str]:
    """Return what is wrong with overrides according to SCHEMA, by name.

    None may also stand for what another resource has yet to provide
    (``get_attr``): only its name is checked here, the rest by Nova.
    """
    validator = _Validator(schema)
    wrong: dict[str, str] = {}
    for name, value in overrides.items():
        for error in validator.iter_errors({name: value}):
            if error.validator in ('additionalProperties', 'propertyNames'):
                wrong[name] = ('not an image property that may be overridden '
                               'in this cloud')
            elif value is not None:
                wrong.setdefault(name, _reason(value, error))
    return wrong


def _reason(value: str, error: jsonschema.ValidationError) -> str:
    allowed = [each for each in error.schema.get('enum', ())
               if each is not None]
    if allowed:
        return (f'must be one of {", ".join(allowed)}, not '
                f'{errors.printable(value)}')
    if error.validator in ('minimum', 'maximum'):
        return str(error.message)
    return (f'{errors.printable(value)} is not a value of it '
            f'({error.schema.get("description")})')


def resource_mapping() -> dict[str, type[Server]]:
    """Return the types of this module, as Heat's plugin manager expects."""
    return {'OS::Nova::Server': Server}
