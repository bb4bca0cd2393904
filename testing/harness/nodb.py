"""What is started, without a cloud around it."""

from nova import test

from nova_image_override import conf as override_conf
from testing.harness import base
from testing.harness import shared


class TestCase(test.NoDBTestCase):
    """A test that sets ``[image_override]``, and needs no database."""

    def setUp(self) -> None:
        shared.end()
        # As in base.TestCase.
        self.addCleanup(setattr, self, self._testMethodName, None)
        super().setUp()
        override_conf.register_opts(base.CONF)

    def override(self, **options: object) -> None:
        """Set options of the extension for this test."""
        self.flags(group=override_conf.GROUP.name, **options)
