"""Servers that are created with overrides."""

from tempest import config
from tempest.lib import decorators

from nova_image_override import errors
from nova_image_override_tempest_plugin.tests import base

CONF = config.CONF


class ServersTest(base.BaseOverridesTest):
    """Create and show."""

    @decorators.attr(type='smoke')
    @decorators.idempotent_id('6758a1ea-4b4c-41b9-9d1e-a060894f130d')
    def test_a_server_shows_the_overrides_that_it_was_created_with(self):
        overrides = self.some(1)
        server = self.boot(overrides)
        self.assertEqual(overrides, self.in_force(server['id']))
        listed = self.servers_client.list_servers(detail=True)['servers']
        self.assertEqual([overrides], [
            each[errors.PARAMETER] for each in listed
            if each['id'] == server['id']])
        updated = self.servers_client.update_server(
            server['id'], name=server['name'])['server']
        self.assertEqual(overrides, updated[errors.PARAMETER])

    @decorators.idempotent_id('277ccd60-911b-4ed5-8247-7e4d47fcc9ad')
    def test_the_properties_of_the_image_stay(self):
        before = self.images_client.show_image(self.image_ref)
        self.boot(self.some(1))
        self.assertEqual(before, self.images_client.show_image(self.image_ref))

    @decorators.idempotent_id('dfa8fc9f-7ef9-4bf3-bfd3-318eb2bfa8e0')
    def test_servers_without_overrides_show_none(self):
        for overrides in None, {}:
            server = self.boot(overrides)
            self.assertEqual({}, self.in_force(server['id']))

    @decorators.idempotent_id('f07a2767-8ab3-433b-84ee-02e7d2407ac7')
    def test_who_does_not_name_the_extension_sees_nothing_of_it(self):
        server = self.boot(self.some(1))
        # Tempest's schemas take no key that Nova does not have.
        shown = self.plain_servers_client.show_server(server['id'])
        self.assertNotIn(errors.PARAMETER, shown['server'])

    @decorators.idempotent_id('ebe96653-cb19-4181-abb1-feaedddeb055')
    def test_a_removed_property_is_shown_as_null(self):
        overrides = {self.a_removable(): None}
        server = self.boot(overrides)
        self.assertEqual(overrides, self.in_force(server['id']))


class ImagePropertiesTest(base.BaseOverridesTest):
    """From 2.98 on, Nova shows the image properties a guest is built from."""

    min_microversion = '2.98'
    max_microversion = 'latest'

    def properties(self, server):
        """Return the image properties that Nova shows for a server."""
        shown = self.servers_client.show_server(server['id'])['server']
        return shown['image']['properties']

    @decorators.idempotent_id('d77dca8d-f848-45fe-8681-cbe7cddc61a0')
    def test_overrides_are_among_the_properties_that_drivers_read(self):
        overrides = self.some(1)
        properties = self.properties(self.boot(overrides))
        self.assertEqual(overrides, {
            name: properties.get(name) for name in overrides})

    @decorators.idempotent_id('033f7db1-1b3a-475e-8b30-520b4ff069f5')
    def test_properties_that_are_not_overridden_are_the_images_own(self):
        overrides = self.some(1)
        changed, plain = (
            {name: value for name, value in self.properties(server).items()
             if name not in overrides}
            for server in (self.boot(overrides), self.boot(None)))
        self.assertEqual(plain, changed)
