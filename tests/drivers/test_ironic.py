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
from tests.drivers.ironic import real

RAID = {'trait:CUSTOM_RAID5': 'required'}
UEFI = {'trait:CUSTOM_UEFI': 'required'}

#: It runs mkisofs, which machines need not have.
MAKE_DRIVE = 'nova.virt.configdrive.ConfigDriveBuilder.make_drive'


class BareMetal(base.Cloud):
    DRIVER = 'ironic.IronicDriver'
    OPTIONS = {'allowed_properties': ['*'], 'virt_drivers': ['ironic']}

    #: A running one.
    ironic: real.Ironic

    def prepare(self):
        self.flags(group='ironic', auth_type='none', api_retry_interval=1,
                   api_max_retries=2, endpoint_override=self.ironic.url)
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
        self.ironic.wait_until_available()
        # Nova may have looked while Ironic was still taking a server down.
        self._run_periodics()
        self.ironic.steps()
        return self.boot(overrides, flavor=self.a_flavor(), **kwargs)

    def rebuilt(self, server, overrides=None, **kwargs):
        """Rebuild a server; return the steps that deploy templates ran.

        Nova's driver refuses every rebuild with compute 2.93 and newer.
        """
        self.ironic.steps()
        answer = self.rebuild(
            server, overrides, compute='2.92', **kwargs)
        assert answer.status == 202, answer.text
        return self.ironic.steps()

    def assert_required(self, *traits):
        assert list(traits) == self.ironic.show()['instance_info'].get(
            'traits', [])

    def assert_config_drive(self, given):
        assert ('configdrive' in self.ironic.show()['instance_info']) == given


@pytest.fixture(autouse=True, scope='module')
def _real_ironic(ironic):
    BareMetal.ironic = ironic


class TestExtended:
    """A host with the compute part."""

    CLOUD = BareMetal

    @pytest.mark.smoke
    def test_create_rebuild_and_delete(self, cloud, ironic):
        seen = cloud.useFixture(reads.Reads(cloud.driver, 'spawn', 'rebuild'))
        server = cloud.a_server(RAID)
        assert ironic.steps() == ['raid']
        assert cloud.rebuilt(server) == ['raid']
        assert cloud.rebuilt(server, UEFI) == ['bios']
        cloud.assert_required('CUSTOM_UEFI')
        assert cloud.rebuilt(server, {}) == []
        cloud.assert_required()
        cloud.delete(server)
        ironic.wait_until_available()
        assert seen.names == {'img_config_drive', 'traits_required'}

    def test_a_trait_of_the_image_can_be_added_to_and_removed(
            self, cloud, ironic):
        image = cloud.image(**UEFI)
        server = cloud.a_server(RAID, image=image)
        assert set(ironic.steps()) == {'bios', 'raid'}
        assert cloud.rebuilt(server, {'trait:CUSTOM_UEFI': None},
                             image=image) == []
        cloud.assert_required()
        assert cloud.rebuilt(server, {}, image=image) == ['bios']
        cloud.assert_required('CUSTOM_UEFI')

    def test_a_config_drive_is_given_to_the_node(self, cloud):
        cloud.useFixture(fixtures.MockPatch(MAKE_DRIVE))
        drive = {'img_config_drive': 'mandatory'}
        server = cloud.a_server(drive, server=cloud.on_a_network())
        cloud.assert_config_drive(True)
        cloud.delete(server)
        server = cloud.a_server(server=cloud.on_a_network())
        # Nova permanently records on the server that it has one
        # (configdrive.update_instance).
        for overrides, given in ((None, False), (drive, True), ({}, True)):
            cloud.rebuilt(server, overrides)
            cloud.assert_config_drive(given)

    def test_a_node_without_the_trait_is_not_chosen(self, cloud, ironic):
        ironic.wait_until_available()
        answer = cloud.create({'trait:HW_CPU_X86_AVX2': 'required'},
                              flavor=cloud.a_flavor())
        assert answer.status == 202, answer.text
        server = answer.body['server']['id']
        cloud.wait(server, 'ERROR')
        assert 'No valid host' in cloud.show(server)['fault']['message']

    def test_all_others_are_ignored(self, cloud, ironic):
        told = []
        # In the image: nova-api need not accept such an override.
        for others in ({}, {'hw_disk_bus': 'scsi', 'os_distro': 'sles12',
                            'hw_vif_model': 'e1000'}):
            server = cloud.a_server(image=cloud.image(**others))
            info = ironic.show()['instance_info']
            del info['image_source'], info['flavor_name']
            told.append(info)
            assert ironic.steps() == []
            cloud.delete(server)
        plain, overridden = told
        assert overridden == plain
        assert 'root_gb' in plain


class TestPlain:
    """A host with nova-compute as Nova ships it: faults of Nova.

    docs/source/contributor/upstream.rst describes them. A test that fails with
    a newer release means that the release fixes the fault.
    """

    CLOUD = BareMetal

    EXTENDED_HOSTS = ()

    def test_the_traits_of_before_stay_when_none_is_required_now(self, cloud):
        server = cloud.a_server(RAID)
        assert cloud.rebuilt(server, {}) == ['raid']
        cloud.assert_required('CUSTOM_RAID5')

    def test_no_server_can_be_rebuilt_from_2_93_on(self, cloud):
        server = cloud.a_server()
        answer = cloud.act(server, {'rebuild': {'imageRef': base.IMAGE}},
                           compute='2.93')
        # The harness has nova-compute's exceptions end the request.
        assert answer.status == 500, answer.text
        assert cloud.show(server)['status'] == 'ERROR'

    def test_a_config_drive_without_a_network_is_an_error(self, cloud, ironic):
        ironic.wait_until_available()
        answer = cloud.create(flavor=cloud.a_flavor(),
                              server={'config_drive': True})
        assert answer.status == 202, answer.text
        cloud.wait(answer.body['server']['id'], 'ERROR')


class TestWithoutGlance:
    """A fault of Ironic 39.0.0, on the same page."""

    CLOUD = BareMetal

    def test_a_node_of_an_unknown_image_cannot_be_rebuilt(self, cloud, ironic):
        ironic.glance.known = False
        cloud.addCleanup(setattr, ironic.glance, 'known', True)
        server = cloud.a_server()
        answer = cloud.act(server, {'rebuild': {'imageRef': base.IMAGE}},
                           compute='2.92')
        assert answer.status == 500, answer.text
        with pytest.raises(AssertionError) as refused:
            ironic.request('PUT', '/nodes/metal-1/states/provision',
                                  {'target': 'rebuild'})
        assert 'auto_lessee' in str(refused.value)
