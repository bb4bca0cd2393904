"""Ways to have twenty shapes of one image."""

import os
import pathlib
import sys
import typing
import urllib.error
import urllib.request

import openstack
from openstack.image.v2 import image as image_module

from benchmarks.deployment import shapes
from nova_image_override.client import sdk
from testing.deployment import cloud
from testing.deployment import processes
from testing.deployment import state as state_module
from testing.deployment import tenants

#: Size of the image, in bytes.
SIZE = 256 << 20

_PORT = state_module.PORTS['web']


class Way:
    """One way: what is made once, and what is made for each shape.

    :cvar NAME: its name
    :cvar TITLE: what it does
    :cvar WHO: who may use it, with Nova's and Glance's defaults
    :ivar tenant: the connection of the user who boots the servers
    :ivar operator: the connection of the user who does what tenants may not
    """

    NAME: str
    TITLE: str
    WHO: str

    def __init__(self, deployment: cloud.Cloud, disk: pathlib.Path) -> None:
        self.deployment = deployment
        self.disk = disk
        self.tenant = tenants.connect(deployment.state, 'tenant')
        self.operator = tenants.connect(deployment.state, 'operator')
        self.images: list[str] = []
        self.flavors: list[str] = []

    def open(self) -> None:
        """Do, unmeasured, what the deployer does once for all tenants."""
        guest = self.operator.image.find_image('guest', ignore_missing=False)
        self.guest = {'kernel_id': guest.kernel_id,
                      'ramdisk_id': guest.ramdisk_id}

    def prepare(self) -> None:
        """Make what all shapes share."""

    def server(self, shape: shapes.Shape) -> dict[str, typing.Any]:
        """Make what one shape needs, and return what its server asks for."""
        raise NotImplementedError

    def close(self) -> None:
        """Remove everything."""
        for image in self.images:
            self.operator.image.delete_image(image)
        for flavor in self.flavors:
            self.operator.compute.delete_flavor(flavor)

    def record(self, name: str, **properties: str) -> image_module.Image:
        """Make an image without data."""
        image = self.tenant.image.create_image(
            name, disk_format='raw', container_format='bare',
            allow_duplicates=True, **self.guest, **properties)
        self.images.append(image.id)
        return image

    def upload(self, name: str, **properties: str) -> str:
        """Make an image as tenants must here: by interoperable import."""
        image = self.record(name, **properties)
        with self.disk.open('rb') as data:
            self.tenant.image.stage_image(image, data=data)
        self.tenant.image.import_image(image, method='glance-direct')
        return self.ready(image)

    def ready(self, image: image_module.Image) -> str:
        """Wait for it, with calls that are not the way's; return its id."""
        processes.wait_for(
            lambda: self.deployment.operator.image.get_image(
                image.id).status == 'active', f'image {image.id}', 120)
        return image.id

    def flavor(self, name: str) -> str:
        """Make a flavor, as the operator."""
        flavor = self.operator.compute.create_flavor(
            name=name, vcpus=shapes.VCPUS, ram=128, disk=1)
        self.flavors.append(flavor.id)
        return flavor.id


class _OneFlavor(Way):
    """A way that needs no flavor of its own for each shape."""

    def open(self) -> None:
        """Make the flavor, too."""
        super().open()
        self.one_flavor = self.flavor('shapes')


class _OneImage(Way):
    """A way that uploads one image for all shapes."""

    def prepare(self) -> None:
        """Upload it."""
        self.image = self.upload('shapes')


class Overrides(_OneFlavor, _OneImage):
    """One image, and overrides."""

    NAME = 'overrides'
    TITLE = 'one image, overrides at boot'
    WHO = 'any tenant, for properties that the deployer allows'

    def open(self) -> None:
        """Give the tenant the vendor hook of openstacksdk."""
        super().open()
        sdk.load(self.tenant)

    def server(self, shape: shapes.Shape) -> dict[str, typing.Any]:
        """Name the shape as overrides."""
        return {'image_id': self.image, 'flavor_id': self.one_flavor,
                'image_props_override': shape.properties}


class Images(_OneFlavor):
    """An image for each shape."""

    NAME = 'images'
    TITLE = '20 images, uploaded'
    WHO = 'any tenant, within the quota of images'

    def server(self, shape: shapes.Shape) -> dict[str, typing.Any]:
        """Upload an image with the shape."""
        return {'image_id': self.upload(shape.name, **shape.properties),
                'flavor_id': self.one_flavor}


class Locations(_OneFlavor):
    """An image record for each shape, with its data stored elsewhere."""

    NAME = 'locations'
    TITLE = '20 records over one location'
    WHO = ('any tenant, where Glance has the http store (not by default) and '
           'the data are on a web server')

    def __init__(self, deployment: cloud.Cloud, disk: pathlib.Path) -> None:
        super().__init__(deployment, disk)
        self._web = processes.Process(deployment.state, 'web')
        self._address = state_module.url('web', f'/{disk.name}')

    def open(self) -> None:
        """Serve the disk, and let Glance fetch it."""
        super().open()
        self._web.start([
            sys.executable, '-m', 'http.server', str(_PORT), '--bind',
            '127.0.0.1', '--directory', str(self.disk.parent)])
        self._web.wait_until(self._answers)
        self.deployment.glance.more = {
            'DEFAULT': {'enabled_backends': 'main:file,web:http'},
            # glance_store wants to see the group of every backend.
            'web': {'https_insecure': 'false'},
            'import_filtering_opts': {
                'allowed_hosts': '[127.0.0.1]', 'allowed_ports': f'[{_PORT}]'}}
        self.deployment.glance.restart()

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(urllib.request.Request(  # noqa: S310
                self._address, method='HEAD'))
        except urllib.error.URLError:
            return False
        return True

    def server(self, shape: shapes.Shape) -> dict[str, typing.Any]:
        """Make a record with the shape, and give it the location."""
        image = self.record(shape.name, **shape.properties)
        openstack.exceptions.raise_from_response(self.tenant.image.post(
            f'/images/{image.id}/locations', json={'url': self._address}))
        return {'image_id': self.ready(image), 'flavor_id': self.one_flavor}

    def close(self) -> None:
        """Stop the server, and close Glance again."""
        super().close()
        self._web.kill()
        self.deployment.glance.more = {}
        self.deployment.glance.restart()


class Flavors(_OneImage):
    """A flavor for each shape."""

    NAME = 'flavors'
    TITLE = '20 flavors'
    WHO = ('the operator only; not for disk bus, machine type, kernel '
           'arguments and all else that flavors cannot say')

    def server(self, shape: shapes.Shape) -> dict[str, typing.Any]:
        """Make a flavor with the shape."""
        flavor = self.flavor(f'shapes-{shape.name}')
        self.operator.compute.create_flavor_extra_specs(
            flavor, shape.extra_specs)
        return {'image_id': self.image, 'flavor_id': flavor}


WAYS: list[type[Way]] = [Overrides, Images, Locations, Flavors]


def make_disk(state: state_module.State) -> pathlib.Path:
    """Make the disk, of noise, which no file system stores in less space."""
    path = state.file('saves', 'disk')
    with path.open('wb') as file:
        for _ in range(SIZE >> 20):
            file.write(os.urandom(1 << 20))
    return path
