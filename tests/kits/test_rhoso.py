"""What RHOSO's operators take of the examples.

The schemas say of these fields what two definitions in api/bases of
openstack-operator do: core.openstack.org_openstackversions.yaml at commit
191598d and core.openstack.org_openstackcontrolplanes.yaml at c301658. The files
that can be replaced are those of ValidateAPIDefaultConfigOverwrite in
api/nova/v1beta1/novaapi_webhook.go of nova-operator at 13c7e53.
"""

import jsonschema
import pytest

from tests.kits import kit

TEXT = {'type': 'string'}


def only(**properties):
    """Return the schema of an object: other properties are dropped."""
    return {'type': 'object', 'properties': properties,
            'additionalProperties': False}


CUSTOM_IMAGES = only(
    novaAPIImage=TEXT, novaComputeImage=TEXT, novaConductorImage=TEXT,
    novaNovncImage=TEXT, novaSchedulerImage=TEXT)

NOVA_API = only(
    customServiceConfig=TEXT,
    defaultConfigOverwrite={
        'type': 'object', 'additionalProperties': TEXT, 'propertyNames': {
            'enum': ['api-paste.ini', 'nova_api_audit_map.conf',
                     'policy.yaml']}},
    networkAttachments={'type': 'array', 'items': TEXT},
    replicas={'type': 'integer', 'minimum': 0, 'maximum': 32})

SPECS = {
    'OpenStackVersion': only(
        customContainerImages=CUSTOM_IMAGES, targetVersion=TEXT),
    'OpenStackControlPlane': only(nova=only(
        enabled={'type': 'boolean'},
        template=only(apiServiceTemplate=NOVA_API))),
}


def validate(resource):
    assert resource['apiVersion'] == 'core.openstack.org/v1beta1'
    jsonschema.validate(resource['spec'], SPECS[resource['kind']])


@pytest.mark.parametrize('example', ['openstackversion', 'controlplane'])
def test_the_operator_knows_every_field(example):
    validate(kit.read(f'rhoso/{example}.yaml'))


def test_a_file_that_the_operator_does_not_replace_is_found():
    resource = kit.read('rhoso/controlplane.yaml')
    template = resource['spec']['nova']['template']['apiServiceTemplate']
    template['defaultConfigOverwrite']['nova.conf'] = ''
    with pytest.raises(jsonschema.ValidationError, match=r'nova\.conf'):
        validate(resource)


def test_the_version_is_patched_since_its_target_is_required():
    """Applied to a cloud without one, it would be refused; with a target
    version of ours, it would start an update."""
    version = kit.read('rhoso/openstackversion.yaml')
    assert 'targetVersion' not in version['spec']
    readme = (kit.DEPLOY / 'rhoso' / 'README.md').read_text()
    assert (f'oc patch openstackversion {version["metadata"]["name"]} '
            f'-n {version["metadata"]["namespace"]} --type merge --patch-file '
            'deploy/rhoso/openstackversion.yaml') in readme
