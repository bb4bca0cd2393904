"""What the tests of all drivers share: the cloud, with a different driver."""

import typing

from testing.harness import base

IMAGE = base.IMAGE
PARAMETER = base.PARAMETER


class Cloud(base.Cloud):
    """One compute host with the driver that ``DRIVER`` names.

    It runs ``nova-compute-image-override``. nova-api, conductor, scheduler,
    placement and nova-compute are those of the harness.
    """

    #: ``[DEFAULT] compute_driver``.
    DRIVER = ''

    ADDITIONAL_FILTERS: list[str] = []
    EXTENDED_HOSTS = ('compute1',)

    #: The format of what ``image`` makes; tests of a driver that needs a format
    #: of its own set it.
    DISK_FORMAT = 'raw'

    def start_nova_compute(self, host: str) -> None:
        # Some wait for another process, and machines may be busy.
        self.flags(compute_driver=self.DRIVER, rpc_response_timeout=300)
        self.prepare()
        self.computes[host] = self.start_service('compute', host)

    def prepare(self) -> None:
        """Set what the driver needs, before it starts."""

    @property
    def driver(self) -> typing.Any:
        """The running driver."""
        return self.computes['compute1'].manager.driver

    def image(self, name: str = 'test', /, **properties: typing.Any) -> str:
        image = super().image(name, **properties)
        self.glance.images[image]['disk_format'] = self.DISK_FORMAT
        return image

    def on_a_network(self) -> dict[str, typing.Any]:
        """Return what ``server`` needs for one network interface."""
        return {'networks': [{'uuid': self.neutron.network_1['id']}]}
