"""What Keystone's middleware does, with tokens that name the user.

Runs in Glance's environment. A token is ``USER:PROJECT:ROLE,ROLE``, which
python-glanceclient sends quoted.
"""

import urllib.parse


class Identity:
    """Set the headers that keystonemiddleware's auth_token sets."""

    def __init__(self, application):
        self._application = application

    def __call__(self, environ, start_response):
        for key in [key for key in environ if key.startswith((
                'HTTP_X_ROLES', 'HTTP_X_USER', 'HTTP_X_PROJECT',
                'HTTP_X_SERVICE_ROLES', 'HTTP_X_IDENTITY'))]:
            del environ[key]
        token = urllib.parse.unquote(environ.get('HTTP_X_AUTH_TOKEN', ''))
        if token.count(':') == 2:
            user, project, roles = token.split(':')
            environ.update({
                'HTTP_X_IDENTITY_STATUS': 'Confirmed',
                'HTTP_X_USER_ID': user, 'HTTP_X_PROJECT_ID': project,
                'HTTP_X_ROLES': roles})
        token = environ.get('HTTP_X_SERVICE_TOKEN', '')
        if token.count(':') == 2:
            environ['HTTP_X_SERVICE_ROLES'] = token.split(':')[2]
        return self._application(environ, start_response)


def filter_factory(global_config, **local_config):
    """Make the filter (``paste.filter_factory``)."""
    return Identity
