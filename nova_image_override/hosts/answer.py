"""What a check tells of hosts: no host's name, and no number of hosts."""
from __future__ import annotations

from typing import Any

from nova import exception

from nova_image_override import errors
from nova_image_override.hosts.question import Question
from nova_image_override.hosts.scheduler import Answer
from nova_image_override.hosts.scheduler import Scheduler
from nova_image_override.hosts.scheduler import Unanswered
from nova_image_override.nova_interfaces import scheduler as interfaces

#: Candidates of Placement that are looked at.
MOST = 50


def of(context: Any, question: Question) -> dict[str, Any]:
    """Return whether a host can take a server now, and what is in the way."""
    try:
        interfaces.verify()
        scheduler = Scheduler(MOST)
        answer = scheduler.ask(context, question.spec)
        possible: bool | str = bool(answer.able) or (
            'unknown' if answer.left_out else False)
        in_the_way = _in_the_way(context, question, scheduler, answer) \
            if possible is False else {}
    except Unanswered:
        return _told('unknown', ['Placement'])
    except (errors.UnsupportedNova, exception.SchedulerHostFilterNotFound):
        return _told('unknown', ['the scheduler of this Nova'])
    return _told(possible, scheduler.not_asked, in_the_way)


def _told(
    possible: bool | str, not_asked: list[str],
    in_the_way: dict[str, str] | None = None,
) -> dict[str, Any]:
    return {'possible': possible, 'in_the_way': in_the_way or {},
            'not_asked': not_asked}


def _in_the_way(
    context: Any, question: Question, scheduler: Scheduler, answer: Answer,
) -> dict[str, str]:
    """Return the overrides without which a host can take the server."""
    found: dict[str, str] = {}
    every = question.overrides.names
    for names, other in question.asked(scheduler, context):
        if not other.able or (found and {*names} == every):
            continue
        parts = [each.value for each in answer.parts
                 if each not in other.parts]
        who = ', '.join(sorted({*answer.refused.values()}))
        what = f'refused by {who}' if who else 'Placement has no host with ' \
            + (', '.join(parts) or 'all of it')
        alone = 'it' if len(names) == 1 else ', '.join(names)
        for name in names:
            found[name] = f'{what}: without {alone} there is a host'
    return found
