"""openstacksdk's compute service with image property overrides."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
from typing import Any, cast

from openstack import exceptions
from openstack import format as sdk_format
from openstack import resource
from openstack.compute import compute_service
from openstack.compute.v2 import _proxy
from openstack.compute.v2 import server as _server

from nova_image_override import errors
from nova_image_override.client import answers
from nova_image_override.client import transport


class _PresetName(sdk_format.Formatter):  # type: ignore[misc,type-arg]
    """Reduces the preset that a server shows to its name."""

    @classmethod
    def deserialize(cls, value: Any) -> Any:
        """Return the name, by which Ansible finds that nothing is to change."""
        return value['name'] if isinstance(value, dict) else value


class Server(_server.Server):
    """A server that knows the overrides in force, and their preset."""

    #: Name -> value, None where the image's property is removed. Is None until
    #: an answer has shown the overrides; the answer to a create does not.
    image_props_override = resource.Body('image_props_override', type=dict)

    #: The name of the preset that they came with; None if there is none, too.
    image_props_override_preset = resource.Body(
        'image_props_override_preset', type=_PresetName)

    #: openstacksdk's, and what a list is filtered by.
    _query_mapping = resource.QueryParameters(
        *errors.PARAMETERS,
        **cast(Any, _server.Server._query_mapping._mapping))


def _with_overrides(resource_type: Any) -> Any:
    return Server if resource_type is _server.Server else resource_type


@contextlib.contextmanager
def _sdk_errors() -> Iterator[None]:
    """Raise what users of openstacksdk catch, Ansible's modules included."""
    try:
        yield
    except answers.Refused as exc:
        # As a create does.
        exceptions.raise_from_response(exc.response)
    except answers.Error as exc:
        raise exceptions.SDKException(str(exc)) from exc


class Proxy(_proxy.Proxy):
    """openstacksdk's proxy of the compute service.

    Each request names the extension where the cloud has it, so that servers
    show their overrides. openstacksdk still chooses compute microversions.

    Methods take ``image_props_override``, a mapping of image properties to
    values (None removes the image's property), and
    ``image_props_override_preset``, the name of one of the cloud's presets,
    over whose properties those are laid. They raise
    openstack.exceptions.SDKException where the cloud does not have the
    extension or does not answer, and where overrides cannot be sent or were
    not; and HttpException, which is one, where they are refused: then nothing
    is created or changed.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        transport.attach(self).naming = True

    def image_props_overridable(self) -> dict[str, Any]:
        """Return what this caller may override.

        :returns: JSON Schema (draft 2020-12) of ``image_props_override``
        """
        with _sdk_errors():
            return transport.attach(self).discover().schema

    def image_props_override_presets(self) -> dict[str, dict[str, Any]]:
        """Return the presets that this caller may use.

        :returns: name -> ``description``, ``properties`` and ``flavors``,
            names of those that it is meant for
        """
        with _sdk_errors():
            return transport.attach(self).discover().presets

    def check_image_props_override(
        self, flavor: Any, image: Any = None,
        image_props_override: transport.Overrides | None = None,
        block_device_mapping: list[dict[str, Any]] | None = None,
        image_props_override_preset: str | None = None,
    ) -> dict[str, Any]:
        """Check a create without creating or reserving anything.

        :param flavor: ``openstack.compute.v2.flavor.Flavor``, or its ID
        :param image: ``openstack.image.v2.image.Image``, or its ID; None when
            BLOCK_DEVICE_MAPPING says what to boot from
        :param block_device_mapping: as ``create_server`` takes it
        :returns: ``properties``, name -> value, as the guest would be built;
            ``overridden``, name -> ``value``, ``image_value``;
            ``numa_topology``, None or the guest's ``nodes`` and
            ``emulator_threads_policy``, left out where the user may not read
            the extra specs of flavors
        :raises openstack.exceptions.HttpException: as the create would
        """
        server: dict[str, Any] = {
            'flavor_id': resource.Resource._get_id(flavor)}
        if image is not None:
            server['image_id'] = resource.Resource._get_id(image)
        if block_device_mapping is not None:
            server['block_device_mapping'] = block_device_mapping
        with _sdk_errors(), transport.attach(self).overriding(
            transport.CHECK,
            {} if image_props_override is None else image_props_override,
            image_props_override_preset,
        ) as asking:
            super().create_server(**server)
        return asking.checked

    def check_server_image_props_override(
        self, server: Any, image: Any = None,
        image_props_override: transport.Overrides | None = None,
        image_props_override_preset: str | None = None,
    ) -> dict[str, Any]:
        """Check an update of a server's overrides, or a rebuild.

        :param server: ``openstack.compute.v2.server.Server``, or its ID
        :param image: what a rebuild is to use; None for ``update_server``
        :returns, raises: as ``check_image_props_override``
        """
        asked = image_props_override, image_props_override_preset
        session = transport.attach(self)
        with _sdk_errors():
            if image is None:
                return session.replace_overrides(
                    resource.Resource._get_id(server), *asked, checks=True)
            with session.overriding(
                    transport.CHECK_REBUILD, *asked) as asking:
                super().rebuild_server(
                    server, image=resource.Resource._get_id(image))
            return asking.checked

    def image_props_overriding(
        self, action: transport.Action, method: Callable[..., Any], *args: Any,
        image_props_override: transport.Overrides | None = None,
        image_props_override_preset: str | None = None, **attrs: Any,
    ) -> Any:
        """Call METHOD, whose requests carry the overrides; return its result.

        :param action: transport.CREATE or REBUILD
        """
        asked = image_props_override, image_props_override_preset
        if asked == (None, None):
            return method(*args, **attrs)
        with _sdk_errors(), transport.attach(self).overriding(action, *asked):
            return method(*args, **attrs)

    def create_server(self, **attrs: Any) -> Any:
        """Create a server, perhaps with overrides."""
        return self.image_props_overriding(
            transport.CREATE, super().create_server, **attrs)

    def rebuild_server(self, *args: Any, **attrs: Any) -> Any:
        """Rebuild a server.

        Overrides, or a preset, replace those of the server; an empty mapping
        drops them, and None keeps them.
        """
        return self.image_props_overriding(
            transport.REBUILD, super().rebuild_server, *args, **attrs)

    def servers(
        self, *args: Any, image_props_override: Sequence[str] | None = None,
        image_props_override_preset: str | None = None, **query: Any,
    ) -> Any:
        """List servers.

        :param image_props_override: names of properties, to list only servers
            that override all of them; None for all servers
        :param image_props_override_preset: the name of a preset, to list only
            servers whose overrides came with it
        :raises TypeError: one of them is a mapping, as of names to values
        """
        filters = answers.parameters(
            image_props_override, image_props_override_preset)
        for name, each in filters.items():
            if isinstance(each, Mapping):
                # The query would have its keys alone.
                raise TypeError(f'{name} of a list takes names, not {each!r}')
        if filters:
            with _sdk_errors():
                transport.attach(self).discover()
        return super().servers(*args, **{**query, **filters})

    def update_server(
        self, server: Any, *,
        image_props_override: transport.Overrides | None = None,
        image_props_override_preset: str | None = None, **attrs: Any,
    ) -> _server.Server:
        """Update a server.

        Its overrides can be replaced, as by ``rebuild_server``, while it is
        stopped, or shelved and offloaded. They are stored first.
        """
        asked = image_props_override, image_props_override_preset
        if asked == (None, None):
            return super().update_server(server, **attrs)
        with _sdk_errors():
            transport.attach(self).replace_overrides(
                resource.Resource._get_id(server), *asked)
        if attrs:
            super().update_server(server, **attrs)
        return self.get_server(resource.Resource._get_id(server))

    # Every method about servers asks one of these for its resource.

    def _get_resource(
            self, resource_type: Any, value: Any, **attrs: Any) -> Any:
        if not isinstance(value, resource_type):
            resource_type = _with_overrides(resource_type)
        return super()._get_resource(resource_type, value, **attrs)

    def _create(self, resource_type: Any, *args: Any, **attrs: Any) -> Any:
        return super()._create(_with_overrides(resource_type), *args, **attrs)

    def _find(self, resource_type: Any, *args: Any, **attrs: Any) -> Any:
        return super()._find(_with_overrides(resource_type), *args, **attrs)

    def _list(self, resource_type: Any, *args: Any, **attrs: Any) -> Any:
        return super()._list(_with_overrides(resource_type), *args, **attrs)


class Service(compute_service.ComputeService):
    """The compute service with that proxy."""

    supported_versions = {'2': Proxy}
