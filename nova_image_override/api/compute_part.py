"""Hosts that run the compute part of the extension.

The compute part announces its version in the stats of its compute node
(:mod:`nova_image_override.compute.manager`). An unmodified nova-compute
rewrites those stats when it starts, so nothing stale is left when an operator
goes back to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nova import exception
from nova import objects

from nova_image_override import errors
from nova_image_override import versions

_ASK = ('ask the operator to run nova-compute-image-override '
        f'{versions.COMPUTE_PART} or newer there')


def announced(node: objects.ComputeNode) -> str | None:
    """Return the version of the compute part of NODE, if it has one."""
    return (node.stats or {}).get(errors.PARAMETER)


def require(context: Any, instance: Any, done: str, remedy: str) -> None:
    """Require the compute part on the host of INSTANCE.

    :param done: what would be done to the server, as a participle
    :param remedy: what the caller can do instead
    :raises errors.Conflict: the host does not have it
    """
    if not instance.host:
        # Not built yet, or shelved: Nova itself refuses these states.
        return
    try:
        node = objects.ComputeNode.get_by_host_and_nodename(
            context, instance.host, instance.node)
        ready = versions.does_compute_part(announced(node))
    except exception.ComputeHostNotFound:
        ready = False
    if not ready:
        raise _not_ready(
            f'its host would lose them when the server is {done}: {_ASK}, '
            f'{remedy}')


def require_anywhere(context: Any, host: str | None, lost: str) -> None:
    """Require the compute part on every host that a server may move to.

    :param host: the host that the caller names, if any
    :param lost: what could happen without it
    :raises errors.Conflict: a possible destination does not have it
    """
    nodes: Iterable[objects.ComputeNode]
    if host:
        try:
            nodes = objects.ComputeNodeList.get_all_by_host(context, host)
        except exception.ComputeHostNotFound:
            # Nova itself refuses a host that does not exist.
            return
    else:
        nodes = objects.ComputeNodeList.get_all(context)
    if not all(versions.does_compute_part(announced(node)) for node in nodes):
        raise _not_ready(
            f'{lost}: {_ASK}, or boot another server without these overrides')


def _not_ready(reason: str) -> errors.Conflict:
    return errors.Conflict.of([errors.PARAMETER], errors.HOST_NOT_READY, reason)
