"""GET /image-props-override: what this caller may send."""

import re

import jsonschema
import pytest

from testing.harness import base
from testing.harness import paste_config

_CREATE = 'os_compute_api:servers:create:image_props_override'


class Discovery(base.TestCase):
    BUILD = False
    OPTIONS = {
        'allowed_properties': [
            'hw_disk_bus', 'hw_boot_menu', 'hw_mem_page_size=small|large',
            'hw_numa_*', 'trait:HW_CPU_*', 'os_command_line=console=*',
            'img_signature', 'hw_vif_model'],
        'denied_properties': ['hw_disk_bus=sc*', 'hw_numa_mem'],
    }
    POLICY = {_CREATE + ':hw_vif_model': 'role:admin'}

    def discover(self, **kwargs):
        answer = self.http('GET', '/image-props-override', **kwargs)
        self.assertEqual(200, answer.status, answer.text)
        return answer.body[base.PARAMETER]

    def test_it_needs_no_version_and_names_the_range(self):
        found = self.discover(extension=None, compute=None)
        self.assertEqual('1.0', found['min_version'])
        self.assertEqual(base.LATEST, found['max_version'])

    @pytest.mark.smoke
    def test_only_what_the_caller_may_send_is_on_offer(self):
        schema = self.discover()['schema']
        self.assertEqual(
            {'hw_boot_menu', 'hw_disk_bus', 'hw_mem_page_size',
             'hw_numa_nodes', 'os_command_line'}, set(schema['properties']))
        self.assertIs(False, schema['additionalProperties'])
        self.assertNotIn('scsi', schema['properties']['hw_disk_bus']['enum'])
        self.assertIn('virtio', schema['properties']['hw_disk_bus']['enum'])
        self.assertIn('hw_vif_model',
                      self.discover(admin=True)['schema']['properties'])

    def test_a_property_says_type_limits_values_and_meaning(self):
        properties = self.discover()['schema']['properties']
        nodes = properties['hw_numa_nodes']
        self.assertEqual(['string', 'null'], nodes['type'])
        self.assertEqual(
            {'type': 'integer', 'minimum': 1, 'maximum': 128},
            nodes['contentSchema'])
        self.assertIn('NUMA', nodes['description'])
        self.assertEqual(['true', 'false', None],
                         properties['hw_boot_menu']['enum'])

    def test_null_is_on_offer_where_removal_is_permitted(self):
        schema = self.discover()['schema']
        check = jsonschema.Draft202012Validator(schema).is_valid
        self.assertTrue(check({'hw_boot_menu': None}))
        self.assertFalse(check({'hw_mem_page_size': None}))

    def test_what_the_schema_accepts_is_accepted_and_the_rest_refused(self):
        schema = self.discover()['schema']
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        image = self.image(kernel_id=base.IMAGE)
        for asked, permitted in (
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
                ({'hw_boot_menu': None}, True)):
            with self.subTest(str(asked)):
                self.assertEqual(permitted, validator.is_valid(asked))
                self.assertEqual(
                    202 if permitted else 403,
                    self.create(asked, image=image).status)

    def test_a_reader_may_send_nothing(self):
        schema = self.discover(roles='reader')['schema']
        self.assertEqual({}, schema['properties'])
        self.assertEqual({}, schema['patternProperties'])

    def test_the_project_may_stand_in_the_path(self):
        answer = self.http(
            'GET', f'/{self.api.project_id}/image-props-override')
        self.assertEqual(200, answer.status)
        self.assertEqual(404, self.http(
            'GET', '/not-a-project/image-props-override').status)

    def test_patterns_are_anchored(self):
        patterns = self.discover()['schema']['patternProperties']
        self.assertTrue(patterns)
        for pattern in patterns:
            self.assertTrue(re.fullmatch(r'\^.*\$', pattern), pattern)


class WithoutTheExtension(base.TestCase):
    APP = paste_config.NOVA_APP

    def test_404_says_that_the_cloud_has_no_extension(self):
        self.assertEqual(
            404, self.http('GET', '/image-props-override').status)
