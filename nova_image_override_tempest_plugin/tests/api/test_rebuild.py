"""Servers with overrides that are rebuilt."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions

from nova_image_override import errors
from nova_image_override_tempest_plugin.tests import base

CONF = config.CONF


class RebuildTest(base.BaseOverridesTest):
    """One server, rebuilt from its own image."""

    @classmethod
    def skip_checks(cls):
        super().skip_checks()
        if not CONF.image_props_override.rebuild:
            raise cls.skipException('[image_props_override] rebuild is false')

    def rebuilt(self, server, asked, in_force):
        """Assert what a rebuild with ASKED leaves in force."""
        answer = self.rebuild(server['id'], asked)
        self.assertEqual(in_force, answer[errors.PARAMETER])
        self.assertEqual(in_force, self.in_force(server['id']))

    @decorators.idempotent_id('e3bb5867-57e7-4609-b050-08bdf507891f')
    def test_one_that_says_nothing_keeps_them_and_an_empty_object_drops_them(
            self):
        overrides = self.some(1)
        server = self.boot(overrides)
        self.rebuilt(server, None, overrides)
        self.rebuilt(server, {}, {})

    @decorators.idempotent_id('885d93c1-7e93-4cc5-a85e-f28adb6e1ccc')
    def test_a_rebuild_with_overrides_replaces_them_all(self):
        one, other = ({name: value} for name, value in self.some(2).items())
        self.rebuilt(self.boot(one), other, other)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('239cff4d-7557-40fa-8ba9-2f0324f6b039')
    def test_a_refused_rebuild_changes_nothing(self):
        overrides = self.some(1)
        server = self.boot(overrides)
        client = self.servers_client
        before = client.show_server(server['id'])['server']
        for kind, asked, codes in (
                (exceptions.BadRequest, {'hw_disk_bus': 'scssi'},
                 {'hw_disk_bus': errors.INVALID_VALUE}),
                (exceptions.BadRequest, None,
                 {errors.PARAMETER: errors.INVALID_TYPE}),
                (exceptions.Forbidden, {'img_owner_id': 'me'},
                 {'img_owner_id': errors.NEVER})):
            self.assertEqual(codes, self.refused(
                kind, client.rebuild_server, server['id'], self.image_ref,
                **{errors.PARAMETER: asked}))
        self.assertEqual(before, client.show_server(server['id'])['server'])

    @decorators.attr(type='negative')
    @decorators.idempotent_id('e326bd23-dc82-4ec3-a340-9755c95412d7')
    def test_a_rebuild_that_does_not_name_the_extension_is_refused(self):
        overrides = self.some(1)
        server = self.boot(overrides)
        self.assertEqual(
            {errors.PARAMETER: errors.VERSION_MISSING},
            self.refused(
                exceptions.BadRequest,
                self.plain_servers_client.rebuild_server, server['id'],
                self.image_ref, **{errors.PARAMETER: {}}))
        self.assertEqual(overrides, self.in_force(server['id']))
