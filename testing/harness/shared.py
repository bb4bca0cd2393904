"""One running cloud for many tests.

Starting nova-api, conductor, scheduler, placement and a compute takes longer
than most tests. Tests of one class, and of classes that only add tests to it,
find them running; each test finds no server and no aggregate, and the images,
volumes, ports and options that the cloud began with.
"""

import contextlib
import copy
import typing
import unittest

import fixtures
from oslo_config import cfg
import testtools

CONF = cfg.CONF


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
    """The one cloud that runs; there cannot be two in a process.

    :ivar owner: the class that it was started for
    """

    def __init__(self, owner: type) -> None:
        self._stack = contextlib.ExitStack()
        self.owner = owner
        self.cloud = self._stack.enter_context(owner.running())
        self._began_with = [(fake, data_of(fake)) for fake in (
            self.cloud.glance, self.cloud.cinder, self.cloud.neutron)]
        self.aggregates = self.cloud.admin_api.api_get(
            '/os-aggregates').body['aggregates']

    def put_back(self) -> None:
        """Give the fakes back what the cloud began with."""
        for fake, data in self._began_with:
            restore_data(fake, data)
        self.cloud.notifier.reset()

    def end(self) -> None:
        self._stack.close()


#: What unittest and pytest set on each class of tests.
_OF_EVERY_CLASS = {'_classSetupFailed', '_class_cleanups', 'pytestmark'}

_running: _Running | None = None


def end() -> None:
    """End the running cloud, if there is one."""
    global _running
    ended, _running = _running, None
    if ended:
        ended.end()


def owner_of(test_class: type) -> type:
    """Return the class on whose cloud the tests of a class run.

    Classes that only add tests to the same class share its cloud.
    """
    return next(
        cls for cls in test_class.__mro__ if any(
            not name.startswith(('test_', '__'))
            for name in vars(cls).keys() - _OF_EVERY_CLASS))


class SharedCloud:
    """A test that runs on a cloud that other tests have run on.

    A test that fails, or changes what is not put back, ends the cloud, and
    the next one starts another.
    """

    #: False where each test changes services, or what ``setUp`` patches.
    SHARED = True

    _joined = False

    def run(self, result: typing.Any = None) -> typing.Any:
        if self.SHARED:
            # In place of those of the classes, which the cloud has run.
            self.setUp, self.tearDown = self._join, self._leave
        else:
            end()
        return super().run(result)

    def _cloud(self) -> typing.Any:
        global _running
        owner = owner_of(type(self))
        if _running is None or _running.owner is not owner:
            end()
            _running = _Running(owner)
        return _running.cloud

    def _join(self) -> None:
        testtools.TestCase.setUp(self)
        # The first one is run last. This is not oslotest's addCleanup, which
        # undoes all patches at the end of the test, the cloud's among them.
        unittest.TestCase.addCleanup(self, self._put_back)
        self.addOnException(lambda exc_info: self.discard_cloud())
        for name, value in vars(self._cloud()).items():
            vars(self).setdefault(name, value)
        self._joined, self._discarded = True, False
        self._hosts = dict(self.computes)

    def _leave(self) -> None:
        testtools.TestCase.tearDown(self)
        if self.computes != self._hosts:
            self.discard_cloud()
        if not self._discarded:
            self._remove_what_was_made()

    def discard_cloud(self) -> None:
        """End the cloud with this test: it changes what is not put back."""
        self._discarded = True

    def _put_back(self) -> None:
        if self._discarded:
            end()
        elif _running:
            _running.put_back()

    def _remove_what_was_made(self) -> None:
        for server in self.admin_api.get_servers(
                detail=False, search_opts={'all_tenants': True}):
            self.admin_api.delete_server(server['id'])
            self._wait_until_deleted(server)
        for aggregate in self.admin_api.api_get(
                '/os-aggregates').body['aggregates']:
            if aggregate in _running.aggregates:
                continue
            for host in aggregate['hosts']:
                self.admin_api.remove_host_from_aggregate(
                    aggregate['id'], host)
            self.admin_api.delete_aggregate(aggregate['id'])

    def flags(self, **options: typing.Any) -> None:
        """Set options for this test, as nova.test.TestCase.flags does.

        The harness resets all of them when it ends, and it does not end with
        a test here.
        """
        if self._joined:
            group = options.get('group')
            section = CONF[group] if group else CONF
            for name in options.keys() - {'group'}:
                self.addCleanup(
                    CONF.set_override, name, section[name], group)
        super().flags(**options)
