"""What Horizon's Launch Instance sends, for python-novaclient.

Horizon's own code for this has fixed arguments and a fixed microversion
(api/rest/nova.py Servers.post, api/nova.py server_create).
"""

import collections.abc
import typing

#: Keys of what the wizard sends -> arguments of servers.create.
ARGUMENTS = {
    'admin_pass': 'admin_pass',
    'availability_zone': 'availability_zone',
    'block_device_mapping': 'block_device_mapping',
    'block_device_mapping_v2': 'block_device_mapping_v2',
    'config_drive': 'config_drive',
    'description': 'description',
    'disk_config': 'disk_config',
    'instance_count': 'min_count',
    'key_name': 'key_name',
    'meta': 'meta',
    'nics': 'nics',
    'scheduler_hints': 'scheduler_hints',
    'security_groups': 'security_groups',
    'user_data': 'userdata',
}

#: What the wizard calls a network that Nova creates.
AUTOMATIC = '__auto_allocate__'


def arguments(
    data: collections.abc.Mapping[str, typing.Any],
) -> dict[str, typing.Any]:
    """Return the arguments of servers.create besides name, image and flavor.

    :param data: what the wizard sends
    """
    made = {argument: data[key] for key, argument in ARGUMENTS.items()
            if data.get(key) is not None}
    if any(nic.get('net-id') == AUTOMATIC for nic in made.get('nics', ())):
        made['nics'] = 'auto'
    return made
