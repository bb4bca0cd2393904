"""POST /servers with image_props_override: what reaches the guest."""

import fixtures
from nova import context as nova_context
from nova import objects
from nova.api.openstack.compute import routes
from nova.compute import api
import pytest

from testing.harness import base


class BootFromImage(base.TestCase):
    @pytest.mark.smoke
    def test_overrides_reach_system_metadata_request_spec_and_guest(self):
        server = self.boot({'hw_numa_nodes': '2', 'hw_disk_bus': 'scsi',
                            'hw_boot_menu': 'true'},
                           flavor=self.flavor(vcpus=4))

        stored = self.system_metadata(server)
        self.assertEqual('2', stored['hw_numa_nodes'])
        self.assertEqual('scsi', stored['hw_disk_bus'])
        self.assertEqual('true', stored['hw_boot_menu'])
        spec = self.request_spec(server)
        self.assertEqual(2, spec['hw_numa_nodes'])
        self.assertEqual('scsi', spec['hw_disk_bus'])
        self.assertIs(True, spec['hw_boot_menu'])
        guest = self.guest(server)
        self.assertEqual(2, len(guest.findall('cpu/numa/cell')))
        self.assertEqual(
            'scsi', guest.find('devices/disk/target').get('bus'))
        self.assertEqual('yes', guest.find('os/bootmenu').get('enable'))

    def test_the_image_keeps_what_is_not_named(self):
        server = self.boot(
            {'hw_disk_bus': 'ide'},
            image=self.image(hw_disk_bus='scsi', hw_vif_model='e1000'))
        stored = self.system_metadata(server)
        self.assertEqual('ide', stored['hw_disk_bus'])
        self.assertEqual('e1000', stored['hw_vif_model'])
        self.assertEqual({'hw_disk_bus': 'scsi'}, self.record(server))

    def test_the_image_itself_does_not_change(self):
        image = self.image(hw_disk_bus='scsi')
        self.boot({'hw_disk_bus': 'ide'}, image=image)
        self.assertEqual(
            {'hw_disk_bus': 'scsi'},
            self.glance.show(None, image)['properties'])
        other = self.boot(image=image)
        self.assertEqual('scsi', self.system_metadata(other)['hw_disk_bus'])
        self.assertEqual({}, self.record(other))

    def test_canonical_values_are_stored_and_shown(self):
        asked = {'hw_boot_menu': 'YES', 'os_type': 'Windows',
                 'hw_vif_model': 'VirtualE1000', 'hw_cpu_sockets': '02',
                 'hw_architecture': 'amd64'}
        canonical = {'hw_boot_menu': 'true', 'os_type': 'windows',
                     'hw_vif_model': 'e1000', 'hw_cpu_sockets': '2',
                     'hw_architecture': 'x86_64'}
        server = self.boot(asked)
        stored = self.system_metadata(server)
        self.assertEqual(canonical, {name: stored[name] for name in asked})
        self.assertEqual(
            canonical, self.http('GET', f'/servers/{server}').body['server'][
                base.PARAMETER])
        # Nova compares the instance's own os_type with "windows".
        self.assertEqual('windows', self.instance(server).os_type)

    def test_asymmetric_numa_nodes_are_built_as_asked(self):
        asked = {'hw_numa_nodes': '2',
                 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
                 'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768'}
        server = self.boot(asked, flavor=self.flavor(vcpus=4))
        stored = self.system_metadata(server)
        self.assertEqual(asked, {name: stored[name] for name in asked})
        spec = self.request_spec(server)
        self.assertEqual([{0}, {1, 2, 3}], spec['hw_numa_cpus'])
        self.assertEqual([256, 768], spec['hw_numa_mem'])
        self.assertEqual(
            [('0', str(256 * 1024)), ('1-3', str(768 * 1024))],
            [(cell.get('cpus'), cell.get('memory'))
             for cell in self.guest(server).findall('cpu/numa/cell')])

    def test_an_indexed_override_joins_the_images_other_indexes(self):
        image = self.image(hw_numa_nodes='2',
                           hw_numa_cpus__0='0-1', hw_numa_cpus__1='2-3',
                           hw_numa_mem__0='512', hw_numa_mem__1='512')
        server = self.boot(
            {'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768'}, image=image,
            flavor=self.flavor(vcpus=4))
        self.assertEqual(
            [('0-1', str(256 * 1024)), ('2-3', str(768 * 1024))],
            [(cell.get('cpus'), cell.get('memory'))
             for cell in self.guest(server).findall('cpu/numa/cell')])

    def test_kernel_arguments_of_two_servers_of_one_image(self):
        image = self.image(kernel_id=base.IMAGE, os_command_line='quiet')
        for arguments in ('console=ttyS0 ks=http://a/b?c=d', 'single'):
            server = self.boot({'os_command_line': arguments}, image=image)
            self.assertEqual(
                arguments, self.guest(server).findtext('os/cmdline'))

    def test_a_required_trait_steers_scheduling(self):
        self._create_trait('CUSTOM_FAST')
        answer = self.create({'trait:CUSTOM_FAST': 'required'})
        self.wait(answer.body['server']['id'], 'ERROR')

        self._set_provider_traits(
            self.compute_rp_uuids['compute1'],
            [*self._get_provider_traits(self.compute_rp_uuids['compute1']),
             'CUSTOM_FAST'])
        server = self.boot({'trait:CUSTOM_FAST': 'required'})
        self.assertEqual(['CUSTOM_FAST'],
                         self.request_spec(server)['traits_required'])

    def test_every_server_of_a_multi_create_has_them(self):
        answer = self.create(
            {'hw_disk_bus': 'scsi'}, server={'min_count': 2, 'max_count': 2})
        self.assertEqual(202, answer.status, answer.text)
        servers = self.http('GET', '/servers/detail').body['servers']
        self.assertEqual(2, len(servers))
        for server in servers:
            self.wait(server['id'])
            self.assertEqual({'hw_disk_bus': 'scsi'}, server[base.PARAMETER])
            self.assertEqual('scsi', self.guest(server['id']).find(
                'devices/disk/target').get('bus'))

    def test_an_empty_object_overrides_nothing(self):
        server = self.boot({}, image=self.image(hw_disk_bus='scsi'))
        self.assertEqual({}, self.record(server))
        self.assertEqual('scsi', self.system_metadata(server)['hw_disk_bus'])

    def test_a_value_of_255_bytes_is_stored_whole(self):
        value = 'é' * 127 + 'x'
        server = self.boot({'os_admin_user': value})
        self.assertEqual(value, self.system_metadata(server)['os_admin_user'])

    def test_an_overridden_server_is_scheduled_by_its_overrides(self):
        answer = self.create({'img_hv_type': 'vmware'})
        self.wait(answer.body['server']['id'], 'ERROR')


class Removal(base.TestCase):
    """A value of null."""

    @pytest.mark.smoke
    def test_null_removes_the_images_property(self):
        image = self.image(hw_numa_nodes='2', hw_disk_bus='scsi')
        server = self.boot({'hw_numa_nodes': None}, image=image)
        self.assertNotIn('hw_numa_nodes', self.system_metadata(server))
        self.assertEqual('scsi', self.system_metadata(server)['hw_disk_bus'])
        self.assertNotIn('hw_numa_nodes', self.request_spec(server))
        self.assertIsNone(self.guest(server).find('cpu/numa'))
        self.assertEqual({'hw_numa_nodes': '2'}, self.record(server))

    def test_null_removes_the_legacy_spelling_too(self):
        image = self.image(vm_mode='hvm', hw_vm_mode='hvm')
        server = self.boot({'hw_vm_mode': None}, image=image)
        stored = self.system_metadata(server)
        self.assertNotIn('vm_mode', stored)
        self.assertNotIn('hw_vm_mode', stored)

    def test_a_removal_is_shown_as_null(self):
        image = self.image(hw_numa_nodes='2')
        overrides = {'hw_numa_nodes': None, 'hw_disk_bus': 'ide'}
        server = self.boot(overrides, image=image)
        answer = self.http('GET', f'/servers/{server}')
        self.assertEqual(overrides, answer.body['server'][base.PARAMETER])

    def test_removing_what_leaves_a_gap_is_refused(self):
        image = self.image(hw_numa_nodes='2', hw_numa_cpus__0='0',
                           hw_numa_cpus__1='1')
        self.assert_refused(
            self.create({'hw_numa_cpus.0': None}, image=image), 400,
            {'hw_numa_cpus.0': 'numa_gap'})


class BootFromVolume(base.TestCase):
    def assert_overridden(self, server: str) -> None:
        self.assertEqual('scsi', self.system_metadata(server)['hw_disk_bus'])
        self.assertEqual('scsi', self.request_spec(server)['hw_disk_bus'])
        self.assertEqual('scsi', self.guest(server).find(
            'devices/disk/target').get('bus'))
        self.assertEqual(
            {'hw_disk_bus': 'scsi'},
            self.http('GET', f'/servers/{server}').body['server'][
                base.PARAMETER])

    @pytest.mark.smoke
    def test_over_the_volumes_image_metadata(self):
        volume = self.volume(hw_disk_bus='ide', hw_vif_model='e1000')
        server = self.boot({'hw_disk_bus': 'scsi'}, image=None,
                           server=self.from_volume(volume))
        self.assert_overridden(server)
        self.assertEqual(
            'e1000', self.system_metadata(server)['hw_vif_model'])
        self.assertEqual({'hw_disk_bus': 'ide'}, self.record(server))

    def test_over_the_image_that_becomes_a_volume(self):
        image = self.image(hw_disk_bus='ide', hw_vif_model='e1000')
        server = self.boot({'hw_disk_bus': 'scsi'}, image=None, server={
            'block_device_mapping_v2': [{
                'boot_index': 0, 'source_type': 'image', 'uuid': image,
                'destination_type': 'volume', 'volume_size': 1}]})
        self.assert_overridden(server)
        self.assertEqual(
            'e1000', self.system_metadata(server)['hw_vif_model'])

    def test_over_the_metadata_of_a_snapshots_origin(self):
        volume = self.volume(hw_disk_bus='ide', hw_vif_model='e1000')
        self.useFixture(base.fixtures.MockPatch(
            'nova.volume.cinder.API.get_snapshot', autospec=False,
            return_value={'id': 'a5f5d7c8-0000-4000-8000-000000000001',
                          'volume_id': volume, 'size': 1,
                          'status': 'available'}))
        server = self.boot({'hw_disk_bus': 'scsi'}, image=None, server={
            'block_device_mapping_v2': [{
                'boot_index': 0, 'source_type': 'snapshot',
                'uuid': 'a5f5d7c8-0000-4000-8000-000000000001',
                'destination_type': 'volume', 'volume_size': 1}]})
        self.assert_overridden(server)
        self.assertEqual(
            'e1000', self.system_metadata(server)['hw_vif_model'])

    def test_a_blank_boot_volume_has_nothing_but_the_overrides(self):
        server = self.boot({'hw_disk_bus': 'scsi'}, image=None, server={
            'block_device_mapping_v2': [{
                'boot_index': 0, 'source_type': 'blank',
                'destination_type': 'volume', 'volume_size': 1}]})
        self.assert_overridden(server)
        self.assertEqual({'hw_disk_bus': None}, self.record(server))

    def test_conflicts_are_400_although_a_volume_has_no_name(self):
        # Unmodified Nova answers 500 or ends in ERROR here: its messages
        # name an image that a volume does not have.
        volume = self.volume()
        for name, value, spec in (
                ('hw_pmu', 'true', {'hw__pmu': 'false'}),
                ('hw_vif_multiqueue_enabled', 'true',
                 {'hw__vif_multiqueue_enabled': 'false'}),
                ('hw_ephemeral_encryption', 'true',
                 {'hw__ephemeral_encryption': 'false'}),
                ('os_secure_boot', 'required',
                 {'os__secure_boot': 'disabled'})):
            with self.subTest(name):
                self.assert_refused(
                    self.create({name: value}, image=None,
                                flavor=self.flavor(**spec),
                                server=self.from_volume(volume)),
                    400, {name: 'flavor_conflict'})


class LegacyNames(base.TestCase):
    """Images name properties in old ways, some of which Nova still reads."""

    def test_legacy_spellings_of_an_overridden_property_leave(self):
        image = self.image(hypervisor_type='xen', vmware_ostype='ubuntu')
        server = self.boot({'img_hv_type': 'kvm'}, image=image)
        stored = self.system_metadata(server)
        self.assertNotIn('hypervisor_type', stored)
        self.assertEqual('kvm', stored['img_hv_type'])
        self.assertEqual('ubuntu', stored['vmware_ostype'])
        self.assertEqual({'img_hv_type': 'xen'}, self.record(server))

    @pytest.mark.smoke
    def test_names_that_nova_reads_past_the_object_are_set_too(self):
        server = self.boot(
            {'hw_vm_mode': 'hvm', 'hw_architecture': 'x86_64',
             'hw_auto_disk_config': 'true'},
            image=self.image(vm_mode='xen', architecture='aarch64'))
        instance = self.instance(server)
        self.assertEqual('hvm', instance.vm_mode)
        self.assertEqual('x86_64', instance.architecture)
        self.assertIs(True, instance.auto_disk_config)

    def test_vmware_adaptertype_splits_into_what_is_not_overridden(self):
        image = self.image(vmware_adaptertype='lsiLogic')
        server = self.boot({'hw_disk_bus': 'virtio'}, image=image)
        stored = self.system_metadata(server)
        self.assertNotIn('vmware_adaptertype', stored)
        self.assertEqual('virtio', self.request_spec(server)['hw_disk_bus'])
        self.assertEqual('lsilogic', self.request_spec(server)[
            'hw_scsi_model'])
        self.assertEqual({'hw_disk_bus': 'scsi'}, self.record(server))


class PastTheMerge(base.TestCase):
    """A Nova that would create servers without the overrides asked for."""

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(
            'nova_image_override.api.compute_api.API'
            '._validate_and_build_base_options',
            api.API._validate_and_build_base_options))

    def servers(self):
        return self.http('GET', '/servers').body['servers']

    def test_a_create_that_asks_for_overrides_fails_and_creates_nothing(self):
        for count in (1, 2):
            body = self.server_body({'hw_disk_bus': 'scsi'})
            body['server']['min_count'] = count
            answer = self.http('POST', '/servers', body)
            self.assertEqual(500, answer.status, answer.text)
            self.assertEqual([], self.servers())
        context = nova_context.get_admin_context()
        self.assertEqual([], list(objects.BuildRequestList.get_all(context)))

    def test_a_create_that_asks_for_none_is_nova_s_own(self):
        for overrides in (None, {}):
            body = self.server_body(overrides)
            self.assertEqual(202, self.http('POST', '/servers', body).status)
        self.assertEqual(2, len(self.servers()))


class VolumesBoot(base.TestCase):
    """POST /os-volumes_boot: another path of servers, or Nova's alone."""

    #: Nova 33 and 34 have a controller of its own for it, which cannot create:
    #: it passes the body by position, and Nova's validation takes it by name.
    IS_NOVA_S = hasattr(routes, 'volumes_boot_controller')

    def post(self, body, **more):
        return self.http('POST', '/os-volumes_boot', body, **more)

    def test_the_parameter_is_taken_or_refused_but_never_ignored(self):
        answer = self.post(self.server_body({'hw_disk_bus': 'scsi'}))
        if self.IS_NOVA_S:
            self.assertEqual(400, answer.status, answer.text)
            self.assertIn(base.PARAMETER, answer.message)
        else:
            self.assertEqual(202, answer.status, answer.text)
            server = answer.body['server']['id']
            self.wait(server)
            self.assertEqual(
                'scsi', self.system_metadata(server)['hw_disk_bus'])

    def test_the_legacy_api_creates_nothing_with_it(self):
        body = self.server_body({'hw_disk_bus': 'scsi'})
        # The legacy API knows no "none".
        del body['server']['networks']
        answer = self.post(body, api='v2', compute=None)
        # Nova drops the key, and then fails as it does without.
        self.assertEqual(
            500 if self.IS_NOVA_S else 400, answer.status, answer.text)
        self.assertEqual([], self.http('GET', '/servers').body['servers'])
