"""What a create would get, asked without creating anything."""

from tempest.lib import decorators
from tempest.lib import exceptions

from nova_image_override import errors
from nova_image_override_tempest_plugin.tests import base


class CheckTest(base.BaseOverridesTest):
    """POST /image-props-override/check."""

    def check(self, overrides):
        """Return the answer to a check of a create with OVERRIDES."""
        return self.servers_client.check_server(
            **self.server(overrides))[errors.PARAMETER]

    @decorators.idempotent_id('1f84633a-771c-4193-b931-abc6cfe23a35')
    def test_it_tells_what_a_server_then_has(self):
        overrides = self.some(1)
        told = self.check(overrides)['overridden']
        self.assertEqual(overrides, {
            name: each['value'] for name, each in told.items()})
        server = self.boot(overrides)
        self.assertEqual(overrides, self.in_force(server['id']))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('6ea4e99b-5a0d-46a8-8760-1444feb9f8f6')
    def test_a_refusal_is_that_of_a_create(self):
        for kind, name in (
                (exceptions.BadRequest, 'hw_no_such_property'),
                (exceptions.Forbidden, 'img_signature')):
            self.assertEqual(
                self.create_refused(kind, {name: 'x'}),
                self.refused(kind, self.check, {name: 'x'}))
