"""Nova's scheduler, asked which hosts can take a server: nothing is claimed.

It runs Nova's own steps in the process that asks: request filters, Placement,
``HostManager`` and the enabled filters one after the other.
"""
from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
import contextlib
import copy
import dataclasses
import re
from typing import Any, NamedTuple
import urllib.parse

from keystoneauth1 import exceptions as keystone_exceptions
from nova import exception
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import manager
from nova.scheduler import utils as scheduler_utils
from nova.scheduler.client import report
from nova.virt import hardware
import oslo_messaging

from nova_image_override import errors
from nova_image_override.api.change.plan import Change
from nova_image_override.api.guest import guest
from nova_image_override.nova_interfaces import interface

#: Questions about one server, besides the first.
QUESTIONS_MAX = 10

#: What marks a resource provider that is no host, but shared by some.
_SHARED = 'MISC_SHARES_VIA_AGGREGATE'

#: Parameters of Placement's queries whose values are lists of parts.
_LISTS = 'required', 'resources'
_PARAMETER = re.compile(f'(?:root_)?({"|".join(_LISTS)}|member_of|in_tree)')


class Part(NamedTuple):
    """One thing that is asked of Placement, as its queries spell it."""

    name: str
    value: str


@dataclasses.dataclass
class Answer:
    """Which hosts can take a server; each is the UUID of a compute node.

    :ivar able: those that can
    :ivar refused: host -> the filter that refuses it
    :ivar parts: what Placement was asked for
    :ivar reason: why it was not asked at all
    :ivar left_out: whether a candidate of Placement was not looked at, because
        there are too many, or its cell does not answer
    """

    able: set[str] = dataclasses.field(default_factory=set)
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    parts: Sequence[Part] = ()
    reason: str = ''
    left_out: bool = False


@contextlib.contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except keystone_exceptions.ClientException as exc:
        raise exception.PlacementAPIConnectFailure(
            f'Placement does not answer: {exc}') from None


class Placement(report.SchedulerReportClient):
    """Nova's client of Placement, which keeps what was asked last.

    :raises exception.PlacementAPIConnectFailure: it is not known where it is
    """

    parts: Sequence[Part] = ()

    def __init__(self) -> None:
        with _answering():
            super().__init__()

    @interface.overrides
    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Send a GET request.

        :raises exception.PlacementAPIConnectFailure: there is no answer
        """
        with _answering():
            answer = super().get(*args, **kwargs)
        # 400: a trait or class of resources that Placement has never heard of.
        if answer.status_code not in (200, 400):
            raise exception.PlacementAPIConnectFailure(
                f'Placement answers {answer.status_code}, see its log')
        return answer

    @interface.overrides
    def get_allocation_candidates(self, context: Any, resources: Any) -> Any:
        """Get candidates; none where no host has what is asked for.

        Of these SchedulerManager.select_destinations has a list to add to.
        """
        self.parts = _parts(resources.to_querystring())
        found = super().get_allocation_candidates(context, resources)
        return ([], {}, None) if found[0] is None else found

    def having(self, part: Part) -> set[str]:
        """Return the roots of the resource providers that have PART."""
        query = urllib.parse.urlencode([part])
        answer = self.get(f'/resource_providers?{query}',
                          version=report.SAME_SUBTREE_VERSION)
        return {each['root_provider_uuid']
                for each in answer.json().get('resource_providers', ())}


def _parts(query: str) -> list[Part]:
    """Take apart a query of ``ResourceRequest.to_querystring``.

    Each part is one that ``GET /resource_providers`` understands.
    """
    found: set[Part] = set()
    for key, value in urllib.parse.parse_qsl(query):
        if parameter := _PARAMETER.match(key):
            name = parameter[1]
            values = value.split(',') if name in _LISTS and not (
                value.startswith('in:')) else [value]
            found |= {Part(name, each) for each in values}
    return sorted(found)


class HostManager(host_manager.HostManager):
    """Nova's, which reads the servers of those hosts only that it looks at.

    :ivar not_asked: names of the enabled filters that are left out
    :ivar is_partial: whether a cell has not answered
    """

    not_asked: Sequence[str] = ()
    is_partial = False

    @interface.overrides
    def _init_instance_info(self, computes_by_cell: Any = None) -> None:
        """Do not read the servers of all cells ahead."""

    @interface.overrides
    def _get_computes_for_cells(
        self, context: Any, cells: Any, compute_uuids: Any,
    ) -> Any:
        """Note whether all cells answer: Nova's answer has those that do."""
        found = super()._get_computes_for_cells(context, cells, compute_uuids)
        self.is_partial = len(found[0]) < len(cells)
        return found


class OwnFilters(HostManager):
    """The same with Nova's own filters only, as nova-api asks them.

    Those of others may need what only a scheduler has. NUMATopologyFilter is
    always asked: the claim on the host fits the topology, too.
    """

    @interface.overrides
    def _load_filters(self) -> list[str]:
        """Leave out the filters of others."""
        interface.require(self, 'filter_cls_map')
        names = [*super()._load_filters(), 'NUMATopologyFilter']
        own = {name for name, each in self.filter_cls_map.items()
               if each.__module__.startswith('nova.')}
        self.not_asked = sorted({*names} - own)
        return [each for each in dict.fromkeys(names) if each in own]


class Scheduler(manager.SchedulerManager):
    """Nova's scheduler, which ends where it would begin to claim.

    :param most: candidates of Placement to look at, by Nova's own filters;
        None for all, by all filters
    :raises exception.PlacementAPIConnectFailure: Placement does not answer
    """

    #: In releases from 28 on, Nova's is a property.
    placement_client: Any = None

    def __init__(self, most: int | None = None) -> None:
        # Not super().__init__: it is for a service, with periodic tasks.
        self.host_manager = (HostManager if most is None else OwnFilters)()
        interface.require(self.host_manager, 'enabled_filters')
        self.placement_client = Placement()
        self._most = most
        self._filters = self.host_manager.enabled_filters

    def ask(self, context: Any, spec: objects.RequestSpec) -> Answer:
        """Return which hosts can take a server.

        :param spec: its request spec; left unchanged
        :raises exception.PlacementAPIConnectFailure: Placement does not answer
        """
        spec = spec.obj_clone()
        placement = self.placement_client
        placement.parts = ()
        # As ComputeTaskManager._schedule_instances does.
        scheduler_utils.setup_instance_group(context, spec)
        try:
            answer: Answer = self.select_destinations(
                context, spec_obj=spec, instance_uuids=[spec.instance_uuid],
                return_objects=True)
        except oslo_messaging.ExpectedException as expected:
            # NoValidHost, for a caller in another process.
            answer = Answer(
                reason='' if placement.parts else str(expected.exc_info[1]))
        answer.parts = placement.parts
        return answer

    @interface.overrides
    def _select_destinations(
        self, context: Any, spec_obj: Any, instance_uuids: Any,
        alloc_reqs_by_rp_uuid: Any, provider_summaries: Any, *args: Any,
    ) -> Any:
        """Filter the candidates, and note which filter refuses each."""
        roots = sorted({
            summary.get('root_provider_uuid') or uuid
            for uuid, summary in provider_summaries.items()
            if _SHARED not in summary['traits']})
        hosts = self.host_manager
        asked = roots[:self._most]
        states = list(hosts.get_host_states_by_uuids(
            context.elevated(), asked, spec_obj))
        # Where all cells have answered, what is missing is no host any more: of
        # a service that was deleted, or of a cell that is disabled.
        answer = Answer(left_out=len(asked) < len(roots) or (
            hosts.is_partial and len(states) < len(asked)))
        # As SchedulerManager._schedule does.
        for state in states:
            state.allocation_candidates = copy.deepcopy(
                alloc_reqs_by_rp_uuid[state.uuid])
        # One step for each filter. Before them come hosts that the request
        # names or forbids.
        steps = {'the hosts that the request names': [], **{
            type(each).__name__: [each] for each in self._filters}}
        for name, hosts.enabled_filters in steps.items():
            before = {state.uuid for state in states}
            try:
                states = list(hosts.get_filtered_hosts(states, spec_obj) or ())
            except Exception as exc:  # nova-scheduler finds none then, either.
                name, states = f'{name}, which fails: {exc!r}', []
            answer.able = {state.uuid for state in states}
            answer.refused.update(dict.fromkeys(before - answer.able, name))
            if not states:
                break
        return answer


# --- which override keeps hosts from taking it -------------------------------

def ask_without(
    scheduler: Scheduler, context: Any, spec: objects.RequestSpec,
    change: Change,
) -> Iterator[tuple[tuple[str, ...], Answer]]:
    """Yield overrides, and which hosts can take the server without them.

    At most :data:`QUESTIONS_MAX`; the last is without any override, where no
    host can take it without one of them.

    :param spec: the request spec of the server, with its overrides
    :param change: the overrides, and what its image has without them
    """
    groups: dict[str, list[str]] = {}
    every = sorted(change.after.names)
    for each in every:
        # Nova refuses one list of a topology without the others.
        groups.setdefault(
            'hw_numa_' if each.startswith('hw_numa_') else each,
            []).append(each)
    specs = [(tuple(names), other) for names in groups.values()
             if (other := _without(names, spec, change)) is not None]
    # Those first that change what Placement is asked for, or the topology.
    mine = _wanted(spec)
    specs.sort(key=lambda each: _wanted(each[1]) == mine)
    found = len(groups) < 2
    for names, other in specs[:QUESTIONS_MAX - 1]:
        answer = scheduler.ask(context, other)
        found = found or bool(answer.able)
        yield names, answer
    if not found and (bare := _without(every, spec, change)) is not None:
        yield tuple(every), scheduler.ask(context, bare)


def _without(
    names: Collection[str], spec: objects.RequestSpec, change: Change,
) -> objects.RequestSpec | None:
    """Return SPEC without the overrides NAMES, None if Nova refuses it."""
    spec = spec.obj_clone()
    rest = change.after.only(change.after.names - {*names})
    try:
        spec.image = guest.read(guest.boot_metadata(
            change.image, rest.merge(change.base)))
        spec.numa_topology = hardware.numa_get_constraints(
            spec.flavor, spec.image)
    except (errors.Invalid, *guest.REFUSALS):
        return None
    return spec


def _wanted(spec: objects.RequestSpec) -> tuple[str, str]:
    return (
        str(scheduler_utils.ResourceRequest.from_request_spec(spec)),
        str(spec.numa_topology and spec.numa_topology.obj_to_primitive()))
