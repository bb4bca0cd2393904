"""GET /image-props-override: what this caller may send."""

import re

import jsonschema
import pytest

from testing import paste_config
from testing.harness import base
from testing.harness import ids

_CREATE = 'os_compute_api:servers:create:image_props_override'


def accepted(cloud):
    """Return what says whether the schema takes overrides."""
    schema = cloud.discover()['schema']
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid


class TestDiscovery:
    BUILD = False
    OPTIONS = {
        'allowed_properties': [
            'hw_disk_bus', 'hw_boot_menu', 'hw_mem_page_size=small|large',
            'hw_numa_*', 'trait:HW_CPU_*', 'os_command_line=console=*',
            'img_signature', 'hw_vif_model'],
        'denied_properties': ['hw_disk_bus=sc*', 'hw_numa_mem'],
    }
    POLICY = {_CREATE + ':hw_vif_model': 'role:admin'}

    def test_discovery_needs_no_version_and_names_the_range(self, cloud):
        found = cloud.discover(extension=None, compute=None)
        assert found['min_version'] == '1.0'
        assert found['max_version'] == base.LATEST

    @pytest.mark.smoke
    def test_only_what_the_caller_may_send_is_on_offer(self, cloud):
        schema = cloud.discover()['schema']
        assert set(schema['properties']) == {
            'hw_boot_menu', 'hw_disk_bus', 'hw_mem_page_size', 'hw_numa_nodes',
            'os_command_line'}
        assert schema['additionalProperties'] is False
        assert 'scsi' not in schema['properties']['hw_disk_bus']['enum']
        assert 'virtio' in schema['properties']['hw_disk_bus']['enum']
        assert 'hw_vif_model' in cloud.discover(
            admin=True)['schema']['properties']

    def test_a_property_says_type_limits_values_and_meaning(self, cloud):
        properties = cloud.discover()['schema']['properties']
        nodes = properties['hw_numa_nodes']
        assert nodes['type'] == ['string', 'null']
        assert nodes['contentSchema'] == {
            'type': 'integer', 'minimum': 1, 'maximum': 128}
        assert 'NUMA' in nodes['description']
        assert properties['hw_boot_menu']['enum'] == ['true', 'false', None]

    def test_null_is_on_offer_where_removal_is_permitted(self, cloud):
        valid = accepted(cloud)
        assert valid({'hw_boot_menu': None})
        assert not valid({'hw_mem_page_size': None})

    @pytest.mark.parametrize('asked, permitted', [
        ({'hw_disk_bus': 'virtio'}, True),
        ({'hw_disk_bus': 'scsi'}, False),
        ({'hw_numa_nodes': '1'}, True),
        ({'hw_numa_nodes': '1', 'hw_numa_cpus.0': '0-1',
          'hw_numa_mem.0': '1024'}, False),
        ({'trait:HW_CPU_X86_AVX': 'required'}, True),
        ({'trait:CUSTOM_X': 'required'}, False),
        ({'os_command_line': 'console=ttyS0 a'}, True),
        ({'os_command_line': 'single'}, False),
        ({'img_signature': 'x'}, False),
        ({'hw_vif_model': 'e1000'}, False),
        ({'hw_boot_menu': None}, True)], ids=ids.short)
    def test_what_the_schema_accepts_is_accepted_and_the_rest_refused(
            self, cloud, asked, permitted):
        image = cloud.image(kernel_id=base.IMAGE)
        assert accepted(cloud)(asked) == permitted
        cloud.create(asked, image=image).expect(202 if permitted else 403)

    def test_a_reader_may_send_nothing(self, cloud):
        schema = cloud.discover(roles='reader')['schema']
        assert schema['properties'] == {}
        assert schema['patternProperties'] == {}

    def test_the_project_may_stand_in_the_path(self, cloud):
        cloud.http(
            'GET', f'/{cloud.api.project_id}/image-props-override').expect(200)
        cloud.http('GET', '/not-a-project/image-props-override').expect(404)

    def test_patterns_are_anchored(self, cloud):
        patterns = cloud.discover()['schema']['patternProperties']
        assert patterns
        for pattern in patterns:
            assert re.fullmatch(r'\^.*\$', pattern), pattern


class TestDrivers:
    BUILD = False

    @pytest.mark.parametrize(('name', 'value'), [
        ('hw_disk_type', 'sparse'), ('hw_ipxe_boot', 'true'),
        ('hw_video_model', 'gop'), ('hw_floppy_bus', 'ide'),
        ('hw_ephemeral_encryption', 'true')])
    def test_what_a_create_always_refuses_is_not_on_offer(
            self, cloud, name, value):
        assert not accepted(cloud)({name: value})
        cloud.assert_refused(
            cloud.create({name: value}), 400, {name: 'no_effect'})

    @pytest.mark.parametrize(('name', 'value'), [
        ('hw_video_model', 'virtio'), ('hw_floppy_bus', 'fdc'),
        ('hw_ephemeral_encryption', 'false'),
        # The scheduler acts on it, and every guest has the other anyway.
        ('img_hv_type', 'qemu'), ('hw_rng_model', 'virtio')])
    def test_what_a_host_acts_on_is(self, cloud, name, value):
        assert accepted(cloud)({name: value})
        assert cloud.create({name: value}).status == 202


class TestWithoutTheExtension:
    APP = paste_config.NOVA_APP

    def test_404_says_that_the_cloud_has_no_extension(self, cloud):
        assert cloud.http('GET', '/image-props-override').status == 404
