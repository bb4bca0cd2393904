"""Counting what a client sends."""

import typing

import openstack
import requests
from requests import adapters


class Counter(adapters.HTTPAdapter):
    """Sends the requests of a connection, and counts them.

    :ivar calls: how many requests
    :ivar sent: bytes of their bodies
    """

    def __init__(self) -> None:
        self.calls = self.sent = 0
        super().__init__()

    @classmethod
    def of(cls, connection: openstack.connection.Connection) -> 'Counter':
        """Count the requests of CONNECTION from now on."""
        counter = cls()
        connection.session.mount('http://', counter)
        return counter

    def send(
        self, request: requests.PreparedRequest, *args: typing.Any,
        **kwargs: typing.Any,
    ) -> requests.Response:
        """Count one request, and send it."""
        self.calls += 1
        self.sent += int(request.headers.get('Content-Length', 0))
        return super().send(request, *args, **kwargs)
