"""Which image properties a driver reads, as it reads them."""

import collections.abc
import contextlib
import functools
import sys
import threading
import typing

import fixtures
from nova import objects

#: The modules that Nova's objects are made of.
_OBJECTS = ('nova.objects', 'oslo_versionedobjects')


class Reads(fixtures.Fixture):
    """Keeps the names of the image properties that a driver's methods read.

    To see that a property is not set is a read, too, so no value needs to be
    tried to find out that a driver does not know a property.

    :ivar names: what was read since ``METHODS`` were wrapped
    """

    def __init__(self, driver: typing.Any, *methods: str) -> None:
        self._driver = driver
        self._methods = methods
        self._local = threading.local()
        self.names: set[str] = set()

    def _setUp(self) -> None:
        properties = objects.ImageMetaProps
        for name in ('__getattribute__', 'get', 'obj_attr_is_set'):
            self.useFixture(fixtures.MockPatchObject(
                properties, name, self._heard(getattr(properties, name))))
        for name in self._methods:
            self.useFixture(fixtures.MockPatchObject(
                self._driver, name,
                self._watched(getattr(self._driver, name))))

    def _heard(
        self, original: collections.abc.Callable[..., typing.Any],
    ) -> collections.abc.Callable[..., typing.Any]:
        fields = objects.ImageMetaProps.fields

        def read(properties: typing.Any, name: str, *args: typing.Any,
                 **kwargs: typing.Any) -> typing.Any:
            # Objects read all their fields when they are copied or sent.
            if getattr(self._local, 'inside', False) and name in fields and \
                    not sys._getframe(1).f_globals['__name__'].startswith(
                        _OBJECTS):
                self.names.add(name)
            return original(properties, name, *args, **kwargs)
        return read

    def _watched(
        self, method: collections.abc.Callable[..., typing.Any],
    ) -> collections.abc.Callable[..., typing.Any]:
        @functools.wraps(method)
        def call(*args: typing.Any, **kwargs: typing.Any) -> typing.Any:
            with self._inside():
                return method(*args, **kwargs)
        return call

    @contextlib.contextmanager
    def _inside(self) -> collections.abc.Iterator[None]:
        self._local.inside = True
        try:
            yield
        finally:
            self._local.inside = False
