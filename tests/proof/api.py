"""nova-api alone: requests to its application; nobody builds what it accepts.
"""
from __future__ import annotations

import collections.abc
import contextlib
import logging
import typing

import fixtures
from nova import context as nova_context
from nova import objects
import webob

from nova_image_override import metadata_keys
from testing import paste_config
from testing.harness import applications
from testing.harness import base
from testing.harness import statements


class Api(base.Cloud):
    """nova-api, with scheduler, conductor and compute stopped.

    The compute has been there: what Nova accepts depends on the oldest one.

    :ivar writes: statements that changed a database since the test began
    """


    def setUp(self) -> None:
        super().setUp()
        self.stop()
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        self.application = applications.load(paste_config.APP)
        self.unmodified = applications.load(paste_config.NOVA_APP)
        self.writes = 0
        self.useFixture(statements.Statements(self._executed))

    def stop(self) -> None:
        """Stop everything except nova-api."""
        self.stop_services()
        # Messages to them: nobody listens.
        self.useFixture(fixtures.MockPatch(
            'oslo_messaging.transport.RPCTransport._send', return_value=None))

    def _executed(self, statement: statements.Statement) -> None:
        self.writes += statement.changes

    @contextlib.contextmanager
    def options(
        self, **options: typing.Any,
    ) -> collections.abc.Iterator[typing.Any]:
        """Yield an application with other rules, while in the context."""
        # The application reads its rules once, when it is made.
        with contextlib.ExitStack() as stack:
            for name, value in options.items():
                base.CONF.set_override(name, value, group='image_override')
                stack.callback(base.CONF.clear_override, name,
                               group='image_override')
            yield applications.load(paste_config.APP)

    def ask(
        self, method: str, path: str, body: typing.Any = None, *,
        app: typing.Any = None, version: str | None = None,
        compute: str = '2.93', content_type: str | None = 'application/json',
    ) -> webob.Response:
        """Send a request as a project member.

        :param app: an application; the extended one by default
        :param version: the whole version header, if not the usual one
        """
        headers = {
            **applications.MEMBER, 'X-Auth-Project-Id': self.api.project_id,
            **applications.version_header(compute, named=True)}
        if version is not None:
            headers[applications.versions.HEADER] = version
        request = applications.request(
            method, path, body, headers=headers, content_type=content_type)
        return request.get_response(app or self.application)

    def accepted(self, server_id: str) -> dict[str, typing.Any]:
        """Return the system metadata of a server that nobody builds."""
        return dict(objects.BuildRequest.get_by_instance_uuid(
            nova_context.get_admin_context(),
            server_id).instance.system_metadata)

    @staticmethod
    def properties(metadata: dict[str, typing.Any]) -> dict[str, typing.Any]:
        """Return the image properties in system metadata."""
        return {key[len(metadata_keys.IMAGE_PREFIX):]: value
                for key, value in metadata.items()
                if key.startswith(metadata_keys.IMAGE_PREFIX)}
