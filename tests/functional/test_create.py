"""POST /servers with image_props_override: what reaches the guest."""

import fixtures
from nova.compute import api
import pytest

from testing.harness import base
from testing.harness import ids


class TestBootFromImage:
    @pytest.mark.smoke
    def test_overrides_reach_system_metadata_request_spec_and_guest(
            self, cloud):
        server = cloud.boot({'hw_numa_nodes': '2', 'hw_disk_bus': 'scsi',
                             'hw_boot_menu': 'true'},
                            flavor=cloud.flavor(vcpus=4))

        stored = cloud.system_metadata(server)
        assert stored['hw_numa_nodes'] == '2'
        assert stored['hw_disk_bus'] == 'scsi'
        assert stored['hw_boot_menu'] == 'true'
        spec = cloud.request_spec(server)
        assert spec['hw_numa_nodes'] == 2
        assert spec['hw_disk_bus'] == 'scsi'
        assert spec['hw_boot_menu'] is True
        assert len(cloud.numa_nodes(server)) == 2
        assert cloud.disk_bus(server) == 'scsi'
        assert cloud.guest(server).find('os/bootmenu').get('enable') == 'yes'

    def test_the_image_keeps_what_is_not_named(self, cloud):
        server = cloud.boot(
            {'hw_disk_bus': 'ide'},
            image=cloud.image(hw_disk_bus='scsi', hw_vif_model='e1000'))
        stored = cloud.system_metadata(server)
        assert stored['hw_disk_bus'] == 'ide'
        assert stored['hw_vif_model'] == 'e1000'
        assert cloud.record(server) == {'hw_disk_bus': 'scsi'}

    def test_the_image_itself_does_not_change(self, cloud):
        image = cloud.image(hw_disk_bus='scsi')
        cloud.boot({'hw_disk_bus': 'ide'}, image=image)
        assert cloud.glance.show(None, image)['properties'] == {
            'hw_disk_bus': 'scsi'}
        other = cloud.boot(image=image)
        assert cloud.system_metadata(other)['hw_disk_bus'] == 'scsi'
        assert cloud.record(other) == {}

    def test_canonical_values_are_stored_and_shown(self, cloud):
        asked = {'hw_boot_menu': 'YES', 'os_type': 'Windows',
                 'hw_vif_model': 'VirtualE1000', 'hw_cpu_sockets': '02',
                 'hw_architecture': 'amd64'}
        canonical = {'hw_boot_menu': 'true', 'os_type': 'windows',
                     'hw_vif_model': 'e1000', 'hw_cpu_sockets': '2',
                     'hw_architecture': 'x86_64'}
        server = cloud.boot(asked)
        stored = cloud.system_metadata(server)
        assert {name: stored[name] for name in asked} == canonical
        assert cloud.show(server)[base.PARAMETER] == canonical
        # Nova compares the instance's own os_type with "windows".
        assert cloud.instance(server).os_type == 'windows'

    def test_asymmetric_numa_nodes_are_built_as_asked(self, cloud):
        asked = {'hw_numa_nodes': '2',
                 'hw_numa_cpus.0': '0', 'hw_numa_cpus.1': '1-3',
                 'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768'}
        server = cloud.boot(asked, flavor=cloud.flavor(vcpus=4))
        stored = cloud.system_metadata(server)
        assert {name: stored[name] for name in asked} == asked
        spec = cloud.request_spec(server)
        assert spec['hw_numa_cpus'] == [{0}, {1, 2, 3}]
        assert spec['hw_numa_mem'] == [256, 768]
        assert cloud.numa_nodes(server) == [('0', 256), ('1-3', 768)]

    def test_an_indexed_override_joins_the_images_other_indexes(self, cloud):
        image = cloud.image(hw_numa_nodes='2',
                            hw_numa_cpus__0='0-1', hw_numa_cpus__1='2-3',
                            hw_numa_mem__0='512', hw_numa_mem__1='512')
        server = cloud.boot(
            {'hw_numa_mem.0': '256', 'hw_numa_mem.1': '768'}, image=image,
            flavor=cloud.flavor(vcpus=4))
        assert cloud.numa_nodes(server) == [('0-1', 256), ('2-3', 768)]

    def test_kernel_arguments_of_two_servers_of_one_image(self, cloud):
        image = cloud.image(kernel_id=base.IMAGE, os_command_line='quiet')
        for arguments in ('console=ttyS0 ks=http://a/b?c=d', 'single'):
            server = cloud.boot({'os_command_line': arguments}, image=image)
            assert cloud.guest(server).findtext('os/cmdline') == arguments

    def test_a_required_trait_steers_scheduling(self, cloud):
        cloud.created(cloud.create({'trait:CUSTOM_FAST': 'required'}), 'ERROR')
        cloud.give_trait('compute1', 'CUSTOM_FAST')
        server = cloud.boot({'trait:CUSTOM_FAST': 'required'})
        assert cloud.request_spec(server)['traits_required'] == ['CUSTOM_FAST']

    def test_every_server_of_a_multi_create_has_them(self, cloud):
        cloud.create({'hw_disk_bus': 'scsi'},
                     server={'min_count': 2, 'max_count': 2}).expect(202)
        servers = cloud.http('GET', '/servers/detail').body['servers']
        assert len(servers) == 2
        for server in servers:
            cloud.wait(server['id'])
            assert server[base.PARAMETER] == {'hw_disk_bus': 'scsi'}
            assert cloud.disk_bus(server['id']) == 'scsi'

    def test_a_value_of_255_bytes_is_stored_whole(self, cloud):
        value = 'é' * 127 + 'x'
        server = cloud.boot({'os_admin_user': value})
        assert cloud.system_metadata(server)['os_admin_user'] == value


class TestRemoval:
    """A value of null."""

    @pytest.mark.smoke
    def test_null_removes_the_images_property(self, cloud):
        image = cloud.image(hw_numa_nodes='2', hw_disk_bus='scsi')
        server = cloud.boot({'hw_numa_nodes': None}, image=image)
        assert 'hw_numa_nodes' not in cloud.system_metadata(server)
        assert cloud.system_metadata(server)['hw_disk_bus'] == 'scsi'
        assert 'hw_numa_nodes' not in cloud.request_spec(server)
        assert cloud.guest(server).find('cpu/numa') is None
        assert cloud.show(server)[base.PARAMETER] == {'hw_numa_nodes': None}
        assert cloud.record(server) == {'hw_numa_nodes': '2'}

    def test_null_removes_the_legacy_spelling_too(self, cloud):
        image = cloud.image(vm_mode='hvm', hw_vm_mode='hvm')
        server = cloud.boot({'hw_vm_mode': None}, image=image)
        stored = cloud.system_metadata(server)
        assert 'vm_mode' not in stored
        assert 'hw_vm_mode' not in stored

    def test_removing_what_leaves_a_gap_is_refused(self, cloud):
        image = cloud.image(hw_numa_nodes='2', hw_numa_cpus__0='0',
                            hw_numa_cpus__1='1')
        cloud.assert_refused(
            cloud.create({'hw_numa_cpus.0': None}, image=image), 400,
            {'hw_numa_cpus.0': 'numa_gap'})


class Cloud(base.Cloud):
    def assert_overridden(self, server: str) -> None:
        assert self.system_metadata(server)['hw_disk_bus'] == 'scsi'
        assert self.request_spec(server)['hw_disk_bus'] == 'scsi'
        assert self.disk_bus(server) == 'scsi'
        assert self.show(server)[base.PARAMETER] == {'hw_disk_bus': 'scsi'}


class TestBootFromVolume:
    @pytest.mark.smoke
    def test_over_the_volumes_image_metadata(self, cloud):
        volume = cloud.volume(hw_disk_bus='ide', hw_vif_model='e1000')
        server = cloud.boot({'hw_disk_bus': 'scsi'}, image=None,
                            server=cloud.from_volume(volume))
        cloud.assert_overridden(server)
        assert cloud.system_metadata(server)['hw_vif_model'] == 'e1000'
        assert cloud.record(server) == {'hw_disk_bus': 'ide'}

    @pytest.mark.smoke
    def test_in_the_legacy_form_of_the_request(self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'}, image=None, server={
            'block_device_mapping': [
                {'device_name': 'vda', 'volume_id': cloud.volume()}]})
        cloud.assert_overridden(server)

    def test_over_the_image_that_becomes_a_volume(self, cloud):
        image = cloud.image(hw_disk_bus='ide', hw_vif_model='e1000')
        server = cloud.boot({'hw_disk_bus': 'scsi'}, image=None, server={
            'block_device_mapping_v2': [{
                'boot_index': 0, 'source_type': 'image', 'uuid': image,
                'destination_type': 'volume', 'volume_size': 1}]})
        cloud.assert_overridden(server)
        assert cloud.system_metadata(server)['hw_vif_model'] == 'e1000'

    def test_over_the_metadata_of_a_snapshots_origin(self, cloud):
        volume = cloud.volume(hw_disk_bus='ide', hw_vif_model='e1000')
        cloud.useFixture(base.fixtures.MockPatch(
            'nova.volume.cinder.API.get_snapshot', autospec=False,
            return_value={'id': 'a5f5d7c8-0000-4000-8000-000000000001',
                          'volume_id': volume, 'size': 1,
                          'status': 'available'}))
        server = cloud.boot({'hw_disk_bus': 'scsi'}, image=None, server={
            'block_device_mapping_v2': [{
                'boot_index': 0, 'source_type': 'snapshot',
                'uuid': 'a5f5d7c8-0000-4000-8000-000000000001',
                'destination_type': 'volume', 'volume_size': 1}]})
        cloud.assert_overridden(server)
        assert cloud.system_metadata(server)['hw_vif_model'] == 'e1000'

    def test_a_blank_boot_volume_has_nothing_but_the_overrides(self, cloud):
        server = cloud.boot({'hw_disk_bus': 'scsi'}, image=None, server={
            'block_device_mapping_v2': [{
                'boot_index': 0, 'source_type': 'blank',
                'destination_type': 'volume', 'volume_size': 1}]})
        cloud.assert_overridden(server)
        assert cloud.record(server) == {'hw_disk_bus': None}

    @pytest.mark.parametrize('name, value, spec', [
        ('hw_pmu', 'true', {'hw__pmu': 'false'}),
        ('hw_vif_multiqueue_enabled', 'true',
         {'hw__vif_multiqueue_enabled': 'false'}),
        ('os_secure_boot', 'required',
         {'os__secure_boot': 'disabled'})], ids=ids.short)
    def test_conflicts_are_400_although_a_volume_has_no_name(
            self, cloud, name, value, spec):
        volume = cloud.volume()
        cloud.assert_refused(
            cloud.create({name: value}, image=None,
                         flavor=cloud.flavor(**spec),
                         server=cloud.from_volume(volume)),
            400, {name: 'flavor_conflict'})


class TestLegacyNames:
    """Images name properties in old ways, some of which Nova still reads."""

    def test_legacy_spellings_of_an_overridden_property_leave(self, cloud):
        image = cloud.image(hypervisor_type='xen', vmware_ostype='ubuntu')
        server = cloud.boot({'img_hv_type': 'kvm'}, image=image)
        stored = cloud.system_metadata(server)
        assert 'hypervisor_type' not in stored
        assert stored['img_hv_type'] == 'kvm'
        assert stored['vmware_ostype'] == 'ubuntu'
        assert cloud.record(server) == {'img_hv_type': 'xen'}

    @pytest.mark.smoke
    def test_names_that_nova_reads_past_the_object_are_set_too(self, cloud):
        server = cloud.boot(
            {'hw_vm_mode': 'hvm', 'hw_architecture': 'x86_64',
             'hw_auto_disk_config': 'true'},
            image=cloud.image(vm_mode='xen', architecture='aarch64'))
        instance = cloud.instance(server)
        assert instance.vm_mode == 'hvm'
        assert instance.architecture == 'x86_64'
        assert instance.auto_disk_config is True

    def test_vmware_adaptertype_splits_into_what_is_not_overridden(self, cloud):
        image = cloud.image(vmware_adaptertype='lsiLogic')
        server = cloud.boot({'hw_disk_bus': 'virtio'}, image=image)
        stored = cloud.system_metadata(server)
        assert 'vmware_adaptertype' not in stored
        assert cloud.request_spec(server)['hw_disk_bus'] == 'virtio'
        assert cloud.request_spec(server)['hw_scsi_model'] == 'lsilogic'
        assert cloud.record(server) == {'hw_disk_bus': 'scsi'}


class PastTheMergeCloud(base.Cloud):
    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(
            'nova_image_override.api.compute_api.API'
            '._validate_and_build_base_options',
            api.API._validate_and_build_base_options))


class TestPastTheMerge:
    """A Nova that would create servers without the overrides asked for."""

    CLOUD = PastTheMergeCloud

    def test_a_create_that_asks_for_overrides_fails_and_creates_nothing(
            self, cloud):
        for count in (1, 2):
            cloud.create({'hw_disk_bus': 'scsi'},
                         server={'min_count': count}).expect(500)
        cloud.assert_nothing_created()

    def test_a_create_that_asks_for_none_is_nova_s_own(self, cloud):
        for overrides in (None, {}):
            cloud.create(overrides).expect(202)
        assert len(cloud.http('GET', '/servers').body['servers']) == 2
