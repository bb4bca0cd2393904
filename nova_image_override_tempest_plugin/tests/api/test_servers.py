"""Servers that are created with overrides."""

from tempest.lib import decorators

from nova_image_override import errors
from nova_image_override_tempest_plugin.tests import base


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

    @decorators.idempotent_id('dfa8fc9f-7ef9-4bf3-bfd3-318eb2bfa8e0')
    def test_servers_without_overrides_show_none(self):
        for overrides in None, {}:
            server = self.boot(overrides)
            self.assertEqual({}, self.in_force(server['id']))

    @decorators.idempotent_id('f07a2767-8ab3-433b-84ee-02e7d2407ac7')
    def test_neither_the_image_nor_another_client_shows_anything_of_it(self):
        before = self.images_client.show_image(self.image_ref)
        server = self.boot(self.some(1))
        self.assertEqual(before, self.images_client.show_image(self.image_ref))
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

    def properties(self, overrides):
        """Return those that Nova shows for a server with OVERRIDES."""
        server = self.boot(overrides)
        shown = self.servers_client.show_server(server['id'])['server']
        return shown['image']['properties']

    @decorators.idempotent_id('d77dca8d-f848-45fe-8681-cbe7cddc61a0')
    def test_what_drivers_read_differs_by_the_overrides_only(self):
        overrides = self.some(1)
        plain, overridden = map(self.properties, (None, overrides))
        self.assertEqual({**plain, **overrides}, overridden)
