"""Other image properties for a server on its present host.

Nova schedules a rebuild when the image ID changes: image properties that the
host must not or cannot have then leave the server in ERROR. Overrides change
image properties while the ID stays the same, and a refusal must leave the
server as it was. So nova-api itself asks the scheduler, before anything is
saved, the question that Nova's rebuild and conductor ask afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from keystoneauth1 import exceptions as keystone_exceptions
from nova import exception
from nova import objects
from nova.compute import utils as compute_utils
from nova.scheduler import utils as scheduler_utils
from nova.scheduler.client import query
from nova.scheduler.client import report
from oslo_log import log as logging

from nova_image_override import errors
from nova_image_override.api.change.plan import Plan
from nova_image_override.api.guest.guest import boot_metadata, Guest, REFUSALS
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.properties import catalog
from nova_image_override.properties import families
from nova_image_override.properties.book import vocabulary
from nova_image_override.properties.book.vocabulary import Record
from nova_image_override.server_record import ServerRecord

LOG = logging.getLogger(__name__)

#: The last moment at which Nova acts on a property -> what a refusal says.
_FIXED = {
    vocabulary.AT_CREATE: 'takes effect only when a server is created: keep it '
    'as it is, or boot another server',
    vocabulary.AT_UNSHELVE: 'takes effect only when a server is created or '
    'unshelved: keep it as it is, update the server once it is shelved and '
    'offloaded, or boot another server'}


def properties_of(image_meta: objects.ImageMeta | None) -> dict[str, Any]:
    """Return the properties that are set in IMAGE_META, in comparable form."""
    if image_meta is None or 'properties' not in image_meta:
        return {}
    properties = image_meta.properties
    result = {field: getattr(properties, field) for field in properties.fields
              if properties.obj_attr_is_set(field)}
    result['traits_required'] = sorted(result.get('traits_required') or ())
    return result


def decided(
    when: str, flavor: objects.Flavor, present: objects.ImageMeta,
    wanted: objects.ImageMeta,
) -> list[str]:
    """Return the properties whose difference Nova acts on only at one moment.

    :param when: AT_BUILD, AT_UNSHELVE or AT_CREATE of the book
    :param present: image metadata that the server was built from
    :param wanted: image metadata that it is to have
    """
    before, after = (Guest(flavor, each, {}) for each in (present, wanted))
    return [
        field for field, prop in catalog.running().items()
        if prop.record.settled == when and before.prop(field)
        != after.prop(field) and gets(prop.record, before)
        != gets(prop.record, after)]


def refuse_fixed_at_create(
    flavor: objects.Flavor, present: objects.ImageMeta,
    wanted: objects.ImageMeta, *moments: str,
) -> None:
    """Refuse differences that take effect only in a server that is created.

    :param moments: those of the book that will not come again; AT_CREATE is
        always among them
    :raises errors.Invalid: naming the properties
    """
    fixed = [
        errors.Problem(field, errors.CREATE_ONLY, _FIXED[when])
        for when in (*moments, vocabulary.AT_CREATE)
        for field in decided(when, flavor, present, wanted)]
    if fixed:
        raise errors.Invalid(fixed)


def gets(record: Record, guest: Guest) -> Any:
    """Return what GUEST gets of a property, or None."""
    try:
        return (record.gets and record.gets(guest)) or None
    except exception.NovaException:
        # An operator has set something that conflicts with the flavor
        # (nova-manage image_property set), so the server has nothing of it.
        return None


class _SchedulerError(Exception):
    """The scheduler did not answer."""


class HostScheduler:
    """Asks the scheduler and placement about the host of one server.

    :param guard: Nova's check that a rebuild leaves a server's NUMA topology
        alone (API._validate_numa_rebuild)
    """

    def __init__(
        self, guard: Callable[[Any, Any, Any], None], volume_api: Any,
    ) -> None:
        self._guard = guard
        self._volume_api = volume_api
        self._scheduler_client = query.SchedulerQueryClient()

    def changing_numa(
        self, instance: objects.Instance, record: ServerRecord, plan: Plan,
    ) -> Collection[str]:
        """Return the overrides that change NUMA, if Nova's guard says so.

        :returns: empty when the topology stays the same; the name of the whole
            parameter when the image alone changes it
        """
        flavor, merged = plan.change.flavor, plan.image
        try:
            # A copy, because ImageMetaProps.from_dict changes its argument.
            self._guard(instance, boot_metadata(merged), flavor)
        except REFUSALS:
            before, after = (Guest.of(flavor, boot_metadata(each))
                             for each in (record.image, merged))
            fields = api_interfaces.CHECKED['numa_get_constraints']
            change = plan.change
            differing = [
                each for each in (
                    change.after.get(name) or change.before[name]
                    for name in change.differing)
                if each.prop.field in fields and before.prop(each.prop.field)
                != after.prop(each.prop.field)]
            makes = [each for each in differing if each.prop.record.in_topology]
            return [each.name for each in makes or differing] or [
                errors.PARAMETER]
        return ()

    def is_asked_by_nova(
        self, context: Any, instance: objects.Instance, image: dict[str, Any],
    ) -> bool:
        """Return whether Nova itself schedules a rebuild from IMAGE.

        The image of a volume-backed server is that of its volume, as in Nova.
        """
        if instance.image_ref:
            return bool(instance.image_ref != image['id'])
        root = compute_utils.get_root_bdm(context, instance)
        volume = self._volume_api.get(context, root.volume_id)
        return bool(image['id'] != volume.get(
            'volume_image_metadata', {}).get('image_id'))

    def require(
        self, context: Any, instance: objects.Instance,
        spec: objects.RequestSpec, wanted: objects.ImageMeta,
        names: Collection[str], remedy: str,
    ) -> None:
        """Require that the server's host may have the image metadata WANTED.

        :param spec: the server's request spec as stored; it is not saved, and
            Nova notes the request-level parameters of its image there
        :param names: the overrides that a refusal is to name
        :param remedy: what the caller can do instead, and why
        :raises errors.Conflict: it may not, or there was no answer
        """
        before, spec = spec, spec.obj_clone()
        spec.image = wanted
        try:
            self._require_traits(context, instance, before, spec, names, remedy)
            self._require_host(context, instance, spec)
        except exception.NoValidHost:
            raise errors.Conflict.of(
                names or [errors.PARAMETER], errors.UNSCHEDULABLE,
                'the scheduler does not let a server with these image '
                f'properties be on the host that this one is on, {remedy}'
            ) from None
        except (_SchedulerError,
                keystone_exceptions.ClientException,
                exception.ConsumerAllocationRetrievalFailed,
                exception.ResourceProviderTraitRetrievalFailed):
            raise errors.Conflict.of(
                names or [errors.PARAMETER], errors.SCHEDULER_UNAVAILABLE,
                'the scheduler or placement did not answer whether the '
                'server\'s host may have them, nothing has changed: try again '
                'later, and ask the operator if that does not help') from None

    def _require_host(
        self, context: Any, instance: objects.Instance,
        spec: objects.RequestSpec,
    ) -> None:
        """Ask the filters that Nova runs for a rebuild.

        The request is prepared as in API.rebuild and the conductor's
        rebuild_instance: only the server's own host, in its own cell.
        """
        if 'scheduler_hints' not in spec:
            spec.scheduler_hints = {}
        # So that nothing can save this copy.
        del spec.id
        spec.scheduler_hints['_nova_check_type'] = ['rebuild']
        spec.force_hosts = [instance.host]
        spec.force_nodes = [instance.node]
        cell = objects.InstanceMapping.get_by_instance_uuid(
            context, instance.uuid).cell_mapping
        if spec.requested_destination:
            spec.requested_destination.cell = cell
        else:
            spec.requested_destination = objects.Destination(cell=cell)
        spec.ensure_project_and_user_id(instance)
        spec.ensure_network_information(instance)
        try:
            self._scheduler_client.select_destinations(
                context, spec, [instance.uuid], return_objects=True,
                return_alternates=False)
        except exception.NoValidHost:
            raise
        except Exception as exc:
            # What a filter raises comes as its own class, or as RemoteError.
            LOG.exception('The scheduler failed', instance=instance)
            raise _SchedulerError from exc

    def _require_traits(
        self, context: Any, instance: objects.Instance,
        before: objects.RequestSpec, after: objects.RequestSpec,
        names: Collection[str], remedy: str,
    ) -> None:
        """Require of the server's host the traits that the image requires.

        As ComputeTaskManager._validate_image_traits_for_rebuild, which does not
        know of those that Nova derives from other properties (Secure Boot).
        """
        required = {*_required(after) - _required(before),
                    *properties_of(after.image)['traits_required']}
        if not required:
            return
        placement = report.report_client_singleton()
        held: set[str] = set()
        for provider in placement.get_allocs_for_consumer(
                context, instance.uuid)['allocations']:
            held.update(placement.get_provider_traits(context, provider).traits)
        missing = required - held
        if missing:
            raise errors.Conflict(
                errors.Problem(name, errors.UNSCHEDULABLE, 'the host that '
                               f'this server is on lacks {what}, {remedy}')
                for name, what in _lacking(missing, names))


def _lacking(
    missing: Collection[str], names: Collection[str],
) -> Iterator[tuple[str, str]]:
    """Return who is to blame for MISSING traits, each with what is missing.

    Those of NAMES that name no trait are to blame for traits that nobody
    names: Nova does not say what else requires one.
    """
    traits = {name: families.TRAITS.rest_of(name) for name in names
              if families.TRAITS.has(name)}
    for name, trait in traits.items():
        if trait in missing:
            yield name, f'the trait {trait}'
    others = sorted({*missing} - {*traits.values()})
    if others:
        # An image may require a hundred.
        first, more = ', '.join(others[:3]), len(others) - 3
        for name in {*names} - traits.keys() or [errors.PARAMETER]:
            yield name, f'the trait {first}' + (
                f' and {more} more' if more > 0 else '')


def _required(spec: objects.RequestSpec) -> frozenset[str]:
    """Return the traits that flavor and image require of any provider."""
    group = scheduler_utils.ResourceRequest.from_request_spec(
        spec).get_request_group(None)
    return frozenset(group.required_traits)
