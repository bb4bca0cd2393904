"""What a check tells of hosts: no host's name, and no number of hosts."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nova import exception
from nova import objects

from nova_image_override import errors
from nova_image_override.api.change.plan import Change
from nova_image_override.hosts import scheduler as host_scheduler
from nova_image_override.nova_interfaces import scheduler as interfaces

#: Candidates of Placement that are looked at.
MOST = 50


def of(
    context: Any, spec: objects.RequestSpec, change: Change,
) -> dict[str, Any]:
    """Return whether a host can take a server now, and what is in the way.

    :param spec: the request spec of the server
    :param change: its overrides
    """
    try:
        interfaces.verify()
        scheduler = host_scheduler.Scheduler(MOST)
        answer = scheduler.ask(context, spec)
        possible = bool(answer.able) or (answer.left_out and 'unknown')
        return {
            'possible': possible,
            'in_the_way': {} if possible else _in_the_way(
                answer, host_scheduler.ask_without(
                    scheduler, context, spec, change)),
            'not_asked': [
                *scheduler.host_manager.not_asked,
                *[f'hosts beyond {MOST}, or in a cell that does not answer']
                * (possible == 'unknown')]}
    except exception.PlacementAPIConnectFailure:
        missing = 'Placement'
    except (errors.UnsupportedNova, ImportError):
        missing = 'the scheduler of this Nova'
    return {'possible': 'unknown', 'in_the_way': {}, 'not_asked': [missing]}


def _in_the_way(
    answer: host_scheduler.Answer,
    asked: Iterable[tuple[tuple[str, ...], host_scheduler.Answer]],
) -> dict[str, str]:
    """Return the overrides without which a host can take the server."""
    found: dict[str, str] = {}
    for names, other in asked:
        if not other.able:
            continue
        parts = [each.value for each in answer.parts
                 if each not in other.parts]
        who = ', '.join(sorted({*answer.refused.values()}))
        what = f'refused by {who}' if who else 'Placement has no host with ' \
            + (', '.join(parts) or 'all of it')
        alone = 'it' if len(names) == 1 else ', '.join(names)
        found.update(dict.fromkeys(
            names, f'{what}: without {alone} there is a host'))
    return found
