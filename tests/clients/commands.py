"""What several tests type, and what they read of it."""

import json

CREATE = ('server', 'create', '--image', 'debian', '--flavor', 'two-cpus')
CHECK = ('image', 'override', 'check', '--flavor', 'two-cpus')
OF_IMAGE = (*CHECK, '--image', 'debian')
BOOT = ('boot', '--image', 'debian', '--flavor', 'two-cpus', '--nic', 'none')


def overriding(*overrides):
    return [word for override in overrides
            for word in ('--image-prop-override', override)]


def created(client, *arguments):
    """Create a server and return its id once it is ACTIVE."""
    return client.openstack(
        *CREATE, '--wait', '-f', 'value', '-c', 'id', *arguments,
        'guest').split()[-1]


def answer(client, *arguments):
    return json.loads(client.openstack(*arguments, '-f', 'json'))


def nova(client, *arguments):
    # It does not read clouds.yaml.
    return client.run(
        'nova', *arguments, OS_AUTH_URL=f'{client.url}/identity/v3',
        OS_USERNAME='demo', OS_PASSWORD='demo', OS_PROJECT_NAME='demo',
        OS_USER_DOMAIN_NAME='Default', OS_PROJECT_DOMAIN_NAME='Default')


def creates(client):
    return [request for request in client.seen.compute('POST')
            if request.path.endswith('/servers')]
