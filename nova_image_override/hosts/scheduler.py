"""Nova's scheduler, asked which hosts can take a server: nothing is claimed.

It runs Nova's own steps in the process that asks: request filters, Placement,
``HostManager`` and the enabled filters one after the other.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
import copy
import dataclasses
from typing import Any, NamedTuple
import urllib.parse

from keystoneauth1 import exceptions as keystone_exceptions
from nova import exception
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import manager
from nova.scheduler import utils as scheduler_utils
from nova.scheduler.client import report
import oslo_messaging

from nova_image_override.nova_interfaces import interface

#: What marks a resource provider that is no host, but shared by some.
_SHARED = 'MISC_SHARES_VIA_AGGREGATE'

#: Status of an answer about a trait or class of resources that Placement has
#: never heard of: no host has it.
_NO_SUCH_THING = 400


class Unanswered(Exception):
    """Placement does not answer; the message is one sentence."""


class Host(NamedTuple):
    """A compute node, by the names that Nova knows it by."""

    host: str
    node: str


class Part(NamedTuple):
    """One thing that is asked of Placement, as its queries spell it."""

    name: str
    value: str


@dataclasses.dataclass
class Answer:
    """Which hosts can take a server.

    :ivar able: those that can
    :ivar refused: host -> the filter that refuses it
    :ivar parts: what Placement was asked for
    :ivar reason: why it was not asked at all
    :ivar left_out: whether a candidate of Placement was not looked at, because
        there are too many, or its cell does not answer
    """

    able: list[Host] = dataclasses.field(default_factory=list)
    refused: dict[Host, str] = dataclasses.field(default_factory=dict)
    parts: Sequence[Part] = ()
    reason: str = ''
    left_out: bool = False


class Placement(report.SchedulerReportClient):
    """Nova's client of Placement, which keeps what was asked last."""

    parts: Sequence[Part] = ()
    _status = 0

    @interface.overrides
    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Send a GET request, and keep the status of the answer.

        :raises Unanswered: there is no answer
        """
        try:
            answer = super().get(*args, **kwargs)
        except keystone_exceptions.ClientException as exc:
            raise Unanswered(f'Placement does not answer: {exc}') from None
        self._status = answer.status_code
        return answer

    @interface.overrides
    def get_allocation_candidates(self, context: Any, resources: Any) -> Any:
        """Get candidates; Nova takes no answer for an answer without any.

        :raises Unanswered: there is no answer
        """
        self.parts = _parts(resources.to_querystring())
        found = super().get_allocation_candidates(context, resources)
        if self._status == _NO_SUCH_THING:
            return [], {}, report.SAME_SUBTREE_VERSION
        if found[0] is None:
            raise Unanswered(f'Placement answers {self._status}, see its log')
        return found

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
    found: list[Part] = []
    for key, value in urllib.parse.parse_qsl(query):
        name = 'required' if key == 'root_required' else next(
            (each for each in ('required', 'resources', 'member_of', 'in_tree')
             if key.startswith(each)), '')
        split = name in ('required', 'resources') and not value.startswith(
            'in:')
        if name:
            found += [Part(name, each) for each in (
                value.split(',') if split else [value])]
    return sorted(set(found))


class HostManager(host_manager.HostManager):
    """Nova's, which reads the servers of those hosts only that it looks at.

    :ivar not_asked: names of the enabled filters that are left out
    """

    enabled_filters: list[Any]
    not_asked: Sequence[str] = ()

    @interface.overrides
    def _init_instance_info(self, computes_by_cell: Any = None) -> None:
        """Do not read the servers of all cells ahead."""


class OwnFilters(HostManager):
    """The same with Nova's own filters only, as nova-api asks them.

    Those of others may need what only a scheduler has. NUMATopologyFilter is
    always asked: the claim on the host fits the topology, too.
    """

    def __init__(self) -> None:
        super().__init__()
        self.not_asked = sorted(
            type(each).__name__ for each in self.enabled_filters
            if not _is_novas(each))
        self.enabled_filters = [
            each for each in self.enabled_filters if _is_novas(each)]

    @interface.overrides
    def _load_filters(self) -> list[str]:
        """Add the filter."""
        return list(dict.fromkeys(
            [*super()._load_filters(), 'NUMATopologyFilter']))


def _is_novas(each: object) -> bool:
    return type(each).__module__.startswith('nova.')


class Scheduler(manager.SchedulerManager):
    """Nova's scheduler, which ends where it would begin to claim.

    :param most: candidates of Placement to look at, by Nova's own filters;
        None for all, by all filters
    """

    def __init__(self, most: int | None = None) -> None:
        # Not super().__init__: it is for a service, with periodic tasks.
        self.host_manager: HostManager = (
            HostManager if most is None else OwnFilters)()
        self._placement = Placement()
        self._most = most

    @property
    def placement_client(self) -> Placement:
        """What Nova asks Placement with."""
        return self._placement

    @property
    def not_asked(self) -> list[str]:
        """Names of the enabled filters that are not asked."""
        return [*self.host_manager.not_asked]

    def ask(self, context: Any, spec: objects.RequestSpec) -> Answer:
        """Return which hosts can take a server.

        :param spec: its request spec; left unchanged
        :raises Unanswered: Placement does not answer
        """
        spec = spec.obj_clone()
        self._placement.parts = ()
        try:
            # As ComputeTaskManager._schedule_instances does.
            scheduler_utils.setup_instance_group(context, spec)
            answer: Answer = self.select_destinations(
                context, spec_obj=spec, instance_uuids=[spec.instance_uuid],
                return_objects=True)
        except oslo_messaging.ExpectedException as expected:
            # What SchedulerManager.select_destinations raises for a caller in
            # another process.
            answer = self._none(expected.exc_info[1])
        except exception.NoValidHost as exc:
            answer = self._none(exc)
        answer.parts = self._placement.parts
        return answer

    def _none(self, why: object) -> Answer:
        """Return that no host can take the server; WHY, if nobody was asked."""
        return Answer(reason='' if self._placement.parts else str(why))

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
        looked_at = roots[:self._most]
        states = list(self.host_manager.get_host_states_by_uuids(
            context.elevated(), looked_at, spec_obj))
        # As SchedulerManager._schedule does.
        for state in states:
            state.allocation_candidates = copy.deepcopy(
                alloc_reqs_by_rp_uuid[state.uuid])
        return self._filtered(
            spec_obj, states, len(looked_at) < len(roots)
            or len(states) < len(looked_at))

    def _filtered(
        self, spec: Any, states: list[Any], left_out: bool,
    ) -> Answer:
        answer = Answer(left_out=left_out)
        filters = self.host_manager.enabled_filters
        # One step for each filter. The first is HostManager's own: hosts that
        # the request names or forbids, to which Nova applies no filter.
        self.host_manager.enabled_filters = []
        try:
            steps = [('the hosts that the request names', states)]
            states = list(
                self.host_manager.get_filtered_hosts(states, spec))
            _note(answer, *steps[0], states)
            for each in () if spec.force_hosts or spec.force_nodes \
                    else filters:
                before, states = states, list(
                    self.host_manager.filter_handler.get_filtered_objects(
                        [each], states, spec) or ()) if states else []
                _note(answer, type(each).__name__, before, states)
        finally:
            self.host_manager.enabled_filters = filters
        answer.able = [_host(each) for each in states]
        return answer


def _note(
    answer: Answer, name: str, before: Iterable[Any], after: Iterable[Any],
) -> None:
    left = {_host(each) for each in after}
    answer.refused.update({
        host: name for each in before if (host := _host(each)) not in left})


def _host(state: Any) -> Host:
    return Host(state.host, state.nodename)
