"""The test that Nova's specification asks for: is the guest built that way?

A tenant cannot see the guest's definition. What a tenant can see is what the
guest writes to its console.
"""

import re

from tempest import config
from tempest.lib import decorators
from tempest.lib.common.utils import data_utils
from tempest.lib.common.utils import test_utils

from nova_image_override_tempest_plugin.tests import base

CONF = config.CONF


class GuestTest(base.BaseOverridesTest):
    """What guests write to their consoles."""

    @classmethod
    def skip_checks(cls):
        super().skip_checks()
        if not CONF.compute_feature_enabled.console_output:
            raise cls.skipException(
                '[compute-feature-enabled] console_output is false')

    def console(self, server):
        """Return what a server's guest has written."""
        return self.servers_client.get_console_output(server['id'])['output']

    def wait_to_read(self, server, pattern):
        """Wait until the guest has written what matches PATTERN."""
        read = test_utils.call_until_true(
            lambda: re.search(pattern, self.console(server)),
            CONF.compute.build_timeout, CONF.compute.build_interval)
        self.assertTrue(
            read, f'Within {CONF.compute.build_timeout} s the guest did not '
                  f'write {pattern}, but: {self.console(server)}')

    def kernel_arguments(self):
        """Return a unique command line, and the mark in it.

        Skips if the guest does not get a command line of ours.
        """
        if not self.images_client.show_image(self.image_ref).get('kernel_id'):
            raise self.skipException(
                '[compute] image_ref has no kernel_id: the boot loader in '
                'the image chooses the command line')
        mark = data_utils.rand_name('override_test', prefix='') + '=1'
        line = f'{CONF.image_props_override.kernel_arguments} {mark}'
        if not self.may('os_command_line', line):
            raise self.skipException(
                'The cloud does not offer os_command_line to this user')
        return line, mark

    @decorators.attr(type='smoke')
    @decorators.idempotent_id('375f86fd-7afd-4c5a-a11d-514d4cfda7c1')
    def test_two_servers_of_one_image_have_two_command_lines(self):
        guests = []
        for _ in range(2):
            line, mark = self.kernel_arguments()
            overrides = {'os_command_line': line}
            server = self.boot(overrides)
            self.assertEqual(overrides, self.in_force(server['id']))
            guests.append((server, mark))
        (one, mark_of_one), (other, mark_of_other) = guests
        self.wait_to_read(one, re.escape(mark_of_one))
        self.wait_to_read(other, re.escape(mark_of_other))
        self.assertNotIn(mark_of_other, self.console(one))
        self.assertNotIn(mark_of_one, self.console(other))

    @decorators.idempotent_id('b855364b-aced-4ce8-b86b-e8273fd714e5')
    def test_a_rebuilt_guest_has_the_command_line_of_the_rebuild(self):
        if not CONF.image_props_override.rebuild:
            raise self.skipException('[image_props_override] rebuild is false')
        line, mark = self.kernel_arguments()
        server = self.boot({'os_command_line': line})
        self.wait_to_read(server, re.escape(mark))
        line, mark = self.kernel_arguments()
        self.rebuild(server['id'], {'os_command_line': line})
        self.wait_to_read(server, re.escape(mark))

    @decorators.idempotent_id('779b776a-2444-4f91-a822-595a43dd8158')
    def test_a_removed_property_does_not_reach_the_guest(self):
        if not CONF.compute_feature_enabled.snapshot:
            raise self.skipException(
                '[compute-feature-enabled] snapshot is false')
        line, mark = self.kernel_arguments()
        if not self.may('os_command_line', None):
            raise self.skipException(
                'The cloud does not let this user remove os_command_line')
        # A snapshot is an image of this user's, with the property.
        image = self.create_image_from_server(
            self.boot({'os_command_line': line})['id'], wait_until='ACTIVE')
        self.assertEqual(line, self.images_client.show_image(
            image['id']).get('os_command_line'))
        kept = self.boot(None, image_id=image['id'])
        self.wait_to_read(kept, re.escape(mark))
        removed = self.boot({'os_command_line': None}, image_id=image['id'])
        self.wait_to_read(removed, 'ommand line: ')
        self.assertNotIn(mark, self.console(removed))

    @decorators.idempotent_id('59ee78da-5202-48bc-8279-f03b20367cfe')
    def test_the_guest_is_built_as_the_overrides_say(self):
        options = CONF.image_props_override
        overrides = options.guest_overrides
        if not overrides:
            raise self.skipException(
                '[image_props_override] guest_overrides is empty')
        for name, value in overrides.items():
            if not self.may(name, value):
                raise self.skipException(
                    f'The cloud does not offer {name}={value} to this user')
        changed, plain = self.boot(overrides), self.boot(None)
        self.wait_to_read(changed, options.guest_pattern)
        self.wait_to_read(plain, options.guest_pattern_without)
        self.assertNotRegex(
            self.console(changed), options.guest_pattern_without)
        self.assertNotRegex(self.console(plain), options.guest_pattern)
