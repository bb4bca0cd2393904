"""``python -m benchmarks.scale_servers FILE``: what Nova stores of servers.

The harness boots a few; their rows are written as JSON, and multiplied by
:mod:`benchmarks.scale_rows`.
"""

import itertools
import json
import pathlib
import sys
import tempfile
import typing

# The first to import Nova.
import testing.harness  # noqa: F401

# isort: split
from nova import context as nova_context
from nova import objects
from nova.db.api import api as api_db
from nova.db.main import api as main_db
import sqlalchemy

from testing.cost import cloud as cost_cloud
from testing.cost import overrides

PRESET = {'bench': {
    'description': 'A boot menu', 'properties': {'hw_boot_menu': 'true'}}}

#: Tables of what servers need, besides those of servers.
_OTHERS = ('compute_nodes', 'flavors', 'services')


def _rows(engine: sqlalchemy.Engine) -> dict[str, list[dict[str, typing.Any]]]:
    found = {}
    with engine.connect() as connection:
        for name in sqlalchemy.inspect(engine).get_table_names():
            rows = [dict(row) for row in connection.execute(
                sqlalchemy.text(f'SELECT * FROM {name}')).mappings()]
            if rows and (name in (*_OTHERS, 'instances')
                         or 'instance_uuid' in rows[0]):
                found[name] = [row for row in rows if row.get('binary') in (
                    None, 'nova-compute')]
    return found


def _boot(cloud: cost_cloud.Cloud) -> dict[str, typing.Any]:
    """Boot one of each kind: a number of overrides, and perhaps a preset."""
    host = cloud.compute_rp_uuids['compute1']
    traits = [name.removeprefix('trait:') for name in overrides.MOST
              if name.startswith('trait:')]
    for trait in traits:
        cloud._create_trait(trait)
    cloud._set_provider_traits(
        host, [*cloud._get_provider_traits(host), *traits])
    image = cloud.image(**overrides.IMAGE)
    flavor = cloud.flavor(vcpus=4, ram=64, name='scale')
    servers = [
        (cloud.boot(dict([*overrides.MOST.items()][:number]), image=image,
                    flavor=flavor, server=more), number, bool(more))
        for number, more in [(0, {}), *itertools.product((3, 10, 60), (
            {}, {'image_props_override_preset': 'bench'}))]]
    context = nova_context.get_admin_context()
    cell = objects.InstanceMapping.get_by_instance_uuid(
        context, servers[0][0]).cell_mapping
    with nova_context.target_cell(context, cell) as targeted:
        rows = _rows(main_db.get_engine(context=targeted))
    return {'servers': servers, 'project': cloud.api.project_id,
            'image': cloud.glance.images[image], 'presets': PRESET,
            'cell': rows, 'api': _rows(api_db.get_engine())}


if __name__ == '__main__':
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as presets:
        json.dump(PRESET, presets)
        presets.flush()
        with cost_cloud.Cloud.running(EXTENDED_HOSTS=('compute1',), OPTIONS={
                'allowed_properties': ['*'],
                'presets_file': presets.name}) as cloud:
            found = _boot(cloud)
    pathlib.Path(sys.argv[1]).write_text(json.dumps(found, default=str))
