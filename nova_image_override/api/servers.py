"""The servers resource: takes overrides, and shows those in force."""

from __future__ import annotations

from collections.abc import Callable, Iterable
import functools
from typing import Any
import urllib.parse

from nova import exception
from nova.api.openstack import wsgi
from nova.api.openstack.compute import servers
from nova.api.openstack.compute.views import servers as views
from nova.compute import api as compute

from nova_image_override import errors
from nova_image_override import metadata_keys
from nova_image_override.api import asked as asked_module
from nova_image_override.api import operation as operations
from nova_image_override.api.change import create
from nova_image_override.api.change import dry_run
from nova_image_override.api.change.plan import Planner
from nova_image_override.nova_interfaces import interface
from nova_image_override.override import NONE, Overrides
from nova_image_override.server_record import ServerRecord


class ViewBuilder(views.ViewBuilder):
    """Nova's view builder, which notes the overrides of servers."""

    @interface.overrides
    def show(
        self, request: wsgi.Request, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Show one instance; also called for each one in a list."""
        operations.of(request.environ['nova.context']).shows(instance)
        return super().show(request, instance, *args, **kwargs)

    @interface.overrides
    def _get_image(
        self, request: wsgi.Request, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Leave out the record, which Nova 31 shows as image properties."""
        image = super()._get_image(request, instance, *args, **kwargs)
        if image and 'properties' in image:
            image['properties'] = {
                name: value for name, value in image['properties'].items()
                if not metadata_keys.is_property(name)}
        return image

    @interface.overrides
    def _get_next_link(self, request: wsgi.Request, *args: Any) -> str:
        """Add our filter, which was taken out of the query."""
        ours = operations.of(request.environ['nova.context']).next_link()
        link: str = super()._get_next_link(request, *args)
        return f'{link}&{urllib.parse.urlencode(ours)}' if ours else link


class ServersController(servers.ServersController):
    """Nova's servers controller, which takes and shows overrides."""

    _view_builder_class = ViewBuilder

    def __init__(
        self, api: compute.API, planner: Planner, reader: asked_module.Reader,
    ) -> None:
        super().__init__()
        self._planner = planner
        self._asked = reader
        self.compute_api = api

    def extending(self, base: type) -> ServersController:
        """Return this controller, or one like it of BASE, a subclass of Nova's.

        ``/os-volumes_boot`` of Nova 33 and 34 has one.

        :raises errors.UnsupportedNova: BASE has methods of another shape
        """
        if isinstance(self, base):
            return self
        # With methods of its own: Nova's ControllerMetaclass takes an action
        # of several bases from the last one.
        ours = type(base.__name__, (ServersController, base),
                    {**vars(ServersController)})
        interface.verify_overridden([ours])
        return ours(self.compute_api, self._planner, self._asked)

    @interface.overrides
    @wsgi.response(202)
    def create(self, req: wsgi.Request, body: Any) -> Any:
        """Create servers, with overrides if asked to."""
        asked, body = self._asked.create(req, body)
        if asked:
            operations.attach(req.environ['nova.context'],
                              create.Create(self._planner, asked))
        return super().create(req=req, body=body)

    def check(self, req: wsgi.Request, body: Any) -> Any:
        """Answer what a create, a rebuild or an update would get."""
        asked_module.require_version(req, errors.PARAMETER)
        context = req.environ['nova.context']
        asks_hosts, body = dry_run.take_hosts(self._planner, context, body)
        existing = dry_run.of_existing(body)
        try:
            if existing:
                self._change(req, *existing, is_check=True)
            else:
                asked, body = self._asked.create(
                    req, dry_run.body_of_create(req, body))
                operations.attach(context, create.Check(
                    self._planner, asked or NONE, asks_hosts))
                super().create(req=req, body=body)
        except dry_run.Checked as outcome:
            return outcome.answer
        raise interface.unsupported(
            'creates or changes servers past what ends a check '
            '(_create_reqspec_buildreq_instmapping, Instance.save, '
            'update_instance)')

    @interface.overrides
    def show(self, req: wsgi.Request, id: str) -> Any:
        """Show a server with its overrides."""
        return _showing(req, super().show, operations.Listing(), id=id)

    @interface.overrides
    def index(self, req: wsgi.Request) -> Any:
        """List servers, those with certain overrides if asked to."""
        operations.attach(
            req.environ['nova.context'], self._asked.listing(req))
        return super().index(req=req)

    @interface.overrides
    def detail(self, req: wsgi.Request) -> Any:
        """List servers with their overrides."""
        operation = self._asked.listing(req)
        operations.attach(req.environ['nova.context'], operation)
        return _with_shown(operation, super().detail(req=req))

    @interface.overrides
    def update(self, req: wsgi.Request, id: str, body: Any) -> Any:
        """Update a server, and its overrides if asked to."""
        return self._change(req, 'server', id, body)

    @wsgi.response(202)
    @wsgi.action('rebuild')
    def image_override_rebuild(
        self, req: wsgi.Request, id: str, body: Any,
    ) -> Any:
        """Rebuild a server, with other overrides if asked to."""
        return self._change(req, 'rebuild', id, body)

    def _change(
        self, req: wsgi.Request, key: str, id: str, body: Any,
        is_check: bool = False,
    ) -> Any:
        """Update or rebuild a server, or check what that would get."""
        asked, body = self._asked.change(req, body, key, functools.partial(
            self._refused, req.environ['nova.context'], id))
        if is_check and key == 'server' and asked is None:
            raise errors.Invalid.of(
                [errors.PARAMETER], errors.INVALID_VALUE,
                'a check of an update needs it')
        # Releases name the method differently.
        method = super().update if key == 'server' else getattr(
            super(), servers.ServersController.wsgi_actions['rebuild'])
        return _showing(req, method, operations.Listing(
            asked, is_check=is_check), id=id, body=body)

    def _refused(
        self, context: Any, id: str, asked: Overrides,
    ) -> Iterable[errors.Problem]:
        """Return which of ASKED a server lacks and may not have.

        What it has may stay, as long as its image does.
        """
        try:
            instance = self.compute_api.get(
                context, id, expected_attrs=['system_metadata'])
        except exception.InstanceNotFound:
            return ()
        in_force = ServerRecord.of(instance).in_force
        return self._planner.refused(context, asked.only(dict(
            asked.values.items() - in_force.items())), owner=instance)


def _showing(
    req: wsgi.Request, method: Callable[..., Any],
    operation: operations.Operation, **kwargs: Any,
) -> Any:
    """Call Nova's METHOD and add the overrides in force to its answer."""
    if asked_module.version_of(req) is None:
        return method(req=req, **kwargs)
    operations.attach(req.environ['nova.context'], operation)
    return _with_shown(operation, method(req=req, **kwargs))


def _with_shown(operation: operations.Operation, answer: Any) -> Any:
    """Return Nova's ANSWER with the overrides that the operation has noted."""
    shown = operation.shown
    if shown:
        body = (answer.obj if isinstance(answer, wsgi.ResponseObject)
                else answer)
        for server in body.get('servers') or [body.get('server')]:
            if server and server['id'] in shown:
                server.update(shown[server['id']])
    return answer
