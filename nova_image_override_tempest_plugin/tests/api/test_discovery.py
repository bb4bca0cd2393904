"""What a cloud says before anything is asked of it."""

import jsonschema
from tempest.lib import decorators
from tempest.lib import exceptions

from nova_image_override import errors
from nova_image_override import versions
from nova_image_override_tempest_plugin.tests import base


class DiscoveryTest(base.BaseOverridesTest):
    """GET /image-props-override."""

    @decorators.attr(type='smoke')
    @decorators.idempotent_id('c860604d-cc7b-4239-9bb1-706a7c63cee8')
    def test_the_schema_is_a_json_schema_and_describes_every_property(self):
        schema = self.offer.schema
        jsonschema.Draft202012Validator.check_schema(schema)
        for kind in 'properties', 'patternProperties':
            for name, value in schema[kind].items():
                self.assertTrue(value['description'], name)

    @decorators.idempotent_id('95c52104-0328-4f37-8bc3-8fc6483ab2bb')
    def test_no_property_that_describes_the_image_is_offered(self):
        for name in 'img_signature', 'img_owner_id', 'img_mappings':
            self.assertFalse(self.may(name, 'x'), name)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('34c46ad7-4a0c-4809-b435-71999d706163')
    def test_nobody_is_told_without_a_token(self):
        client = self.discovery_client
        response, _ = client.raw_request(
            client.base_url + versions.PATH, 'GET', headers={})
        self.assertEqual(401, response.status)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('20818eb3-f33c-4fb6-9534-e37ac9dc07fb')
    def test_there_is_nothing_below_it(self):
        self.assertRaises(
            exceptions.NotFound, self.discovery_client.get,
            f'{versions.PATH.lstrip("/")}/{errors.PARAMETER}')
