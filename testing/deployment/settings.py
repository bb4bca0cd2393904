"""Configuration files of OpenStack services, and what they have in common."""

import configparser
import pathlib

from testing.deployment import state as state_module

#: group -> option -> value
Settings = dict[str, dict[str, str]]


def write(path: pathlib.Path, *layers: Settings) -> None:
    """Write a file of SETTINGS; later layers add to earlier ones."""
    parser = configparser.RawConfigParser(
        default_section='', delimiters=('=',))
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    for layer in layers:
        for group, options in layer.items():
            if not parser.has_section(group):
                parser.add_section(group)
            for option, value in options.items():
                parser.set(group, option, value)
    with path.open('w') as file:
        parser.write(file)


#: What the catalogue calls services to which users' tokens come.
_TYPES = {'cinder': 'block-storage', 'glance': 'image',
          'neutron': 'network', 'nova': 'compute'}


def user(state: state_module.State, name: str) -> dict[str, str]:
    """Return how the service user NAME authenticates."""
    return {
        'auth_type': 'password', 'auth_url': state_module.url('keystone'),
        'username': name, 'password': state.secret(name),
        'project_name': 'service', 'user_domain_name': 'Default',
        'project_domain_name': 'Default', 'region_name': 'RegionOne'}


def common(state: state_module.State, name: str) -> Settings:
    """Return what every service of OpenStack needs."""
    return {
        'keystone_authtoken': {
            **user(state, name),
            'www_authenticate_uri': state_module.url('keystone'),
            'service_token_roles': 'service',
            'service_token_roles_required': 'true',
            # Without it nobody gets in whose application credential has
            # access rules.
            **({'service_type': _TYPES[name]} if name in _TYPES else {})},
        'oslo_concurrency': {'lock_path': str(state.subfolder('locks', name))},
    }


def broker(state: state_module.State, cell: str = '') -> str:
    """Return the transport_url of Nova's services, or of those of a cell."""
    return (f'rabbit://cloud:{state.secret("rabbitmq")}'
            f'@127.0.0.1:{state_module.PORTS["rabbitmq"]}/{cell}')


def database(
    state: state_module.State, name: str, server: str = 'mariadb',
) -> str:
    """Return the address of a database of a server."""
    return (f'mysql+pymysql://cloud:{state.secret("mariadb")}@localhost/'
            f'{name}?unix_socket={state.file(server, "socket")}')
