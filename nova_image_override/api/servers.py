"""The servers resource: takes overrides, and shows what is in force."""

from collections.abc import Callable, Iterable
import functools
from typing import Any
import urllib.parse

from nova.api.openstack import wsgi
from nova.api.openstack.compute import servers
from nova.api.openstack.compute.views import servers as views

from nova_image_override import errors
from nova_image_override import free_keys
from nova_image_override import override_record as record
from nova_image_override.api import compute_api
from nova_image_override.api import request as request_module
from nova_image_override.api.change import dry_run
from nova_image_override.api.change.plan import Planner
from nova_image_override.api.client_compatibility import ClientCompatibility
from nova_image_override.nova_interfaces import interface
from nova_image_override.override import Parser


class ViewBuilder(views.ViewBuilder):
    """Nova's view builder, which notes the overrides of each server it shows.

    They are not put into the view: Nova validates its own answers
    (``[api] response_validation``) and its schemas forbid unknown keys.
    """

    @interface.overrides
    def show(
        self, request: wsgi.Request, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        """Show one instance; also called for each one in a list."""
        # Servers in a cell that is down have no system metadata.
        asked = request_module.naming(request.environ['nova.context'])
        if asked is not None and 'system_metadata' in instance:
            preset = record.preset(instance.system_metadata)
            asked.shown[instance.uuid] = {
                errors.PARAMETER: record.in_force(instance.system_metadata),
                errors.PRESET: preset and preset._asdict()}
        return super().show(request, instance, *args, **kwargs)

    @interface.overrides
    def _get_image(
        self, request: wsgi.Request, instance: Any, *args: Any, **kwargs: Any,
    ) -> Any:
        # Nova 31 shows all that is stored as an image property.
        image = super()._get_image(request, instance, *args, **kwargs)
        if image and 'properties' in image:
            image['properties'] = {
                name: value for name, value in image['properties'].items()
                if not record.is_property(name)}
        return image

    @interface.overrides
    def _get_next_link(self, request: wsgi.Request, *args: Any) -> str:
        # Nova makes it from the query, which our filter was taken out of.
        asked = request_module.naming(request.environ['nova.context'])
        ours = [(errors.PARAMETER, name) for name in sorted(
            asked.found)] if asked else []
        if asked and asked.found_preset:
            ours.append((errors.PRESET, asked.found_preset))
        return '&'.join([super()._get_next_link(request, *args), *(
            [urllib.parse.urlencode(ours)] if ours else ())])


class ServersController(servers.ServersController):
    """Nova's servers controller, which takes and shows overrides.

    :param planner: makes plans by the deployer's rules
    :param compatibility: which clients need not send the header entry
    """

    _view_builder_class = ViewBuilder

    def __init__(
        self, planner: Planner, compatibility: ClientCompatibility,
    ) -> None:
        super().__init__()
        self._planner = planner
        self._parser = Parser(planner.catalog)
        self._compatibility = compatibility
        self.compute_api = compute_api.API(planner)

    @interface.overrides
    @wsgi.response(202)
    def create(self, req: wsgi.Request, body: Any) -> Any:
        """Create servers, with overrides if asked to."""
        sent, body = request_module.take_parameters(req, body, 'server')
        found, body = free_keys.take(body)
        if found:
            self._compatibility.require(found)
            sent = request_module.take_free_keys(req, found, sent)
        if sent:
            self._ask(req, sent, functools.partial(
                self._planner.refused, req.environ['nova.context']))
        return super().create(req=req, body=body)

    def _ask(
        self, req: wsgi.Request, sent: dict[str, Any],
        refused: Callable[..., Iterable[errors.Problem]] = lambda *_, **__: (),
    ) -> None:
        """Have a request ask for overrides, those of its preset among them.

        :param sent: the parameters that it has
        :param refused: returns what the rules refuse of some overrides
        :raises errors.OverrideError: it is wrong, whatever the image
        """
        request = request_module.required(req, *sent)
        problems: Iterable[errors.Problem] = ()
        try:
            if errors.PRESET in sent:
                request.preset = self._planner.enforcer.presets.named(
                    sent[errors.PRESET])
        except errors.Invalid as exc:
            problems = exc.problems
        request.overrides = self._parser.parse(
            sent.get(errors.PARAMETER, {}),
            functools.partial(refused, named=request.preset),
            request.preset.properties if request.preset else {}, problems)

    def check(self, req: wsgi.Request, body: Any) -> Any:
        """Answer what a create would get."""
        request_module.require_v21(req, errors.PARAMETER)
        request = request_module.required(req, errors.PARAMETER)
        request.is_check = True
        try:
            self.create(req=req, body=dry_run.body_of_create(req, body))
        except dry_run.Checked as outcome:
            return outcome.answer
        raise interface.unsupported(
            'creates servers past _populate_instance_for_create, which '
            'ends a check')

    @interface.overrides
    def show(self, req: wsgi.Request, id: str) -> Any:
        """Show a server with its overrides."""
        return _showing(req, super().show, id=id)

    @interface.overrides
    def index(self, req: wsgi.Request) -> Any:
        """List servers, those with certain overrides if asked to."""
        request_module.take_filters(req, self._parser)
        return super().index(req=req)

    @interface.overrides
    def detail(self, req: wsgi.Request) -> Any:
        """List servers with their overrides."""
        request_module.take_filters(req, self._parser)
        return _showing(req, super().detail)

    @interface.overrides
    def update(self, req: wsgi.Request, id: str, body: Any) -> Any:
        """Update a server, and its overrides if asked to."""
        sent, body = request_module.take_parameters(req, body, 'server')
        if sent:
            request_module.required(req, *sent)
            if 'pinned_availability_zone' in body['server']:
                # Nova's update stores that before anything else.
                raise errors.Invalid.of(
                    sent, errors.NOT_HERE, 'it cannot be changed '
                    'together with pinned_availability_zone, send two requests')
            self._ask(req, sent)
        return _showing(req, super().update, id=id, body=body)

    @wsgi.response(202)
    @wsgi.action('rebuild')
    def image_override_rebuild(
        self, req: wsgi.Request, id: str, body: Any,
    ) -> Any:
        """Rebuild a server, with other overrides if asked to."""
        sent, body = request_module.take_parameters(req, body, 'rebuild')
        if sent:
            self._ask(req, sent)
        # Releases name the method differently.
        nova_rebuild = servers.ServersController.wsgi_actions['rebuild']
        return _showing(req, getattr(super(), nova_rebuild), id=id, body=body)


def _showing(
    req: wsgi.Request, method: Callable[..., Any], **kwargs: Any,
) -> Any:
    """Call Nova's METHOD and add what is in force to its answer."""
    answer = method(req=req, **kwargs)
    request = request_module.naming(req.environ['nova.context'])
    shown = request.shown if request else None
    if shown:
        body = (answer.obj if isinstance(answer, wsgi.ResponseObject)
                else answer)
        for server in body.get('servers') or [body.get('server')]:
            if server and server['id'] in shown:
                server.update(shown[server['id']])
    return answer
