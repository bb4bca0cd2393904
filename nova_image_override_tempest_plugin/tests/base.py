"""What the tests of the extension share."""
from __future__ import annotations

import json
import typing

import jsonschema
from tempest import config
from tempest.api.compute import base
from tempest.common import waiters
from tempest.lib import exceptions
from tempest.lib.common.utils import data_utils

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override.client import answers

CONF = config.CONF


class BaseOverridesTest(base.BaseV2ComputeTest):
    """One user of the project, and what the cloud offers to that user.

    :cvar servers_client: names the extension in every request
    :cvar plain_servers_client: Tempest's own, which does not
    :cvar offer: what discovery says
    :cvar offered: those of ``[image_props_override] overrides`` that the
        user may set
    """

    credentials = ['primary']

    @classmethod
    def skip_checks(cls) -> None:
        super().skip_checks()
        if not CONF.service_available.image_props_override:
            raise cls.skipException(
                '[service_available] image_props_override is false')

    @classmethod
    def setup_clients(cls) -> None:
        manager = cls.os_primary
        ours = manager.image_props_override
        cls.discovery_client = ours.DiscoveryClient()
        cls.plain_servers_client = manager.servers_client
        # Tempest's own methods, such as create_test_server, take it from there.
        manager.servers_client = ours.ServersClient(
            enable_instance_password=(
                CONF.compute_feature_enabled.enable_instance_password))
        super().setup_clients()

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        try:
            answer = cls.discovery_client.show_offer()
        except exceptions.NotFound:
            raise exceptions.InvalidConfiguration(
                '[service_available] image_props_override is true, and this '
                f'cloud does not have the extension: GET {versions.PATH} '
                'answers 404') from None
        cls.offer = answers.Discovery.of(answer[errors.PARAMETER])
        cls.servers_client.version = str(cls.offer.version)
        cls.offered = {
            name: value for name, value
            in CONF.image_props_override.overrides.items()
            if cls.may(name, value)}

    @classmethod
    def may(cls, name: str, value: str | None) -> bool:
        """Return whether discovery lets the user send this."""
        return jsonschema.Draft202012Validator(cls.offer.schema).is_valid(
            {name: value})

    @classmethod
    def some(cls, number: int) -> dict[str, str]:
        """Return that many overrides; skip if the user may set fewer."""
        if len(cls.offered) < number:
            raise cls.skipException(
                f'The cloud offers this user {len(cls.offered)} of '
                '[image_props_override] overrides, the test needs '
                f'{number}')
        return dict(list(cls.offered.items())[:number])

    @classmethod
    def a_removable(cls) -> str:
        """Return a property that the user may remove, or skip."""
        for name in cls.offered:
            if cls.may(name, None):
                return name
        raise cls.skipException(
            'The cloud lets this user remove none of '
            '[image_props_override] overrides')

    def boot(
        self, overrides: dict[str, str | None] | None, **more: typing.Any,
    ) -> dict[str, typing.Any]:
        """Return a server that was created with overrides and is ACTIVE.

        :param overrides: None to send none, not even an empty object
        """
        if overrides is not None:
            more[errors.PARAMETER] = overrides
        return self.create_test_server(wait_until='ACTIVE', **more)

    def rebuild(
        self, server_id: str, overrides: dict[str, str | None] | None,
    ) -> dict[str, typing.Any]:
        """Rebuild a server from its image, and wait until it is ACTIVE.

        :returns: the answer's server
        """
        more = {} if overrides is None else {errors.PARAMETER: overrides}
        answer = self.servers_client.rebuild_server(
            server_id, self.image_ref, **more)
        waiters.wait_for_server_status(
            self.servers_client, server_id, 'ACTIVE')
        return answer['server']

    def server(self, overrides: typing.Any) -> dict[str, typing.Any]:
        """Return the body of a create, or of its check, but for a name."""
        return {'imageRef': self.image_ref, 'flavorRef': self.flavor_ref,
                errors.PARAMETER: overrides}

    def in_force(self, server_id: str) -> dict[str, str | None]:
        """Return the overrides that the API shows for a server."""
        shown = self.servers_client.show_server(server_id)['server']
        return shown[errors.PARAMETER]

    def refused(
        self, kind: type[exceptions.RestClientException],
        function: typing.Callable[..., typing.Any], *args: typing.Any,
        **kwargs: typing.Any,
    ) -> dict[str, str]:
        """Return name -> code of the refusal of a call.

        Checks each reason too: it must be in the message for people.
        """
        caught = self.assertRaises(kind, function, *args, **kwargs)
        fault = caught.resp_body
        # Tempest takes the fault out of its one key, or leaves it as it is.
        if isinstance(fault, (str, bytes)):
            fault, = json.loads(fault).values()
        details = fault[errors.PARAMETER]
        for name, problem in details.items():
            self.assertIn(f'{problem["code"]}: {problem["reason"]}',
                          fault['message'])
            self.assertIn(name, fault['message'])
        return {name: problem['code'] for name, problem in details.items()}

    def create_refused(
        self, kind: type[exceptions.RestClientException],
        overrides: typing.Any, client: typing.Any = None,
    ) -> dict[str, str]:
        """Return name -> code of the refusal of a create.

        Also checks that there is no such server afterwards.

        :param client: a servers client; the one that names the extension if
            None
        """
        name = data_utils.rand_name(
            prefix=CONF.resource_name_prefix, name='refused')
        codes = self.refused(
            kind, (client or self.servers_client).create_server, name=name,
            **self.server(overrides))
        self.assertEqual(
            [], self.servers_client.list_servers(name=name)['servers'])
        return codes
