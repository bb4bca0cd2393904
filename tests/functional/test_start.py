"""nova-api starts with sound rules and a Nova it knows, or not at all."""

import functools
import importlib.metadata
import pathlib
import sys
import types
from unittest import mock

import fixtures
from nova import service
from nova.api.openstack import wsgi
from nova.api.openstack.compute import routes
from nova.api.openstack.compute import servers
from nova.compute import api
from nova.compute import manager as nova_manager
from nova.virt.libvirt import driver
from oslo_utils import importutils
import pytest

from nova_image_override import errors
from nova_image_override.api import application
from nova_image_override.api import router
from nova_image_override.api import startup
from nova_image_override.api.servers import ServersController
from nova_image_override.cmd import run_nova_compute as compute
from nova_image_override.compute import manager
from nova_image_override.nova_interfaces import api as api_interfaces
from nova_image_override.nova_interfaces import compute as compute_interfaces
from nova_image_override.nova_interfaces import interface
from testing.harness import ids
from testing.harness import nodb


class Nova(nodb.Nova):
    def start(self, **options):
        self.override(**options)
        with mock.patch.object(application.APIRouterV21, '__init__',
                               return_value=None):
            return router.APIRouterV21.factory({})

    def refused(self, *told):
        """Start on a Nova of another shape."""
        with pytest.raises(errors.UnsupportedNova) as error:
            self.start()
        assert '\n' not in str(error.value)
        for each in told:
            assert each in str(error.value)

    def refused_with_routes(self, routed, *told):
        with mock.patch.object(routes, 'ROUTE_LIST', routed):
            self.refused(*told)

    def announced(self, **options):
        """Return what nova-api logs, which loads v2 and v2.1."""
        startup._announce.cache_clear()
        logged = self.useFixture(fixtures.FakeLogger(
            startup.__name__, format='%(levelname)s %(message)s'))
        for _ in 'v2', 'v2.1':
            self.start(**options)
        return logged.output

    def file(self, text):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'file')
        path.write_text(text)
        return str(path)

    def run_command(self, *, managers=None, fails=None):
        argv = ['/usr/bin/nova-compute-image-override', '--config-file', 'x']
        nova_command = mock.Mock()
        nova_command.main.side_effect = fails
        with (mock.patch.object(sys, 'argv', argv),
              mock.patch.dict(sys.modules, {
                  'nova.cmd.compute': nova_command}),
              mock.patch('nova.cmd.compute', nova_command, create=True),
              mock.patch.object(service, 'SERVICE_MANAGERS', managers)):
            compute.main()
        return argv, nova_command.main


class TestStart:
    @pytest.mark.smoke
    def test_everything_that_is_used_of_the_running_release_is_there(self):
        api_interfaces.verify()

    @pytest.mark.parametrize('option, entry, hint', [
        ('allowed_properties', '=x', 'name is missing'),
        ('allowed_properties', 'hw_disk_bus=', 'value is empty'),
        ('allowed_properties', 'hw_disk_bus=a||b', 'value is empty'),
        ('denied_properties', 'hw_[disk', 'not closed'),
        ('denied_properties', 'hw_disk_bus=[a', 'not closed'),
        ('denied_properties', 'vm_mode', 'write hw_vm_mode')])
    def test_a_malformed_list_stops_the_start_with_one_line(
            self, nova, option, entry, hint):
        lists = {'allowed_properties': [], 'denied_properties': [],
                 option: [entry]}
        with pytest.raises(errors.StartupError) as error:
            nova.start(**lists)
        assert f'[image_override] {option}' in str(error.value)
        assert hint in str(error.value)
        assert '\n' not in str(error.value)

    def test_why_it_does_not_start_is_told_once_in_a_process(self, nova):
        router._tell_why.cache_clear()
        logged = nova.useFixture(fixtures.FakeLogger(router.__name__))
        for _ in 'a start', 'another try of the web server':
            with pytest.raises(errors.StartupError):
                nova.start(allowed_properties=['vm_mode'])
        assert len(logged.output.splitlines()) == 1

    def test_a_name_that_this_nova_does_not_know_is_a_warning(self, nova):
        logged = nova.useFixture(fixtures.FakeLogger())
        nova.start(allowed_properties=['hw_from_the_future', 'hw_disk_bus'])
        assert 'hw_from_the_future' in logged.output
        assert 'hw_disk_bus' not in logged.output

    def test_a_process_logs_once_what_rules_there_are(self, nova):
        (line,) = nova.announced(
            allowed_properties=['hw_disk_bus', 'trait:HW_*', 'os_type=l*'],
            denied_properties=['hw_machine_type']).splitlines()
        version = importlib.metadata.version('nova-image-override')
        assert line == (
            f'INFO nova-image-override {version}: 3 entries in '
            'allowed_properties, 1 in denied_properties, 0 presets; '
            'Glance: not given')

    def test_with_presets_something_may_be_overridden(self, nova):
        (line,) = nova.announced(allowed_properties=[], presets_file=nova.file(
            'one: {description: x, properties: {hw_pmu: yes}}')).splitlines()
        assert ', 1 presets;' in line

    def test_presets_that_cannot_be_stop_it_with_a_line_each(self, nova):
        path = nova.file('one: {description: x, properties: '
                         '{hw_pum: yes, img_owner_id: x}}')
        with pytest.raises(errors.StartupError) as caught:
            nova.start(presets_file=path)
        assert [line.partition(path)[2][:27]
                for line in str(caught.value).split('\n')] == [
            ': preset one: hw_pum: unkno', ': preset one: img_owner_id:']

    @pytest.mark.parametrize('option, text', [
        ('property_protection_file',
         '[^hw_disk_bus$]\ncreate=admin\nread=@\nupdate=admin\n'
         'delete=admin\n'),
        ('glance_image_import_files',
         '[image_import_opts]\nimage_import_plugins=[inject_image_metadata]\n'
         '[inject_metadata_properties]\ninject=os_type:linux,x:y\n')])
    def test_the_start_logs_whether_glances_files_are_given(
            self, nova, option, text):
        path = nova.file(text)
        assert 'Glance: the files that nova.conf names' in nova.announced(
            allowed_properties=['*'],
            **{option: [path] if option.endswith('files') else path})

    def test_a_list_that_permits_nothing_is_a_warning_at_start(self, nova):
        assert ('WARNING [image_override] allowed_properties is empty: nothing '
                'may be overridden') in nova.announced(allowed_properties=[])

    def test_a_nova_with_another_signature_stops_the_start(self, nova):
        def changed(self, context, boot_meta, flavor):
            pass

        with mock.patch.object(
                api.API, '_validate_and_build_base_options', changed):
            nova.refused('API._validate_and_build_base_options', 'boot_meta')

    def test_a_nova_without_a_name_that_is_used_stops_the_start(self, nova):
        with mock.patch.object(
                api_interfaces, 'INTERFACES', interface.called(
                    'nova.compute.api:API', 'a test', no_such_method='')):
            nova.refused('API.no_such_method')

    def test_a_nova_without_its_table_of_routes_stops_the_start(self, nova):
        with mock.patch.object(routes, 'ROUTE_LIST'):
            del routes.ROUTE_LIST
            nova.refused('has no nova.api.openstack.compute.routes.ROUTE_LIST')

    @pytest.mark.parametrize('routed', [
        None, {'/servers': {}}, [('/servers', ['GET'], 1)],
        [('/servers', None)],
        [('/servers', {'GET': routes.server_controller})]], ids=ids.short)
    def test_a_table_of_routes_of_another_shape_stops_the_start(
            self, nova, routed):
        nova.refused_with_routes(routed, 'routes.ROUTE_LIST')

    def test_a_nova_without_the_routes_of_servers_stops_the_start(self, nova):
        for path in ('/servers', '/servers/{id}', '/servers/{id}/action'):
            nova.refused_with_routes(
                [route for route in routes.ROUTE_LIST if route[0] != path],
                f'has no {path} in')

    def test_a_nova_that_routes_servers_in_another_way_stops_the_start(
            self, nova):
        """Whichever way a request comes in, the resource has to be ours."""
        make = routes._create_controller
        for path in ('/servers', '/servers/{id}', '/servers/{id}/action'):
            for maker in (lambda: None, routes.server_controller.args[0],
                          functools.partial(make, object, []),
                          functools.partial(
                              lambda *args: make(*args),
                              *routes.server_controller.args),
                          functools.partial(
                              make, routes.server_controller.args[0])):
                nova.refused_with_routes([
                    (each, {'GET': [maker, 'show']} if each == path
                     else methods) for each, methods in routes.ROUTE_LIST],
                    f'the resource of {path} in another way')

    def test_an_action_without_a_compute_api_stops_the_start(self):
        """Its own would silently lose the server's overrides."""
        class Renamed(wsgi.Controller):
            def __init__(self):
                super().__init__()
                self.the_api = None

        with pytest.raises(errors.UnsupportedNova, match='no compute_api'):
            application.with_our_api(Renamed, None)

    def test_a_subclass_of_nova_s_controller_has_to_have_its_shape(self):
        class Another(servers.ServersController):
            __module__ = 'nova.another'

            def show(self, req, server):
                pass

        with (mock.patch.object(api, 'API'),
              pytest.raises(errors.UnsupportedNova,
                            match=r'Another.show\(self, req, server\)')):
            ServersController(None, None, None).extending(Another)

    def test_a_rebuild_of_another_shape_stops_the_start(self, nova):
        def renamed(self, req, id, body, added):
            pass

        method = servers.ServersController.wsgi_actions['rebuild']
        with mock.patch.object(servers.ServersController, method, renamed):
            nova.refused(f'{method}(req, id, body, added)')
        with mock.patch.dict(servers.ServersController.wsgi_actions):
            del servers.ServersController.wsgi_actions['rebuild']
            nova.refused('has no rebuild in')


class TestComputeStart:
    @pytest.mark.smoke
    def test_everything_that_is_used_of_the_running_release_is_there(self):
        compute_interfaces.verify()

    def test_a_nova_with_another_signature_stops_the_start(self):
        def changed(self, context, image_meta, instance):
            pass

        with (mock.patch.object(nova_manager.ComputeManager, '_prep_resize',
                                changed),
              pytest.raises(errors.UnsupportedNova) as error):
            importutils.import_class(compute.MANAGER)
        assert 'ComputeManager._prep_resize' in str(error.value)

    def test_a_manager_that_holds_what_ours_needs_otherwise_stops_the_start(
            self):
        with (mock.patch.object(nova_manager.ComputeManager, '__init__',
                                return_value=None),
              pytest.raises(
                  errors.UnsupportedNova,
                  match='ComputeManager no driver, host, reportclient, rt')):
            manager.ComputeManager()

    def test_a_libvirt_driver_that_holds_its_apis_otherwise_stops_the_start(
            self):
        def init(self):
            self.driver = driver.LibvirtDriver.__new__(driver.LibvirtDriver)
            self.host = self.reportclient = self.rt = None

        with (mock.patch.object(nova_manager.ComputeManager, '__init__', init),
              mock.patch.object(manager, 'ResourceTracker'),
              pytest.raises(errors.UnsupportedNova, match=(
                  'LibvirtDriver no _image_api, _volume_api'))):
            manager.ComputeManager()

    @pytest.mark.parametrize('managers', [
        None, {}, {'nova-compute': manager}, ['nova-compute'],
        types.MappingProxyType({'nova-compute': 'x'})], ids=ids.short)
    def test_the_command_refuses_a_nova_that_takes_its_manager_elsewhere(
            self, nova, managers):
        with pytest.raises(SystemExit) as error:
            nova.run_command(managers=managers)
        assert 'nova.service.SERVICE_MANAGERS' in str(error.value)

    @pytest.mark.parametrize(('fails', 'told'), [
        (interface.unsupported('gives ComputeManager no rt'), SystemExit),
        (ValueError('of Nova'), ValueError)])
    def test_the_command_ends_with_what_our_manager_lacks_and_nothing_else(
            self, nova, fails, told):
        with pytest.raises(told) as error:
            nova.run_command(
                managers=dict(service.SERVICE_MANAGERS), fails=fails)
        assert str(error.value) == str(fails)

    def test_the_command_runs_nova_compute_with_our_manager(self, nova):
        managers = dict(service.SERVICE_MANAGERS)
        argv, main = nova.run_command(managers=managers)
        main.assert_called_once_with()
        # The program's name chooses the default configuration files.
        assert argv == ['nova-compute', '--config-file', 'x']
        assert importutils.import_class(
            managers['nova-compute']) is manager.ComputeManager
