"""nova-api starts with sound rules beside a Nova it knows, or not at all."""

import sys
from unittest import mock

import fixtures
from nova import service
from nova.compute import api
from nova.compute import manager as nova_manager
from oslo_utils import importutils
import pytest

from nova_image_override import errors
from nova_image_override.api import router
from nova_image_override.api import seams
from nova_image_override.cmd import compute
from nova_image_override.compute import manager
from nova_image_override.compute import seams as compute_seams
from tests.functional import nodb


class Start(nodb.TestCase):
    def start(self, **options):
        self.override(**options)
        with mock.patch.object(router.APIRouterV21, '__init__',
                               return_value=None):
            return router.APIRouterV21.factory({})

    @pytest.mark.smoke
    def test_every_seam_of_the_running_release_is_known(self):
        seams.verify()

    def test_sound_lists_start(self):
        self.start(allowed_properties=['hw_*', 'os_type=linux|windows'],
                   denied_properties=['hw_machine_type'])

    def test_a_malformed_list_stops_the_start_with_one_line(self):
        for option, entry, hint in (
                ('allowed_properties', '=x', 'name is missing'),
                ('allowed_properties', 'hw_disk_bus=', 'value is empty'),
                ('allowed_properties', 'hw_disk_bus=a||b', 'value is empty'),
                ('denied_properties', 'hw_[disk', 'not closed'),
                ('denied_properties', 'hw_disk_bus=[a', 'not closed'),
                ('denied_properties', 'vm_mode', 'write hw_vm_mode')):
            with self.subTest(entry):
                error = self.assertRaises(
                    errors.StartupError, self.start, **{option: [entry]})
                self.assertIn(f'[image_override] {option}', str(error))
                self.assertIn(hint, str(error))
                self.assertNotIn('\n', str(error))

    def test_a_name_that_this_nova_does_not_know_is_a_warning(self):
        logged = self.useFixture(fixtures.FakeLogger())
        self.start(allowed_properties=['hw_from_the_future', 'hw_disk_bus'])
        self.assertIn('hw_from_the_future', logged.output)
        self.assertNotIn('hw_disk_bus', logged.output)

    def test_a_nova_with_another_signature_stops_the_start(self):
        def changed(self, context, boot_meta, flavor):
            pass

        with mock.patch.object(
                api.API, '_validate_and_build_base_options', changed):
            error = self.assertRaises(errors.UnsupportedNova, self.start)
        self.assertIn('API._validate_and_build_base_options', str(error))
        self.assertIn('boot_meta', str(error))

    def test_a_nova_without_a_seam_stops_the_start(self):
        with mock.patch.object(
                seams, 'SEAMS', ((api.API, 'no_such_method', ()),)):
            error = self.assertRaises(errors.UnsupportedNova, self.start)
        self.assertIn('API.no_such_method', str(error))

    def test_a_nova_that_routes_in_another_way_stops_the_start(self):
        with mock.patch.object(
                seams.routes, 'server_controller', lambda: None):
            error = self.assertRaises(errors.UnsupportedNova, self.start)
        self.assertIn('server_controller', str(error))


class ComputeStart(nodb.TestCase):
    @pytest.mark.smoke
    def test_every_seam_of_the_running_release_is_known(self):
        compute_seams.verify()

    def test_a_nova_with_another_signature_stops_the_start(self):
        def changed(self, context, image_meta, instance):
            pass

        with mock.patch.object(
                nova_manager.ComputeManager, '_prep_resize', changed):
            error = self.assertRaises(
                errors.UnsupportedNova, manager.ComputeManager)
        self.assertIn('ComputeManager._prep_resize', str(error))

    def test_the_command_runs_nova_compute_with_our_manager(self):
        argv = ['/usr/bin/nova-compute-image-override', '--config-file', 'x']
        with mock.patch.object(sys, 'argv', argv), mock.patch(
                'nova.cmd.compute', create=True) as nova_command, (
                mock.patch.dict(service.SERVICE_MANAGERS)):
            compute.main()
            nova_command.main.assert_called_once_with()
            # The program's name chooses the default configuration files.
            self.assertEqual(['nova-compute', '--config-file', 'x'], argv)
            self.assertIs(manager.ComputeManager, importutils.import_class(
                service.SERVICE_MANAGERS['nova-compute']))
