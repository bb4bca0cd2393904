"""POST /image-props-override/check: what a create would get."""

from unittest import mock

from nova.compute import api
import pytest

from nova_image_override import errors
from nova_image_override import versions
from testing.harness import base
from testing.harness import statements


class Case(base.TestCase):
    OPTIONS = {
        'allowed_properties': ['*'], 'denied_properties': ['hw_vif_model']}

    def check(self, overrides=None, *, image=base.IMAGE, flavor=None,
              server=None, **kwargs):
        """POST /image-props-override/check, with the body of a create."""
        return self.http('POST', versions.CHECK_PATH, self.server_body(
            overrides, image, flavor, **(server or {})), **kwargs)

    def told(self, *args, **kwargs):
        """Return the answer of a check that is not refused."""
        answer = self.check(*args, **kwargs)
        self.assertEqual(200, answer.status, answer.text)
        self.assertEqual([base.PARAMETER], list(answer.body))
        return answer.body[base.PARAMETER]


class Answers(Case):
    BUILD = False

    def test_the_merged_properties_and_whose_values_they_are(self):
        image = self.image(hw_disk_bus='virtio', os_distro='debian')
        self.assertEqual({
            'properties': {'hw_disk_bus': 'scsi', 'hw_boot_menu': 'true',
                           'os_distro': 'debian'},
            'overridden': {
                'hw_disk_bus': {'value': 'scsi', 'image_value': 'virtio'},
                'hw_boot_menu': {'value': 'true', 'image_value': None}},
            'numa_topology': None,
        }, self.told({'hw_disk_bus': 'scsi', 'hw_boot_menu': 'yes'},
                     image=image))
        self.assert_nothing_created()

    def test_a_removed_property_has_no_value(self):
        told = self.told({'hw_disk_bus': None},
                         image=self.image(hw_disk_bus='virtio'))
        self.assertEqual({}, told['properties'])
        self.assertEqual(
            {'hw_disk_bus': {'value': None, 'image_value': 'virtio'}},
            told['overridden'])

    def test_a_volume_s_properties_are_those_of_its_metadata(self):
        told = self.told(
            {'hw_disk_bus': 'scsi'}, image=None, server=self.from_volume(
                self.volume(hw_disk_bus='virtio', os_distro='debian')))
        self.assertEqual('debian', told['properties']['os_distro'])
        self.assertEqual('scsi', told['properties']['hw_disk_bus'])
        self.assertEqual(
            'virtio', told['overridden']['hw_disk_bus']['image_value'])

    def test_a_legacy_name_of_the_image_is_gone_as_at_create(self):
        told = self.told({'hw_disk_bus': 'ide'},
                         image=self.image(vmware_adaptertype='lsiLogic'))
        self.assertNotIn('vmware_adaptertype', {
            name for name, value in told['properties'].items()
            if value == 'lsiLogic'})

    def test_without_overrides_it_tells_what_image_and_flavor_make(self):
        for overrides in (None, {}):
            self.assertEqual(
                {'properties': {'hw_disk_bus': 'ide'}, 'overridden': {},
                 'numa_topology': None},
                self.told(overrides, image=self.image(hw_disk_bus='ide')))

    def test_a_name_and_networks_may_be_left_out_in_every_microversion(self):
        server = self.server_body({'hw_disk_bus': 'ide'})['server']
        del server['name'], server['networks']
        for compute in (None, '2.1', '2.36', '2.37', '2.93', 'latest'):
            answer = self.http('POST', versions.CHECK_PATH,
                               {'server': server}, compute=compute)
            self.assertEqual(200, answer.status, (compute, answer.text))

    def test_it_is_permitted_to_whom_a_create_is(self):
        answer = self.check({'hw_disk_bus': 'ide'}, roles='reader')
        self.assertEqual(403, answer.status)
        self.assertEqual(
            answer.text,
            self.create({'hw_disk_bus': 'ide'}, roles='reader').text)


class Topologies(Case):
    @pytest.mark.smoke
    def test_the_topology_that_is_told_is_the_one_that_is_built(self):
        overrides = {
            'hw_numa_nodes': '2', 'hw_numa_cpus.0': '0',
            'hw_numa_cpus.1': '1-3', 'hw_numa_mem.0': '256',
            'hw_numa_mem.1': '768'}
        flavor = self.flavor(vcpus=4, ram=1024)
        told = self.told(overrides, flavor=flavor)['numa_topology']
        self.assertEqual({
            'nodes': [
                {'id': 0, 'cpus': [0], 'dedicated_cpus': [],
                 'memory_mb': 256, 'page_size': None, 'cpu_policy': None,
                 'cpu_thread_policy': None},
                {'id': 1, 'cpus': [1, 2, 3], 'dedicated_cpus': [],
                 'memory_mb': 768, 'page_size': None, 'cpu_policy': None,
                 'cpu_thread_policy': None}],
            'emulator_threads_policy': None}, told)
        server = self.boot(overrides, flavor=flavor)
        self.assertEqual(
            [(node['cpus'], node['memory_mb']) for node in told['nodes']],
            [(sorted(cell.total_cpus), cell.memory) for cell
             in self.instance(server).numa_topology.cells])

    def test_page_sizes_and_policies_are_told_by_their_names(self):
        def node(overrides, **specs):
            return self.told(overrides, flavor=self.flavor(**specs))[
                'numa_topology']['nodes'][0]

        for size, told in (('small', 'small'), ('large', 'large'),
                           ('any', 'any'), ('2MB', 2048), ('1048576', 2**20)):
            self.assertEqual(told, node(
                {'hw_mem_page_size': size}, hw__mem_page_size='any',
            )['page_size'])
        found = node({'hw_cpu_policy': 'dedicated',
                      'hw_cpu_thread_policy': 'isolate'})
        self.assertEqual(
            ('dedicated', 'isolate', [0, 1], [0, 1]),
            (found['cpu_policy'], found['cpu_thread_policy'], found['cpus'],
             found['dedicated_cpus']))
        # No image property sets this.
        self.assertEqual('isolate', self.told(
            {'hw_cpu_policy': 'dedicated'}, flavor=self.flavor(
                hw__cpu_policy='dedicated',
                hw__emulator_threads_policy='isolate'))[
                    'numa_topology']['emulator_threads_policy'])


class Refusals(Case):
    BUILD = False

    def assert_as_create(self, body, status, **kwargs):
        checked, created = (
            self.http('POST', path, body, **kwargs)
            for path in (versions.CHECK_PATH, '/servers'))
        self.assertEqual(status, created.status, body)
        self.assertEqual(
            (status, created.text), (checked.status, checked.text))
        self.assert_nothing_created()

    @pytest.mark.smoke
    def test_a_refusal_is_exactly_that_of_the_create(self):
        for status, overrides in (
                (400, {'hw_disk_buss': 'ide', 'hw_boot_menu': 'perhaps'}),
                (400, {'hw_numa_nodes': '5'}),
                (400, {'hw_cpu_realtime_mask': '^0'}),
                (400, {'hw_mem_page_size': 'large'}),
                (400, 'hw_disk_bus=ide'),
                (400, ['hw_disk_bus']),
                (403, {'hw_vif_model': 'e1000', 'img_signature': 'x'})):
            self.assert_as_create(self.server_body(overrides), status)

    def test_so_is_what_nova_itself_refuses(self):
        overrides = {'hw_disk_bus': 'ide'}
        missing = '7c1f1b1e-1d6a-4b43-9f39-3b1b1a1c0f00'
        for server in (
                {'flavor': 'none'}, {'image': missing}, {'image': None},
                {'image': None, 'block_device_mapping_v2': [{
                    'boot_index': 0, 'source_type': 'image', 'uuid': missing,
                    'destination_type': 'volume', 'volume_size': 1}]},
                {'key_name': 'none'}, {'name': ''}, {'min_count': 0},
                {'min_count': 2, 'max_count': 1}, {'no_such_key': 'x'},
                {'availability_zone': 'none'}):
            self.assert_as_create(self.server_body(overrides, **server), 400)
        for body in ({}, {'server': None}, {'server': []}, [], 'server',
                     {**self.server_body(overrides), base.PARAMETER: {}}):
            self.assert_as_create(body, 400)

    def test_a_full_quota_is_told(self):
        self.flags(group='quota', instances=1)
        self.assert_as_create(
            self.server_body({'hw_disk_bus': 'ide'}, min_count=2), 403)

    def test_a_request_that_does_not_name_the_extension_is_refused(self):
        answer = self.check({'hw_disk_bus': 'ide'}, extension=None)
        self.assert_refused(
            answer, 400, {base.PARAMETER: errors.VERSION_MISSING})

    def test_the_legacy_api_does_not_take_it(self):
        self.assertEqual(
            {base.PARAMETER: errors.NOT_HERE},
            self.check({'hw_disk_bus': 'ide'}, api='v2',
                       compute=None).problems)

    def test_nothing_is_left_behind(self):
        made = []
        volume = self.volume()
        self.useFixture(statements.Statements(made.append))
        # What the Cinder fixture has put there cannot be autospecced again.
        with mock.patch('nova.volume.cinder.API.attachment_create',
                        autospec=False) as attach:
            for image, server in (
                    (None, self.from_volume(volume)), (base.IMAGE, {})):
                answer = self.check(
                    {'hw_disk_bus': 'ide'}, image=image, server=server)
                self.assertEqual(200, answer.status, answer.text)
        attach.assert_not_called()
        # With all services stopped, tests/proof/test_check.py counts whatever
        # changes anything.
        self.assertEqual([], [
            text for text in statements.changing(made)
            if 'flavor' not in text])

    def test_a_check_that_nova_does_not_end_creates_no_server_in_silence(self):
        with mock.patch.object(
                api.API, '_populate_instance_for_create', autospec=True,
                side_effect=KeyError('renamed')):
            self.assertEqual(500, self.check({'hw_disk_bus': 'ide'}).status)
        self.assert_nothing_created()
