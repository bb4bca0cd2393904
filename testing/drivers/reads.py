"""Which image properties a driver looks at, as it does so."""

import collections.abc
import contextlib
import functools
import threading
import typing

import fixtures
from nova import objects


class Reads(fixtures.Fixture):
    """Keeps the names of the image properties that a driver's methods read.

    That a property is not set is a read, too: so no value needs to be tried
    to see that a driver does not know a property.

    :ivar names: what was read since ``METHODS`` were wrapped
    """

    def __init__(self, driver: typing.Any, *methods: str) -> None:
        self._driver = driver
        self._methods = methods
        self._local = threading.local()
        self.names: set[str] = set()

    def _setUp(self) -> None:
        fields = objects.ImageMetaProps.fields
        original = objects.ImageMetaProps.__getattribute__

        def read(properties: typing.Any, name: str) -> typing.Any:
            # ImageMetaProps.get looks whether there is the attribute that
            # holds a field's value; others take the field.
            field = name.removeprefix('_obj_')
            if field in fields and getattr(self._local, 'inside', False):
                self.names.add(field)
            return original(properties, name)

        self.useFixture(fixtures.MockPatchObject(
            objects.ImageMetaProps, '__getattribute__', read))
        for name in self._methods:
            self.useFixture(fixtures.MockPatchObject(
                self._driver, name,
                self._watched(getattr(self._driver, name))))

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
