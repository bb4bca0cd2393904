"""Bare metal: Nova's driver with a real Ironic.

It reads ``trait:NAME``, so an override chooses the deploy templates that Ironic
runs. ``img_config_drive`` is read by code that all drivers share
(``nova.virt.configdrive.required_by``).
"""

import functools

import fixtures
import pytest

from testing.drivers import base
from testing.drivers import reads

RAID = {'trait:CUSTOM_RAID5': 'required'}
UEFI = {'trait:CUSTOM_UEFI': 'required'}

#: It runs mkisofs, which machines need not have.
MAKE_DRIVE = 'nova.virt.configdrive.ConfigDriveBuilder.make_drive'


class BareMetal(base.TestCase):
    DRIVER = 'ironic.IronicDriver'
    OPTIONS = {'allowed_properties': ['*'], 'virt_drivers': ['ironic']}

    @pytest.fixture(autouse=True, scope='class')
    def _use_ironic(self, request, ironic):
        # Set on the class, because its tests share a cloud.
        request.cls._ironic = ironic

    def prepare(self):
        self.flags(group='ironic', auth_type='none', api_retry_interval=1,
                   api_max_retries=2, endpoint_override=self._ironic.url)
        self.useFixture(fixtures.MockPatchObject(
            self.neutron, 'update_port', functools.partial(
                self.update_port, self.neutron.update_port)))

    def update_port(self, update, port, body=None):
        # Nova does not bind ports of bare metal, which is left to Ironic. Its
        # fake fails if there is no binding to remove.
        self.neutron._port_bindings[port].setdefault(
            None, {'status': 'ACTIVE'})
        return update(port, body)

    def a_flavor(self):
        return self.flavor(
            4, 8192, resources__CUSTOM_GOLD='1', resources__VCPU='0',
            resources__MEMORY_MB='0', resources__DISK_GB='0')

    def a_server(self, overrides=None, **kwargs):
        self._ironic.wait_until_available()
        # Nova may have looked while Ironic was still taking a server down.
        self._run_periodics()
        self._ironic.steps()
        return self.boot(overrides, flavor=self.a_flavor(), **kwargs)

    def rebuilt(self, server, overrides=None, **kwargs):
        """Rebuild a server; return the steps that deploy templates ran."""
        self._ironic.steps()
        answer = self.rebuild(server, overrides, **kwargs)
        self.assertEqual(202, answer.status, answer.text)
        return self._ironic.steps()

    def assert_required(self, *traits):
        self.assertEqual(list(traits), self._ironic.show()[
            'instance_info'].get('traits', []))

    def assert_config_drive(self, given):
        self.assertEqual(
            given, 'configdrive' in self._ironic.show()['instance_info'])


class Extended(BareMetal):
    """A host with the compute part."""

    @pytest.mark.smoke
    def test_create_rebuild_and_delete(self):
        seen = self.useFixture(reads.Reads(self.driver, 'spawn', 'rebuild'))
        server = self.a_server(RAID)
        self.assertEqual(['raid'], self._ironic.steps())
        self.assertEqual(['raid'], self.rebuilt(server))
        self.assertEqual(['bios'], self.rebuilt(server, UEFI))
        self.assert_required('CUSTOM_UEFI')
        self.assertEqual([], self.rebuilt(server, {}))
        self.assert_required()
        self.delete(server)
        self._ironic.wait_until_available()
        self.assertEqual({'img_config_drive', 'traits_required'}, seen.names)

    def test_a_trait_of_the_image_can_be_added_to_and_removed(self):
        image = self.image(**UEFI)
        server = self.a_server(RAID, image=image)
        self.assertEqual({'bios', 'raid'}, set(self._ironic.steps()))
        self.assertEqual([], self.rebuilt(
            server, {'trait:CUSTOM_UEFI': None}, image=image))
        self.assert_required()
        self.assertEqual(['bios'], self.rebuilt(server, {}, image=image))
        self.assert_required('CUSTOM_UEFI')

    def test_a_config_drive_is_given_to_the_node(self):
        self.useFixture(fixtures.MockPatch(MAKE_DRIVE))
        drive = {'img_config_drive': 'mandatory'}
        server = self.a_server(drive, server=self.on_a_network())
        self.assert_config_drive(True)
        self.delete(server)
        server = self.a_server(server=self.on_a_network())
        # Nova permanently records on the server that it has one
        # (configdrive.update_instance).
        for overrides, given in ((None, False), (drive, True), ({}, True)):
            self.rebuilt(server, overrides)
            self.assert_config_drive(given)

    def test_a_node_without_the_trait_is_not_chosen(self):
        self._ironic.wait_until_available()
        answer = self.create({'trait:HW_CPU_X86_AVX2': 'required'},
                             flavor=self.a_flavor())
        self.assertEqual(202, answer.status, answer.text)
        server = answer.body['server']['id']
        self.wait(server, 'ERROR')
        self.assertIn('No valid host', self.http(
            'GET', f'/servers/{server}').body['server']['fault']['message'])

    def test_all_others_are_ignored(self):
        told = []
        # In the image: nova-api need not accept such an override.
        for others in ({}, {'hw_disk_bus': 'scsi', 'os_distro': 'sles12',
                            'hw_vif_model': 'e1000'}):
            server = self.a_server(image=self.image(**others))
            info = self._ironic.show()['instance_info']
            del info['image_source'], info['flavor_name']
            told.append(info)
            self.assertEqual([], self._ironic.steps())
            self.delete(server)
        plain, overridden = told
        self.assertEqual(plain, overridden)
        self.assertIn('root_gb', plain)


class Plain(BareMetal):
    """A host with nova-compute as Nova ships it: faults of Nova.

    docs/source/contributor/upstream.rst describes them. A test that fails with
    a newer release means that the release fixes the fault.
    """

    EXTENDED_HOSTS = ()

    def test_the_traits_of_before_stay_when_none_is_required_now(self):
        server = self.a_server(RAID)
        self.assertEqual(['raid'], self.rebuilt(server, {}, compute='2.92'))
        self.assert_required('CUSTOM_RAID5')

    def test_no_server_can_be_rebuilt_from_2_93_on(self):
        server = self.a_server()
        answer = self.act(server, {'rebuild': {'imageRef': base.IMAGE}},
                          compute='2.93')
        # The harness has nova-compute's exceptions end the request.
        self.assertEqual(500, answer.status, answer.text)
        self.assertEqual('ERROR', self.http(
            'GET', f'/servers/{server}').body['server']['status'])

    def test_a_config_drive_without_a_network_is_an_error(self):
        self._ironic.wait_until_available()
        answer = self.create(flavor=self.a_flavor(),
                             server={'config_drive': True})
        self.assertEqual(202, answer.status, answer.text)
        self.wait(answer.body['server']['id'], 'ERROR')


class WithoutGlance(BareMetal):
    """A fault of Ironic 39.0.0, on the same page."""

    def test_a_node_of_an_unknown_image_cannot_be_rebuilt(self):
        self._ironic.glance.known = False
        self.addCleanup(setattr, self._ironic.glance, 'known', True)
        server = self.a_server()
        answer = self.act(server, {'rebuild': {'imageRef': base.IMAGE}})
        self.assertEqual(500, answer.status, answer.text)
        refused = self.assertRaises(
            AssertionError, self._ironic.request, 'PUT',
            '/nodes/metal-1/states/provision', {'target': 'rebuild'})
        self.assertIn('auto_lessee', str(refused))
