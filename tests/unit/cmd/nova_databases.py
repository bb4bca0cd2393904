"""Nova's databases with a server, two compute nodes and two flavors."""

import pathlib

from testing import paste_config
from tests.unit.cmd import processes

SERVER = '5f2c1a34-0c1e-4b6f-9e2d-7a8b9c0d1e2f'

DATABASES = '''
[DEFAULT]
transport_url = fake:/
[api_database]
connection = sqlite:///{folder}/api.sqlite
[database]
connection = sqlite:///{folder}/cell1.sqlite
[image_override]
allowed_properties = hw_disk_bus=scsi
'''

#: Makes databases, two compute nodes and a server, as nova-manage and Nova do.
MAKE = '''
import sys
import uuid

from nova import config, context, objects
from nova.db import migration

conf, connection, server = sys.argv[1:]
config.parse_args(['make', '--config-file', conf])
objects.register_all()
migration.db_sync(database='api')
migration.db_sync(database='main')
admin = context.get_admin_context()
cell = objects.CellMapping(
    admin, uuid=str(uuid.uuid4()), name='cell1', transport_url='fake:/',
    database_connection=connection)
cell.create()
for name, specs in (('plain', {}), ('huge', {'hw:mem_page_size': 'large'})):
    objects.Flavor(
        admin, name=name, flavorid=name, vcpus=4, memory_mb=4096, root_gb=1,
        ephemeral_gb=0, swap=0, rxtx_factor=1.0, is_public=True,
        extra_specs=specs).create()
with context.target_cell(admin, cell) as target:
    objects.Instance(
        target, uuid=server, project_id='project', user_id='user',
        system_metadata={
            'image_hw_disk_bus': 'scsi', 'image_os_type': 'linux',
            'image_os_glance_override:hw_disk_bus': 'virtio',
            'image_os_glance_override_removed:hw_pmu': 'false'}).create()
    for host, stats in (
            ('compute1', {'image_props_override': '1.0'}), ('compute2', {})):
        objects.ComputeNode(
            target, uuid=str(uuid.uuid5(uuid.NAMESPACE_DNS, host)), host=host,
            hypervisor_hostname=host, stats=stats, vcpus=1, memory_mb=1,
            local_gb=1, vcpus_used=0, memory_mb_used=0, local_gb_used=0,
            hypervisor_type='QEMU', hypervisor_version=1, cpu_info='',
            free_ram_mb=1, free_disk_gb=1, running_vms=0, current_workload=0,
            supported_hv_specs=[],
        ).create()
        objects.Service(
            target, host=host, binary='nova-compute', topic='compute',
            report_count=1).create()
for host in ('compute1', 'compute2'):
    objects.HostMapping(admin, host=host, cell_mapping=cell).create()
'''


def make(folder: pathlib.Path) -> pathlib.Path:
    """Return the nova.conf that names them."""
    paste_config.write(folder, paste_config.APP)
    path = folder / 'nova.conf'
    path.write_text(DATABASES.format(folder=folder))
    made = processes.run('python', '-W', 'ignore', '-c', MAKE, path,
                         f'sqlite:///{folder}/cell1.sqlite', SERVER)
    assert made.status == 0, made.lines
    return path
