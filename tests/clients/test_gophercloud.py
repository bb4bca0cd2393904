"""Programs with gophercloud: the recipes of the pages, and tools made with it.

The programs are compiled with Debian's Go and Debian's gophercloud. What the
providers of Terraform and Cluster API send follows their sources, which name
what they fill in; gophercloud makes the bytes of it.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest
import yaml

from nova_image_override import errors
from nova_image_override import versions
from tests.clients import tools
from tests.functional import recipes

USER = tools.ROOT / 'docs' / 'source' / 'user'

#: Where Debian's packages of Go libraries are, as GOPATH.
GOPATH = pathlib.Path('/usr/share/gocode')

LIBRARY = GOPATH / 'src' / 'github.com' / 'gophercloud' / 'gophercloud'

pytestmark = [
    pytest.mark.skipif(
        not tools.NEWEST, reason='programs in Go use none of the clients'),
    pytest.mark.skipif(
        not (shutil.which('go') and LIBRARY.is_dir()),
        reason='Go and gophercloud are not installed: "make test-go" does so '
               'for root on Debian'),
]


@pytest.fixture(scope='session')
def program(tmp_path_factory):
    """The programs, compiled."""
    folder = tmp_path_factory.mktemp('go')
    for source in [*USER.glob('gophercloud/*.go'),
                   *pathlib.Path(__file__).parent.glob('go/*.go')]:
        shutil.copy(source, folder)
    done = subprocess.run(
        ['go', 'build', '-o', 'recipes', '.'], cwd=folder, env={
            'PATH': os.environ['PATH'], 'GO111MODULE': 'off',
            'GOPATH': str(GOPATH), 'GOCACHE': str(
                tools.ROOT / '.venv' / 'go')},
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / 'recipes'


@pytest.fixture
def go(program, cloud):
    """Run a program against a cloud; return what it prints."""
    def run(client, recipe, *arguments, **environment):
        done = client.run(
            str(program), recipe, *arguments,
            OS_AUTH_URL=f'{client.url}/identity/v3', OS_USERNAME='demo',
            OS_PASSWORD='demo', OS_PROJECT_NAME='demo',
            OS_DOMAIN_NAME='Default', OS_REGION_NAME='demo', **environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return run


@pytest.fixture
def image(cloud):
    """The id of the image that the pages name."""
    return next(image['id'] for image in cloud.glance.detail(None)
                if image['name'] == 'debian')


def sent(client):
    """Return the one create request."""
    (request,) = [request for request in client.seen.compute('POST')
                  if request.path.endswith('/servers')]
    return request


def built(cloud, server):
    """Return a server's guest, once it is built."""
    assert cloud.settled(server)['status'] == 'ACTIVE'
    return cloud.guest(server)


def test_the_header_entry_and_the_parameter(go, client, cloud, image):
    server = go(client, 'header', image, 'two-cpus')
    request = sent(client)
    assert request.version == 'compute 2.90, image-props-override 1.0'
    assert request.legacy_version == '2.90'
    asked = {'hw_firmware_type': 'uefi', 'hw_rng_model': None}
    assert request.body['server']['image_props_override'] == asked
    assert built(cloud, server).find('os/loader') is not None
    assert 'hw_rng_model' not in cloud.system_metadata(server)
    assert go(client, 'show-extended', server) == asked
    # One that does not name the extension is shown none.
    assert go(client, 'show', server) is None


@pytest.mark.parametrize(('recipe', 'version', 'is_parameter'), [
    ('microversion', 'compute 2.96', True), ('hint', 'compute 2.37', False)])
def test_the_operator_s_options_take_them_without_the_entry(
        go, compatible_client, cloud, image, recipe, version, is_parameter):
    server = go(compatible_client, recipe, image, 'two-cpus')
    request = sent(compatible_client)
    assert request.version == version
    assert ('image_props_override' in request.body['server']) == is_parameter
    assert built(cloud, server).find('os/loader') is not None
    assert go(compatible_client, 'show-extended', server) == {
        'hw_firmware_type': 'uefi'}


@pytest.mark.parametrize(('recipe', 'code'), [
    ('microversion', errors.VERSION_MISSING), ('hint', errors.NOT_HERE)])
def test_without_the_operator_s_options_a_program_learns_why(
        go, client, image, recipe, code):
    refused = go(client, recipe, image, 'two-cpus')
    assert refused.keys() == {errors.PARAMETER}
    assert refused[errors.PARAMETER]['code'] == code
    assert versions.ENTRY in refused[errors.PARAMETER]['reason']


# --- tools that are made with gophercloud ------------------------------------


def test_terraform_s_provider(go, compatible_client, cloud, image):
    # The page's jsonencode.
    hint = '{"hw_disk_bus":"scsi","hw_scsi_model":"virtio-scsi"}'
    server = go(compatible_client, 'terraform', image, 'two-cpus',
                NAME='guest',
                HINTS=json.dumps({'image_props_override': hint}))
    request = sent(compatible_client)
    assert request.version == 'compute 2.37'
    assert request.raw.decode() == (
        '{"os:scheduler_hints":{"image_props_override":'
        f'{json.dumps(hint)}}},'
        '"server":{"config_drive":false,"flavorRef":"two-cpus",'
        f'"imageRef":"{image}","name":"guest","networks":"none",'
        '"user_data":""}}')
    assert built(cloud, server).find(
        'devices/controller[@type="scsi"]').get('model') == 'virtio-scsi'


def machine():
    """Return the page's machine, and the hints that CAPO makes of it."""
    spec = yaml.safe_load((USER / 'cluster-api.yaml').read_text())[
        'spec']['template']['spec']
    return spec, {each['name']: each['value'][each['value']['type'].lower()]
                  for each in spec['schedulerHintAdditionalProperties']}


def port(cloud):
    """Return a port, as CAPO makes one for each machine."""
    return cloud.neutron.create_port({'port': {
        'network_id': cloud.neutron.network_1['id']}})['port']['id']


def test_cluster_api(go, compatible_client, cloud, image):
    spec, hints = machine()
    assert spec['image']['filter']['name'] == 'debian'
    made = port(cloud)
    server = go(compatible_client, 'cluster-api', image, spec['flavor'],
                NAME='machine', HINTS=json.dumps(hints), PORT=made)
    request = sent(compatible_client)
    assert request.version == 'compute 2.60'
    assert request.raw.decode() == (
        '{"os:scheduler_hints":{'
        '"image_props_override:hw_disk_bus":"scsi",'
        '"image_props_override:hw_scsi_model":"virtio-scsi"},'
        '"server":{"block_device_mapping_v2":[{"boot_index":0,'
        '"delete_on_termination":true,"destination_type":"local",'
        f'"source_type":"image","uuid":"{image}"}}],"config_drive":false,'
        f'"flavorRef":"two-cpus","imageRef":"{image}","name":"machine",'
        f'"networks":[{{"port":"{made}"}}],'
        '"user_data":"I2Nsb3VkLWNvbmZpZwo="}}')
    assert built(cloud, server).find(
        'devices/controller[@type="scsi"]').get('model') == 'virtio-scsi'


def test_cluster_api_s_hints_that_are_no_strings_are_refused(
        go, compatible_client, cloud, image):
    refused = go(compatible_client, 'cluster-api', image, 'two-cpus',
                 NAME='machine', PORT=port(cloud), HINTS=json.dumps(
                     {'image_props_override:hw_scsi_model': True}))
    assert refused['hw_scsi_model']['code'] == errors.INVALID_TYPE


@pytest.mark.parametrize('recipe', recipes.RECIPES, ids=recipes.name)
def test_the_bytes_of_a_recipe(go, compatible_client, cloud, image, recipe):
    cloud.http('POST', '/os-keypairs', {'keypair': {'name': 'workers'}},
               compute='2.1')
    place = ({'PORT': port(cloud)} if '$port' in recipe.raw
             else {'NETWORK': cloud.neutron.network_1['id']})
    told = json.loads(recipe.raw)
    server = go(
        compatible_client, recipes.name(recipe), image, 'two-cpus', **place,
        NAME=told['server']['name'],
        METADATA=json.dumps(told['server']['metadata']),
        HINTS=json.dumps(told.get('os:scheduler_hints', {})))
    request = sent(compatible_client)
    assert request.raw == recipe.body(
        image=image, flavor='two-cpus',
        **{name.lower(): value for name, value in place.items()})
    assert request.version == (
        recipe.compute and f'compute {recipe.compute}')
    assert request.legacy_version == recipe.compute
    assert built(cloud, server).find('os/loader').get('secure') == 'yes'
