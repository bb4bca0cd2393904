"""What tools send that know nothing of the extension.

The recipes are files of docs/source/user/recipes. What a tool makes of one
follows its source, which each row names; all of them use gophercloud, whose
bytes tests/clients/test_gophercloud.py compares with these.
"""
from __future__ import annotations

import collections.abc
import dataclasses
import json
import pathlib
import re
import string
import typing

import yaml

FOLDER = pathlib.Path(__file__).parents[2] / 'docs' / 'source' / 'user' / (
    'recipes')

#: A list of keys and values, as several tools write a map.
_Pairs = list[dict[str, str]]


def _map(name: str) -> collections.abc.Callable[[str], dict[str, str]]:
    """Return a reader of the map NAME of a file in HCL."""
    def read(text: str) -> dict[str, str]:
        block = re.search(rf'^  {name} = {{\n(.*?)^  }}', text, re.M | re.S)
        assert block, name
        return dict(re.findall('^ +"(.+?)" += "(.+)"$', block[1], re.M))
    return read


def _path(*path: str) -> collections.abc.Callable[[str], dict[str, str]]:
    """Return a reader of what is at PATH of a file in YAML."""
    def read(text: str) -> dict[str, str]:
        found = yaml.safe_load(text)
        if isinstance(found, list):
            (found,) = found
        for step in path:
            found = found[step]
        if isinstance(found, list):
            found = {pair.get('key', pair.get('name')): pair['value']
                     for pair in typing.cast('_Pairs', found)}
        return typing.cast('dict[str, str]', found)
    return read


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A file of the documentation, and what a tool sends for it.

    :param file: its name
    :param read: returns the keys that it gives to the server
    :param raw: the body of the create, with ``$image`` and the like
    :param compute: Nova's microversion of the request, or None
    :param adds: metadata that is the tool's own
    :param hints: whether the keys become scheduler hints
    """

    file: str
    read: collections.abc.Callable[[str], dict[str, str]]
    raw: str
    compute: str | None = None
    adds: dict[str, str] = dataclasses.field(default_factory=dict)
    hints: bool = False

    def keys(self) -> dict[str, str]:
        """Return the keys that the file gives to the server."""
        return self.read((FOLDER / self.file).read_text())

    def body(self, **ids: str) -> bytes:
        """Return the body, byte for byte."""
        return string.Template(self.raw).substitute(ids).encode()

    def sent(self) -> dict[str, str]:
        """Return the keys as the body has them."""
        body = json.loads(self.raw)
        return (body['os:scheduler_hints'] if self.hints
                else body['server']['metadata'])


_OURS = ('"image_props_override:hw_vif_multiqueue_enabled":"true",'
         '"image_props_override_preset":"uefi-secure-boot"')

_LOCAL = ('"block_device_mapping_v2":[{"boot_index":0,'
          '"delete_on_termination":true,"destination_type":"local",'
          '"source_type":"image","uuid":"$image"}],')

#: The servers' user_data, base64.
_DATA = '"user_data":"I2Nsb3VkLWNvbmZpZwo="'

RECIPES = (
    # terraform-provider-openstack/terraform-provider-openstack,
    # openstack/resource_openstack_compute_instance_v2.go,
    # resourceComputeInstanceV2Create.
    Recipe(
        'terraform.tf', _map('metadata'), compute='2.37',
        raw='{"server":{"config_drive":false,"flavorRef":"$flavor",'
            '"imageRef":"$image","metadata":{' + _OURS +
            ',"purpose":"worker"},"name":"guest","networks":"none",'
            '"user_data":""}}'),
    # hashicorp/packer-plugin-openstack,
    # builder/openstack/step_run_source_server.go, Run.
    Recipe(
        'packer.pkr.hcl', _map('instance_metadata'),
        raw='{"server":{"config_drive":false,"flavorRef":"$flavor",'
            '"imageRef":"$image","key_name":"workers","metadata":{' + _OURS +
            ',"purpose":"build"},"name":"golden-build",'
            '"networks":[{"uuid":"$network"}],"user_data":""}}'),
    # gardener/machine-controller-manager-provider-openstack,
    # pkg/driver/executor/executor.go, deployServer; the tags are those of
    # gardener/gardener-extension-provider-openstack,
    # pkg/controller/worker/machines.go, generateMachineConfig.
    Recipe(
        'gardener.yaml', _path('providerConfig', 'machineLabels'),
        adds={'kubernetes.io-cluster-shoot--dev--apps': '1',
              'kubernetes.io-role-node': '1'},
        raw='{"server":{"availability_zone":"nova","flavorRef":"$flavor",'
            '"imageRef":"$image","key_name":"workers","metadata":{' + _OURS +
            ',"kubernetes.io-cluster-shoot--dev--apps":"1",'
            '"kubernetes.io-role-node":"1"},'
            '"name":"shoot--dev--apps-secure-z1-5c8d4-x7k2p",'
            '"networks":[{"uuid":"$network"}],'
            '"security_groups":[{"name":"default"}],' + _DATA + '}}'),
    # kubermatic/machine-controller,
    # pkg/cloudprovider/provider/openstack/provider.go, Create.
    Recipe(
        'kubermatic.yaml', _path(
            'spec', 'template', 'spec', 'providerSpec', 'value',
            'cloudProviderSpec', 'tags'),
        adds={'machine-uid': '8d7c6f0e-93a1-4bb5-8f6e-0c2f3c1f5a11'},
        raw='{"server":{"flavorRef":"$flavor","imageRef":"$image",'
            '"metadata":{' + _OURS + ',"machine-uid":'
            '"8d7c6f0e-93a1-4bb5-8f6e-0c2f3c1f5a11","purpose":"worker"},'
            '"name":"secure-7f5b9-q2xwz",'
            '"networks":[{"uuid":"$network"}],'
            '"security_groups":[{"name":"default"}],' + _DATA + '}}'),
    # kubernetes-sigs/cluster-api-provider-openstack,
    # pkg/cloud/services/compute/instance.go, createInstanceImpl.
    Recipe(
        'cluster-api.yaml', _path(
            'spec', 'template', 'spec', 'serverMetadata'), compute='2.60',
        raw='{"server":{' + _LOCAL + '"config_drive":false,'
            '"flavorRef":"$flavor","imageRef":"$image","metadata":{' + _OURS +
            ',"purpose":"worker"},"name":"secure-b4k9d-2lq8x",'
            '"networks":[{"port":"$port"}],' + _DATA + '}}'),
    # openshift/machine-api-provider-openstack, pkg/machine/convert.go,
    # MachineToInstanceSpec, and the instance.go of CAPO that it vendors.
    Recipe(
        'openshift.yaml', _path(
            'spec', 'template', 'spec', 'providerSpec', 'value',
            'serverMetadata'), compute='2.60',
        raw='{"server":{' + _LOCAL + '"config_drive":true,'
            '"flavorRef":"$flavor","imageRef":"$image","metadata":{'
            '"Name":"apps-worker",' + _OURS + ',"openshiftClusterID":"apps"},'
            '"name":"apps-secure-x9w4t","networks":[{"port":"$port"}],'
            '"tags":["openshiftClusterID=apps",'
            '"cluster-api-provider-openstack","openshift-machine-api-apps"],'
            + _DATA + '}}'),
    # k-orc/openstack-resource-controller,
    # internal/controllers/server/actuator.go, CreateResource.
    Recipe(
        'orc.yaml', _path(
            'spec', 'resource', 'schedulerHints', 'additionalProperties'),
        compute='2.71', hints=True,
        raw='{"os:scheduler_hints":{' + _OURS + '},"server":{'
            '"flavorRef":"$flavor","imageRef":"$image",'
            '"metadata":{"purpose":"worker"},"name":"secure",'
            '"networks":[{"port":"$port"}]}}'),
)

WITH_METADATA = tuple(each for each in RECIPES if not each.hints)


def name(recipe: Recipe) -> str:
    """Return what to call a recipe in the name of a test."""
    return recipe.file.split('.')[0]
