"""Who and what is in the cloud before the first test: users and images."""

import hashlib
import json
import pathlib

import openstack
from openstack.image.v2 import _proxy as image_proxy

from testing.deployment import flavors
from testing.deployment import guest as guest_module
from testing.deployment import state as state_module

#: Who uses the cloud: their project and their roles.
USERS = {
    'operator': ('admin', ['admin']),
    'tenant': ('demo', ['member']),
    'nfv': ('demo', ['member', 'nfv']),
    'neighbour': ('neighbours', ['member', 'nfv']),
}

#: service type -> address
_ENDPOINTS = {
    'image': state_module.url('glance'),
    'placement': state_module.url('placement'),
    'network': state_module.url('neutron'),
    'compute': state_module.url('nova-api', '/v2.1'),
}


def write_clouds(state: state_module.State) -> pathlib.Path:
    """Write clouds.yaml, in which each user is a cloud; return its path."""
    return state.write(json.dumps({'clouds': {
        name: {
            'region_name': 'RegionOne', 'identity_api_version': '3',
            'auth': {
                'auth_url': state_module.url('keystone', '/v3'),
                # keystone-manage bootstrap makes this one.
                'username': 'admin' if name == 'operator' else name,
                'password': state.secret(name), 'project_name': project,
                'user_domain_name': 'Default',
                'project_domain_name': 'Default'}}
        for name, (project, _) in USERS.items()}}, indent=1), 'clouds.yaml')


def connect(
    state: state_module.State, who: str,
) -> openstack.connection.Connection:
    """Return the SDK's connection of one of the users."""
    loader = openstack.config.OpenStackConfig(
        config_files=[str(write_clouds(state))])
    return openstack.connection.Connection(config=loader.get_one(cloud=who))


def register(state: state_module.State) -> None:
    """Make users, projects, roles and endpoints that are missing.

    Needs Keystone, and must come before the other services.
    """
    identity = connect(state, 'operator').identity
    for role in ('service', 'nfv'):
        if not identity.find_role(role):
            identity.create_role(name=role)
    users = {name: given for name, given in USERS.items()
             if name != 'operator'}
    users |= {name: ('service', ['admin', 'service'])
              for name in ('nova', 'glance', 'placement', 'neutron',
                           'barbican', 'cinder', 'heat')}
    for name, (project_name, roles) in users.items():
        project = identity.find_project(project_name) or (
            identity.create_project(name=project_name, domain_id='default'))
        user = identity.find_user(name) or identity.create_user(
            name=name, password=state.secret(name), domain_id='default')
        for role in roles:
            identity.assign_project_role_to_user(
                project, user, identity.find_role(role))
    for kind, address in _ENDPOINTS.items():
        enter(identity, kind, address)


def enter(
    identity: openstack.proxy.Proxy, kind: str, address: str,
    region: str = 'RegionOne',
) -> None:
    """Enter a service in the catalogue, unless it is there.

    :param kind: the service type
    """
    if not any(each.id == region for each in identity.regions()):
        identity.create_region(id=region)
    service = next(identity.services(type=kind), None) or (
        identity.create_service(type=kind, name=kind))
    if not any(identity.endpoints(service_id=service.id, region_id=region)):
        identity.create_endpoint(
            service_id=service.id, interface='public', url=address,
            region_id=region)


def leave(identity: openstack.proxy.Proxy, kind: str) -> None:
    """Take a service that does not run out of the catalogue, if it is there.

    :param kind: the service type
    """
    for service in identity.services(type=kind):
        identity.delete_service(service)


def upload(
    images: image_proxy.Proxy, name: str, path: pathlib.Path,
    disk: str = 'raw', container: str = 'bare', **properties: str,
) -> str:
    """Make an image that everybody may use, and return its id."""
    return images.create_image(
        name, filename=str(path), disk_format=disk, container_format=container,
        visibility='public', allow_duplicates=True, **properties).id


def furnish(state: state_module.State) -> None:
    """Make what is missing or is not what it should be.

    The flavors; ``net``, a network of the project ``demo``; ``guest``, an image
    with a kernel and no other properties, and ``guest-kernel`` and
    ``guest-initrd``, which it boots; ``guest-uefi``, with a kernel that UEFI
    boots, too.
    """
    connection = connect(state, 'operator')
    flavors.furnish(connection.compute)
    network = connection.network
    project = connection.identity.find_project('demo').id
    made = network.find_network('net') or network.create_network(
        name='net', project_id=project)
    # Horizon offers no network whose subnets the user cannot see.
    if not any(network.subnets(network_id=made.id, project_id=project)):
        for other in network.subnets(network_id=made.id):
            network.delete_subnet(other)
        network.create_subnet(
            network_id=made.id, project_id=project,
            ip_version=4, cidr='192.0.2.0/24',
            gateway_ip=None, enable_dhcp=False)
    files = guest_module.Guest(state)

    def image(
        name: str, path: pathlib.Path, disk: str = 'raw',
        container: str = 'bare', **properties: str,
    ) -> str:
        found = connection.image.find_image(name)
        digest = hashlib.sha512(path.read_bytes()).hexdigest()
        if found and (found.hash_value != digest or any(
                getattr(found, key) != value
                for key, value in properties.items())):
            connection.image.delete_image(found)
            found = None
        return found.id if found else upload(
            connection.image, name, path, disk, container, **properties)

    initrd = image('guest-initrd', files.initrd, 'ari', 'ari')
    for name, kernel in (('guest', files.unpacked),
                         ('guest-uefi', files.kernel)):
        image(name, files.disk, ramdisk_id=initrd,
              kernel_id=image(f'{name}-kernel', kernel, 'aki', 'aki'))
