"""``nova-image-override show`` as an operator runs it, in its own process."""

import json
import os
import pathlib
import subprocess
import sys

SERVER = '5f2c1a34-0c1e-4b6f-9e2d-7a8b9c0d1e2f'
ROOT = pathlib.Path(__file__).parent.parent.parent

CONF = '''
[DEFAULT]
transport_url = fake:/
[api_database]
connection = sqlite:///{folder}/api.sqlite
[database]
connection = sqlite:///{folder}/cell1.sqlite
'''

#: Makes the databases and a server, as nova-manage and Nova make them.
MAKE = '''
import sys
from nova import config, context, objects
from nova.db import migration

config.parse_args(['make', '--config-file', sys.argv[1]])
objects.register_all()
migration.db_sync(database='api')
migration.db_sync(database='main')
admin = context.get_admin_context()
cell = objects.CellMapping(
    admin, uuid='3d2f1c5e-5a2b-4d35-9f0d-0a8b7c6d5e4f', name='cell1',
    transport_url='fake:/', database_connection=sys.argv[2])
cell.create()
objects.InstanceMapping(
    admin, instance_uuid=sys.argv[3], project_id='project', user_id='user',
    cell_mapping=cell).create()
with context.target_cell(admin, cell) as target:
    objects.Instance(
        target, uuid=sys.argv[3], project_id='project', user_id='user',
        system_metadata={
            'image_hw_disk_bus': 'scsi', 'image_os_type': 'linux',
            'os_glance_override:hw_disk_bus': 'virtio',
            'os_glance_override_removed:hw_pmu': 'false'}).create()
'''


def test_show_reads_the_databases_that_nova_conf_names(tmp_path):
    conf = tmp_path / 'nova.conf'
    conf.write_text(CONF.format(folder=tmp_path))
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}

    def run(code, *arguments):
        done = subprocess.run(
            [sys.executable, '-W', 'ignore', '-c', code, *arguments],
            env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(MAKE, str(conf), f'sqlite:///{tmp_path}/cell1.sqlite', SERVER)
    shown = run(
        'import sys; from nova_image_override.cmd.shell import main; '
        'sys.exit(main())', 'show', SERVER, '--config-file', str(conf),
        '-f', 'json')
    assert json.loads(shown) == [
        {'Property': 'hw_disk_bus', 'Image value': 'virtio',
         'In force': 'scsi'},
        {'Property': 'hw_pmu', 'Image value': 'false', 'In force': None}]
