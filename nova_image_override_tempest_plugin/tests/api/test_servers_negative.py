"""What is refused when a server is created, and that nothing is left behind."""

from tempest.lib import decorators
from tempest.lib import exceptions

from nova_image_override import errors
from nova_image_override_tempest_plugin.tests import base

#: What is refused whoever asks, by the code of the refusal.
INVALID = {
    # The first is the example in Nova's specification.
    errors.UNKNOWN: {
        'hw_os_command_line': 'x', 'hw_no_such_property': 'x', 'x': 'x'},
    errors.LEGACY_NAME: {
        'architecture': 'x', 'vm_mode': 'x', 'auto_disk_config': 'x'},
    errors.LIST_FIELD: {
        'hw_numa_cpus': '0', 'hw_numa_mem': '0', 'traits_required': '0'},
    errors.INVALID_VALUE: {
        'hw_disk_bus': 'scssi', 'hw_boot_menu': '2', 'hw_numa_nodes': '-1',
        'hw_machine_type': '', 'os_command_line': 'quiet\n'}}

#: Properties that a deployer may leave closed, with a value that every
#: release takes.
WELL_KNOWN = {
    'hw_pmu': 'true', 'hw_time_hpet': 'true', 'hw_video_ram': '16',
    'hw_vif_multiqueue_enabled': 'true', 'hw_watchdog_action': 'reset',
    'os_require_quiesce': 'true'}

#: Properties that a deployer may open for some values, with values that every
#: release takes.
LIMITED = {
    'hw_disk_bus': ('virtio', 'scsi', 'ide', 'sata', 'usb'),
    'hw_video_model': ('vga', 'virtio', 'cirrus', 'qxl'),
    'hw_watchdog_action': ('reset', 'poweroff', 'pause', 'none')}


class InvalidOverridesTest(base.BaseOverridesTest):
    """400, whoever asks."""

    def invalid(self, codes, overrides, **kwargs):
        """Assert that a create with OVERRIDES is refused with these codes."""
        self.assertEqual(codes, self.create_refused(
            exceptions.BadRequest, overrides, **kwargs))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('4654639e-ab3b-4ce6-8dd7-079dbb1c44a3')
    def test_one_answer_names_every_problem_and_nothing_that_is_right(self):
        asked, codes = dict(self.offered), {}
        for code, overrides in INVALID.items():
            asked.update(overrides)
            codes.update(dict.fromkeys(overrides, code))
        self.invalid(codes, asked)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('3f867ab9-fbc6-4c9e-895d-7881de8ee600')
    def test_a_value_longer_than_nova_stores_is_refused(self):
        # 128 characters, 256 bytes of UTF-8.
        for value in 'x' * 256, '\u00e9' * 128:
            self.invalid({'os_command_line': errors.TOO_LONG},
                         {'os_command_line': value})

    @decorators.attr(type='negative')
    @decorators.idempotent_id('f5fbacd2-459e-496d-a4a4-870ef4740c82')
    def test_a_value_that_is_not_a_string_is_refused(self):
        for value in True, 1, ['true'], {'true': 'true'}:
            self.invalid({'hw_boot_menu': errors.INVALID_TYPE},
                         {'hw_boot_menu': value})

    @decorators.attr(type='negative')
    @decorators.idempotent_id('0821d26d-407b-40d0-b531-efdb96c052b8')
    def test_what_is_not_an_object_is_refused(self):
        for value in 'hw_boot_menu=true', ['hw_boot_menu'], None, 1:
            self.invalid({errors.PARAMETER: errors.INVALID_TYPE}, value)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('458a35aa-f317-4fa2-a439-a2995dbca060')
    def test_more_properties_than_a_request_may_name_are_refused(self):
        self.invalid(
            {errors.PARAMETER: errors.TOO_MANY},
            {f'hw_numa_mem.{number}': '1' for number in range(129)})

    @decorators.attr(type='negative')
    @decorators.idempotent_id('4b69f23b-b0a6-45a1-b9f5-52b4a3e04969')
    def test_overrides_without_the_version_entry_are_refused(self):
        for overrides in {'hw_boot_menu': 'true'}, {}:
            self.invalid(
                {errors.PARAMETER: errors.VERSION_MISSING}, overrides,
                client=self.plain_servers_client)


class ForbiddenOverridesTest(base.BaseOverridesTest):
    """403, for this user."""

    #: Why a property can be missing from what discovery offers.
    CODES = {errors.NOT_ALLOWED, errors.DENIED, errors.INJECTED,
             errors.PROTECTED, errors.POLICY, errors.VALUE_NOT_ALLOWED}

    def closed(self, overrides, codes, **beside):
        """Assert that exactly OVERRIDES are refused, each with one of CODES."""
        if not overrides:
            raise self.skipException(
                'The cloud offers this user everything that was tried')
        refused = self.create_refused(
            exceptions.Forbidden, {**beside, **overrides})
        self.assertEqual(overrides.keys(), refused.keys())
        self.assertLessEqual({*refused.values()}, codes)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('f6251608-8799-4645-a184-57eee0147695')
    def test_what_describes_the_image_is_refused_everywhere(self):
        self.closed({'img_owner_id': 'me', 'img_signature': 'x'},
                    {errors.NEVER})

    @decorators.attr(type='negative')
    @decorators.idempotent_id('394bcb44-d6f1-4718-bad2-1537839e6398')
    def test_what_discovery_does_not_offer_is_refused(self):
        self.closed(
            {name: value for name, value in WELL_KNOWN.items()
             if not self.may(name, value)},
            self.CODES, **self.offered)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('641eb986-ca2c-4da5-bdf1-1f0b3aed4338')
    def test_a_value_that_discovery_does_not_offer_is_refused(self):
        self.closed(
            {name: value for name, values in LIMITED.items()
             if any(self.may(name, other) for other in values)
             for value in values if not self.may(name, value)},
            {errors.VALUE_NOT_ALLOWED, errors.DENIED})

    @decorators.attr(type='negative')
    @decorators.idempotent_id('ab40c28c-bed2-4726-8883-2dd1fd76c066')
    def test_what_is_wrong_is_told_before_what_is_not_permitted(self):
        self.assertEqual(
            {'hw_disk_bus': errors.INVALID_VALUE},
            self.create_refused(
                exceptions.BadRequest,
                {'img_owner_id': 'me', 'hw_disk_bus': 'scssi'}))
