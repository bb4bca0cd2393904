"""Nova's test cases as objects: set up and torn down without a test."""
from __future__ import annotations

import collections.abc
import contextlib
import typing
from unittest import mock

from oslo_config import cfg

from testing.harness import shared

CONF = cfg.CONF


class ByHand:
    """Mixed into one of Nova's test cases: :meth:`running` is what it is for.

    Options, patches and fixtures last until the context ends in which they
    were set: :meth:`running`'s or, within it, :meth:`undone`'s.
    """

    #: Not a test, although Nova makes it of a test case.
    __test__ = False

    def __init__(self, **settings: typing.Any) -> None:
        """Set class attributes for this object alone."""
        super().__init__('setUp')
        vars(self).update(settings)
        self._undo = contextlib.ExitStack()
        self._began = False
        # As oslotest has it: some patches are stopped by nobody else.
        self.addCleanup(mock.patch.stopall)

    @classmethod
    @contextlib.contextmanager
    def running(
        cls, **settings: typing.Any,
    ) -> collections.abc.Iterator[ByHand]:
        """Set up, and tear down at the end of the context.

        There cannot be two in a process, so the shared cloud ends.
        """
        shared.end()
        made = cls(**settings)
        with made._undo:
            made.setUp()
            made._began = True
            yield made
            made.tearDown()

    @contextlib.contextmanager
    def undone(self) -> collections.abc.Iterator[None]:
        """Undo after the context what it sets and patches."""
        with contextlib.ExitStack() as undo:
            outer, self._undo = self._undo, undo
            try:
                yield
            finally:
                self._undo = outer

    def addCleanup(
        self, function: collections.abc.Callable[..., object], /,
        *args: typing.Any, **kwargs: typing.Any,
    ) -> None:
        """Call FUNCTION when the context ends; the last one first."""
        self._undo.callback(function, *args, **kwargs)

    def flags(self, **options: typing.Any) -> None:
        """Set options until the context ends.

        nova.test.TestCase.flags leaves it to the end of the services to reset
        them.
        """
        if self._began:
            group = options.get('group')
            section = CONF[group] if group else CONF
            for name in options.keys() - {'group'}:
                self.addCleanup(
                    CONF.set_override, name, section[name], group)
        super().flags(**options)
