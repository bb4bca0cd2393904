"""What is refused when a server is created, and that nothing is left behind."""

from tempest.lib import decorators
from tempest.lib import exceptions

from nova_image_override import errors
from nova_image_override_tempest_plugin.tests import base

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

    @decorators.attr(type='negative')
    @decorators.idempotent_id('9d157039-3c03-44ff-b072-a199e449635d')
    def test_a_name_that_nova_does_not_read_is_refused(self):
        # The example in Nova's specification is one.
        for name in 'hw_os_command_line', 'hw_no_such_property', 'x':
            self.assertEqual(
                {name: errors.UNKNOWN},
                self.create_refused(exceptions.BadRequest, {name: 'x'}))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('a1e11116-07ed-4eca-800d-d78434b1e367')
    def test_a_legacy_name_is_refused(self):
        for name in 'architecture', 'vm_mode', 'auto_disk_config':
            self.assertEqual(
                {name: errors.LEGACY_NAME},
                self.create_refused(exceptions.BadRequest, {name: 'x'}))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('3cc48de9-3dbf-4e83-929a-976fc7fe6260')
    def test_the_name_of_a_list_is_refused(self):
        for name in 'hw_numa_cpus', 'hw_numa_mem', 'traits_required':
            self.assertEqual(
                {name: errors.LIST_FIELD},
                self.create_refused(exceptions.BadRequest, {name: '0'}))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('7f4603b6-bf67-444e-bf6e-17763c12bc8b')
    def test_a_value_that_a_property_does_not_take_is_refused(self):
        for name, value in {
                'hw_disk_bus': 'scssi', 'hw_boot_menu': '2',
                'hw_numa_nodes': '-1', 'hw_machine_type': '',
                'os_command_line': 'quiet\n'}.items():
            self.assertEqual(
                {name: errors.INVALID_VALUE},
                self.create_refused(exceptions.BadRequest, {name: value}))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('3f867ab9-fbc6-4c9e-895d-7881de8ee600')
    def test_a_value_longer_than_nova_stores_is_refused(self):
        # 128 characters, 256 bytes of UTF-8.
        for value in 'x' * 256, '\u00e9' * 128:
            self.assertEqual(
                {'os_command_line': errors.TOO_LONG},
                self.create_refused(
                    exceptions.BadRequest, {'os_command_line': value}))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('f5fbacd2-459e-496d-a4a4-870ef4740c82')
    def test_a_value_that_is_not_a_string_is_refused(self):
        for value in True, 1, ['true'], {'true': 'true'}:
            self.assertEqual(
                {'hw_boot_menu': errors.INVALID_TYPE},
                self.create_refused(
                    exceptions.BadRequest, {'hw_boot_menu': value}))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('0821d26d-407b-40d0-b531-efdb96c052b8')
    def test_what_is_not_an_object_is_refused(self):
        for value in 'hw_boot_menu=true', ['hw_boot_menu'], None, 1:
            self.assertEqual(
                {errors.PARAMETER: errors.INVALID_TYPE},
                self.create_refused(exceptions.BadRequest, value))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('458a35aa-f317-4fa2-a439-a2995dbca060')
    def test_more_properties_than_a_request_may_name_are_refused(self):
        self.assertEqual(
            {errors.PARAMETER: errors.TOO_MANY},
            self.create_refused(
                exceptions.BadRequest,
                {f'hw_numa_mem.{number}': '1' for number in range(129)}))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('4654639e-ab3b-4ce6-8dd7-079dbb1c44a3')
    def test_one_answer_names_every_problem(self):
        self.assertEqual(
            {'hw_disk_bus': errors.INVALID_VALUE,
             'hw_no_such_property': errors.UNKNOWN,
             'hw_boot_menu': errors.INVALID_TYPE,
             'traits_required': errors.LIST_FIELD,
             'vm_mode': errors.LEGACY_NAME},
            self.create_refused(exceptions.BadRequest, {
                'hw_disk_bus': 'scssi', 'hw_no_such_property': 'x',
                'hw_boot_menu': True, 'traits_required': 'x',
                'vm_mode': 'hvm', **self.offered_besides('hw_disk_bus')}))

    def offered_besides(self, *names):
        """Return what is right, and must not be named."""
        return {name: value for name, value in self.offered.items()
                if name not in (*names, 'hw_boot_menu')}

    @decorators.attr(type='negative')
    @decorators.idempotent_id('4b69f23b-b0a6-45a1-b9f5-52b4a3e04969')
    def test_overrides_without_the_version_entry_are_refused(self):
        for overrides in {'hw_boot_menu': 'true'}, {}:
            self.assertEqual(
                {errors.PARAMETER: errors.VERSION_MISSING},
                self.create_refused(
                    exceptions.BadRequest, overrides,
                    client=self.plain_servers_client))


class ForbiddenOverridesTest(base.BaseOverridesTest):
    """403, for this user."""

    #: Why a property can be missing from what discovery offers.
    CODES = {errors.NOT_ALLOWED, errors.DENIED, errors.INJECTED,
             errors.PROTECTED, errors.POLICY, errors.VALUE_NOT_ALLOWED}

    @decorators.attr(type='negative')
    @decorators.idempotent_id('f6251608-8799-4645-a184-57eee0147695')
    def test_what_describes_the_image_is_refused_everywhere(self):
        self.assertEqual(
            {'img_owner_id': errors.NEVER, 'img_signature': errors.NEVER},
            self.create_refused(
                exceptions.Forbidden,
                {'img_owner_id': 'me', 'img_signature': 'x'}))

    @decorators.attr(type='negative')
    @decorators.idempotent_id('394bcb44-d6f1-4718-bad2-1537839e6398')
    def test_what_discovery_does_not_offer_is_refused(self):
        closed = {name: value for name, value in WELL_KNOWN.items()
                  if not self.may(name, value)}
        if not closed:
            raise self.skipException(
                'The cloud offers this user every property that was tried')
        # What is offered is not named.
        codes = self.create_refused(
            exceptions.Forbidden, {**self.offered, **closed})
        self.assertEqual(closed.keys(), codes.keys())
        self.assertLessEqual({*codes.values()}, self.CODES)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('641eb986-ca2c-4da5-bdf1-1f0b3aed4338')
    def test_a_value_that_discovery_does_not_offer_is_refused(self):
        closed = {name: value for name, values in LIMITED.items()
                  if any(self.may(name, other) for other in values)
                  for value in values if not self.may(name, value)}
        if not closed:
            raise self.skipException(
                'The cloud limits no values of the properties that were '
                'tried')
        codes = self.create_refused(exceptions.Forbidden, closed)
        self.assertEqual(closed.keys(), codes.keys())
        self.assertLessEqual(
            {*codes.values()}, {errors.VALUE_NOT_ALLOWED, errors.DENIED})

    @decorators.attr(type='negative')
    @decorators.idempotent_id('ab40c28c-bed2-4726-8883-2dd1fd76c066')
    def test_what_is_wrong_is_told_before_what_is_not_permitted(self):
        self.assertEqual(
            {'hw_disk_bus': errors.INVALID_VALUE},
            self.create_refused(
                exceptions.BadRequest,
                {'img_owner_id': 'me', 'hw_disk_bus': 'scssi'}))
