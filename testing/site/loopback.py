"""What clients need to find the site, and what is in it."""

import pathlib

from testing.site import cloud as cloud_module
from testing.site import site

#: For openstacksdk's clouds.yaml: where our part of it is found.
VENDOR_HOOK = 'nova_image_override.client.sdk:load'

_CLOUD = '''\
  {user}:
    region_name: demo
    auth:
      auth_url: {url}/identity/v3
      username: {user}
      password: {user}
      project_name: demo
      user_domain_name: Default
      project_domain_name: Default
'''


def clouds_yaml(folder: pathlib.Path, url: str, **keys: str) -> pathlib.Path:
    """Write the clouds.yaml that clients of the site need.

    :param url: of the site
    :param keys: more keys for each cloud
    """
    path = folder / 'clouds.yaml'
    path.write_text('clouds:\n' + ''.join(
        _CLOUD.format(user=user, url=url)
        + ''.join(f'    {key}: {value}\n' for key, value in keys.items())
        for user in site.USERS))
    return path


def furnish(cloud: cloud_module.Cloud) -> None:
    """Give the cloud the image and the flavors that the pages name."""
    cloud.image('debian', **cloud_module.IMAGE)
    for name, (vcpus, ram, specs) in cloud_module.FLAVORS.items():
        cloud.flavor(vcpus, ram, name=name, **specs)
