"""Nova: its API, extended by one line, its conductor and its scheduler.

And, for comparisons, an unmodified nova-api next to the extended one.
"""
from __future__ import annotations

import hashlib
import hmac
import json
import pathlib

import requests

from testing import examples
from testing import paste_config
from testing.deployment import installation
from testing.deployment import mariadb
from testing.deployment import processes
from testing.deployment import serve
from testing.deployment import settings
from testing.deployment import state as state_module
from testing.deployment import tenants
from testing.deployment import web

#: What the deployer lets tenants override.
ALLOWED = (
    'hw_boot_menu', 'hw_cdrom_bus', 'hw_cpu_*',
    'hw_disk_bus=virtio|scsi|ide|sata', 'hw_firmware_*', 'hw_input_bus',
    'hw_locked_memory', 'hw_machine_type=pc|q35', 'hw_maxphysaddr_*',
    'hw_mem_page_size', 'hw_numa_*', 'hw_pci_numa_affinity_policy',
    'hw_redirected_usb_ports', 'hw_scsi_model', 'hw_sound_model', 'hw_tpm_*',
    'hw_usb_model',
    'hw_vif_*', 'hw_video_model=vga|virtio|cirrus',
    'hw_virtio_packed_ring', 'hw_watchdog_action', 'img_config_drive',
    'os_command_line', 'os_secure_boot')

#: Seconds that services wait for each other's answers: a third of the default,
#: because tests of faults wait for a good part of it.
RPC_TIMEOUT = 20

# Nova's own, and those that NFV needs: without them only the host itself finds
# out that it is full.
_FILTERS = (
    'ComputeFilter', 'ComputeCapabilitiesFilter', 'ImagePropertiesFilter',
    'ServerGroupAntiAffinityFilter', 'ServerGroupAffinityFilter',
    'NUMATopologyFilter', 'PciPassthroughFilter')

# What takes pages and CPUs for one guest alone is for those who know what they
# are doing.
_POLICY = ''.join(
    f'"os_compute_api:servers:create:image_props_override:{name}": '
    '"role:nfv or role:admin"\n'
    for name in (
        'hw_cpu_policy', 'hw_cpu_realtime_mask', 'hw_cpu_thread_policy',
        'hw_locked_memory', 'hw_mem_page_size', 'hw_numa_cpus', 'hw_numa_mem',
        'hw_numa_nodes', 'hw_pci_numa_affinity_policy'))


def instances(state: state_module.State) -> pathlib.Path:
    """Return the folder of guests, which all hosts share."""
    return state.subfolder('nova', 'instances')


def common(state: state_module.State) -> settings.Settings:
    """Return what all services of Nova share."""
    return settings.common(state, 'nova') | {
        'DEFAULT': {
            'transport_url': settings.broker(state),
            'my_ip': '127.0.0.1',
            'rpc_response_timeout': str(RPC_TIMEOUT),
            'instances_path': str(instances(state)),
            'initial_cpu_allocation_ratio': '32',
            'initial_ram_allocation_ratio': '4',
            'reserved_host_memory_mb': '0',
            # The guest ignores its power button.
            'shutdown_timeout': '1',
            # A host without guests is the only one of its zone.
            'allow_resize_to_same_host': 'true'},
        'glance': {'region_name': 'RegionOne'},
        'cinder': settings.user(state, 'nova'),
        'key_manager': {'backend': 'barbican'},
        'barbican': {
            'auth_endpoint': state_module.url('keystone', '/v3'),
            'barbican_endpoint': state_module.url('barbican')},
        # For a flavor; no host has one.
        'pci': {'alias': json.dumps({
            'name': 'nic', 'device_type': 'type-PCI', 'vendor_id': '8086',
            'product_id': '10fb'})},
        'placement': settings.user(state, 'nova'),
        'neutron': settings.user(state, 'nova'),
        # Glance lets Nova upload the snapshots of tenants.
        'service_user': {'send_service_user_token': 'true',
                         **settings.user(state, 'nova')},
        'oslo_messaging_rabbit': {'heartbeat_timeout_threshold': '10'},
        # In both formats, as clouds that bill by them have them.
        'oslo_messaging_notifications': {'driver': 'messagingv2'},
        'notifications': {'notification_format': 'both',
                          'notify_on_state_change': 'vm_and_task_state'},
        # Without any display Nova gives guests no video device.
        'vnc': {'server_listen': '127.0.0.1'},
    }


def databases(
    state: state_module.State, server: str = mariadb.NAME,
) -> settings.Settings:
    """Return where the API's database is, and that of the first cell."""
    return {section: {'connection': settings.database(state, name, server)}
            for section, name in (('api_database', 'nova_api'),
                                  ('database', 'nova_cell1'))}


# With all that is in them; the first two are made by NovaAPI.setup.
_FORGET = '''
USE nova_api;
DELETE m FROM instance_mappings m JOIN cell_mappings c ON c.id = m.cell_id
    WHERE c.name NOT IN ('cell0', 'cell1');
DELETE m FROM host_mappings m JOIN cell_mappings c ON c.id = m.cell_id
    WHERE c.name NOT IN ('cell0', 'cell1');
DELETE FROM cell_mappings WHERE name NOT IN ('cell0', 'cell1');
'''


def forget_cells(database: mariadb.MariaDB) -> None:
    """Take every cell but the first out of the API's database."""
    database.execute(_FORGET)


class NovaAPI(web.Application):
    """nova-api, with the extension in its paste line.

    :ivar extended: whether the extension is there; see :meth:`configure`
    :ivar rules: ``[image_override]``; see :meth:`configure`
    :ivar server: the MariaDB that it uses; see :meth:`configure`
    :ivar is_under_uwsgi: whether Debian's uWSGI serves it, as the example in
        ``share/`` says, in place of waitress
    """

    NAME = 'nova-api'
    MODULE = 'nova.wsgi.osapi_compute'
    CONFIG = 'nova.conf'
    REGION = 'RegionOne'
    WORKERS = 2

    def __init__(
        self, state: state_module.State, name: str | None = None,
    ) -> None:
        super().__init__(state, name)
        self.extended = True
        self.server = mariadb.NAME
        self.is_under_uwsgi = False
        self.rules = {
            'allowed_properties': ', '.join(ALLOWED),
            'presets_file': str(examples.PRESETS),
            'accept_server_metadata': 'true',
            'property_protection_file': str(
                state.file('glance', 'property-protections.conf')),
            'glance_image_import_files': str(
                state.file('glance', 'glance-image-import.conf'))}

    def configure(self) -> None:
        """Write nova.conf, api-paste.ini and policy.yaml."""
        paste = paste_config.write(
            self.folder, paste_config.APP if self.extended else
            paste_config.NOVA_APP, self.installation.etc)
        (self.folder / 'policy.yaml').write_text(
            _POLICY if self.extended else '')
        settings.write(
            self.config, common(self.state),
            databases(self.state, self.server), {
                'DEFAULT': {'state_path': str(self.folder)},
                'wsgi': {'api_paste_config': paste},
                'oslo_policy': {'policy_file': str(
                    self.folder / 'policy.yaml')},
                'filter_scheduler': {'enabled_filters': ','.join(_FILTERS)},
                'scheduler': {'workers': '1',
                              'discover_hosts_in_cells_interval': '5'},
                'conductor': {'workers': '1'}},
            {'image_override': self.rules} if self.extended else {})

    def launcher(self) -> list[str]:
        """Return what finds the installation's extension.

        With ``-m`` it would be the checkout's.
        """
        return ['-P', serve.__file__]

    def command(self) -> list[str | pathlib.Path]:
        """Return what serves it."""
        if not self.is_under_uwsgi:
            return super().command()
        text = examples.UWSGI.read_text()
        for shipped, ours in {
                '/etc/nova/api-paste-image-override.ini':
                    self.folder / 'api-paste.ini',
                '/etc/nova/nova.conf': self.config,
                '8774': state_module.PORTS[self.name],
                'uid = nova\ngid = nova':
                    f'plugins = python3\nvirtualenv = '
                    f'{self.installation.prefix}'}.items():
            assert shipped in text
            text = text.replace(shipped, str(ours))
        return ['uwsgi-core', '--ini',
                self.state.write(text, self.name, 'uwsgi.ini')]

    @property
    def manage(self) -> list[str | pathlib.Path]:
        """nova-manage with this configuration, to which arguments are added."""
        return [self.installation.python, '-W', 'ignore',
                self.installation.bin / 'nova-manage',
                '--config-file', self.config]

    def setup(self, database: mariadb.MariaDB) -> None:
        """Make Nova's tables and its one cell."""
        manage = self.manage
        database.fill(['nova_api', 'nova_cell0', 'nova_cell1'], [
            [*manage, 'api_db', 'sync'],
            [*manage, 'cell_v2', 'map_cell0', '--database_connection',
             settings.database(self.state, 'nova_cell0')],
            [*manage, 'cell_v2', 'create_cell', '--name', 'cell1'],
            [*manage, 'db', 'sync']], self.NAME)
        # A run that was cut off has left one that does not run.
        forget_cells(database)


class PlainNovaAPI(NovaAPI):
    """nova-api as Nova ships it, in the same cloud as the extended one.

    It is not a part of the cloud: whoever needs it starts it. In the catalogue
    it is the only service of its region, and ``compute_region_name``, or
    ``[compute] region`` of Tempest, chooses it.
    """

    NAME = 'nova-api-plain'
    REGION = 'RegionPlain'

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state)
        self.extended = False

    def up(self) -> None:
        """Configure it, enter it in the catalogue, start it."""
        self.configure()
        tenants.enter(
            tenants.connect(self.state, 'operator').identity, 'compute',
            state_module.url(self.NAME, '/v2.1'), self.REGION)
        super().up()


class Metadata(web.Application):
    """Nova's metadata service, unmodified, as guests of a network ask it.

    It is not a part of the cloud: whoever needs it starts it.
    """

    NAME = 'nova-metadata'
    MODULE = 'nova.wsgi.metadata'
    CONFIG = 'nova.conf'

    def configure(self) -> None:
        """Write nova.conf, and the paste file as Nova ships it."""
        # Nova reads both from here (nova/api/openstack/wsgi_app.py
        # _get_config_files).
        paste = paste_config.write(
            self.folder, paste_config.NOVA_APP, self.installation.etc)
        settings.write(
            self.config, common(self.state),
            databases(self.state), {
                'DEFAULT': {'state_path': str(self.folder)},
                'wsgi': {'api_paste_config': paste},
                'neutron': {
                    'service_metadata_proxy': 'true',
                    'metadata_proxy_shared_secret': self._shared}})

    @property
    def _shared(self) -> str:
        return self.state.secret('metadata')

    def ask(self, path: str, server: str, project: str) -> str:
        """Return what it says to a server, as Neutron's agent passes it on.

        The agent tells which server it is by the address and signs that
        (MetadataProxyHandlerBase._get_instance_id and _proxy_request).
        """
        signature = hmac.new(
            self._shared.encode(), server.encode(), hashlib.sha256)
        answer = requests.get(
            state_module.url(self.name, path), timeout=60, headers={
                'X-Instance-ID': server, 'X-Tenant-ID': project,
                'X-Forwarded-For': '127.0.0.1',
                'X-Instance-ID-Signature': signature.hexdigest()})
        answer.raise_for_status()
        return answer.text


class Daemon(processes.Process):
    """nova-conductor or nova-scheduler.

    :param command: which of the two
    :param folder: where nova.conf is
    :param name: of the process, where there is more than one
    :ivar installation: the one that runs when it is started next
    """

    def __init__(
        self, state: state_module.State, command: str, folder: pathlib.Path,
        name: str | None = None,
    ) -> None:
        super().__init__(state, name or command)
        self.command = command
        self.installation = installation.OWN
        self._config = folder / 'nova.conf'
        self._own = state.file('daemons', f'{self.name}.conf')

    def up(self) -> None:
        """Start it."""
        # In Nova's list of services it has a host of its own.
        settings.write(self._own, {'DEFAULT': {'host': self.name}})
        self.start([self.installation.python, '-W', 'ignore',
                    self.installation.bin / self.command,
                    '--config-file', self._config,
                    '--config-file', self._own])

    def restart(self) -> None:
        """End it as a crash would, and start it again."""
        self.kill()
        self.up()
