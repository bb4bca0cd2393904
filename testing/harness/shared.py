"""One running cloud for many tests.

Starting nova-api, conductor, scheduler, placement and a compute takes longer
than most tests. Tests that ask for the same cloud find it running; each finds
no server and no aggregate, and the images, volumes, ports and options that the
cloud began with.
"""
from __future__ import annotations

import collections.abc
import contextlib
import copy
import typing

import fixtures


def data_of(fake: fixtures.Fixture) -> dict[str, typing.Any]:
    """Return a copy of the dictionaries that one of Nova's fakes holds."""
    return {name: copy.deepcopy(value)
            for name, value in vars(fake).items()
            if isinstance(value, dict) and name != '_details'}


def restore_data(
    fake: fixtures.Fixture, data: dict[str, typing.Any],
) -> None:
    """Give a fake back the dictionaries that :func:`data_of` returned."""
    if any(vars(fake)[name] != value for name, value in data.items()):
        vars(fake).update(copy.deepcopy(data))


class _Running:
    """The cloud that runs.

    :param kind: its class
    :param settings: attributes of the class that are different
    """

    def __init__(self, kind: type, settings: dict[str, typing.Any]) -> None:
        self.what = kind, settings
        self._stack = contextlib.ExitStack()
        self.cloud = self._stack.enter_context(kind.running(**settings))
        self._fakes = [(fake, data_of(fake)) for fake in (
            self.cloud.glance, self.cloud.cinder, self.cloud.neutron)]
        self._aggregates = self._all_aggregates()
        self._computes = dict(self.cloud.computes)

    def _all_aggregates(self) -> list[dict[str, typing.Any]]:
        return self.cloud.admin_api.api_get(
            '/os-aggregates').body['aggregates']

    @property
    def is_intact(self) -> bool:
        """Whether everything that tests have changed can be put back."""
        return (self.cloud.SHARED and not self.cloud.discarded
                and self.cloud.computes == self._computes)

    def remove_what_was_made(self) -> None:
        api = self.cloud.admin_api
        for server in api.get_servers(
                detail=False, search_opts={'all_tenants': True}):
            api.delete_server(server['id'])
            self.cloud._wait_until_deleted(server)
        for aggregate in self._all_aggregates():
            if aggregate in self._aggregates:
                continue
            for host in aggregate['hosts']:
                api.remove_host_from_aggregate(aggregate['id'], host)
            api.delete_aggregate(aggregate['id'])

    def put_back(self) -> None:
        """Give the fakes back what the cloud began with."""
        for fake, data in self._fakes:
            restore_data(fake, data)
        self.cloud.notifier.reset()

    def end(self) -> None:
        self._stack.close()


_running: _Running | None = None


def end() -> None:
    """End the shared cloud, if it runs."""
    global _running
    ended, _running = _running, None
    if ended:
        ended.end()


@contextlib.contextmanager
def lent(
    kind: type, settings: dict[str, typing.Any],
) -> collections.abc.Iterator[typing.Any]:
    """Yield a cloud, which is after the context what it was before.

    It ends with the context if it was discarded in it, if its services have
    changed, or if the context raises.

    :param kind: the cloud's class
    :param settings: attributes of the class that are different
    """
    global _running
    if _running is None or _running.what != (kind, settings):
        end()
        _running = _Running(kind, settings)
    running = _running
    with contextlib.ExitStack() as ending:
        ending.callback(end)
        with running.cloud.undone():
            yield running.cloud
            intact = running.is_intact
            if intact:
                running.remove_what_was_made()
        if intact:
            running.put_back()
            ending.pop_all()
