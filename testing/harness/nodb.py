"""What is started, without a cloud around it."""

from nova import test

from nova_image_override import conf as override_conf
from testing.harness import base
from testing.harness import by_hand


class Nova(by_hand.ByHand, test.NoDBTestCase):
    """Sets ``[image_override]``, and needs no database."""

    def setUp(self) -> None:
        super().setUp()
        override_conf.register_opts(base.CONF)

    def override(self, **options: object) -> None:
        """Set options of the extension."""
        self.flags(group=override_conf.GROUP.name, **options)
