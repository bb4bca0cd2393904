"""Barbican's WSGI application, whose own module looks in /etc/barbican only."""

import pathlib

from paste import deploy

application = deploy.loadapp(
    f'config:{pathlib.Path.home()}/.barbican/barbican-api-paste.ini')
