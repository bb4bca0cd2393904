"""Methods of nova-compute's classes, over Nova's own that only note a call."""

from unittest import mock

import pytest

from nova_image_override.nova_interfaces import interface


@pytest.fixture(scope='package', autouse=True)
def registered():
    interface.verify([])


@pytest.fixture
def ask():
    """Return a function that calls a method of one of our classes.

    It returns what the method does, and what Nova's method of the same name is
    given, which answers with ANSWER.
    """
    def call(ours, name, *args, answer=None, **attributes):
        made = object.__new__(ours)
        vars(made).update(attributes)
        with mock.patch.object(
                ours.__base__, name, return_value=answer) as novas:
            result = getattr(made, name)(*args)
        novas.assert_called_once()
        return result, novas.call_args.args
    return call
