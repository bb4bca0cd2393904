"""What a create would get, asked without creating anything."""

from tempest.lib import decorators
from tempest.lib import exceptions

from nova_image_override import errors
from nova_image_override_tempest_plugin.tests import base


class CheckTest(base.BaseOverridesTest):
    """POST /image-props-override/check."""

    @decorators.idempotent_id('1f84633a-771c-4193-b931-abc6cfe23a35')
    def test_it_tells_what_a_server_then_has(self):
        overrides = self.some(1)
        told = self.servers_client.check_server(
            imageRef=self.image_ref, flavorRef=self.flavor_ref,
            **{errors.PARAMETER: overrides})[errors.PARAMETER]
        self.assertEqual(overrides, {
            name: each['value'] for name, each in told['overridden'].items()})
        server = self.boot(overrides)
        self.assertEqual(overrides, self.in_force(server['id']))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('6ea4e99b-5a0d-46a8-8760-1444feb9f8f6')
    def test_a_refusal_is_that_of_a_create(self):
        for overrides in {'hw_no_such_property': 'x'}, {'img_signature': 'x'}:
            kind = exceptions.Forbidden if 'img_signature' in overrides \
                else exceptions.BadRequest
            self.assertEqual(
                self.create_refused(kind, overrides),
                self.refused(
                    kind, self.servers_client.check_server,
                    imageRef=self.image_ref, flavorRef=self.flavor_ref,
                    **{errors.PARAMETER: overrides}))
