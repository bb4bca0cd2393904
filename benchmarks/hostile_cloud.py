"""Where what is designed to be costly is asked: both applications, restored."""
from __future__ import annotations

import collections.abc
import dataclasses
import json
import logging
import pathlib
import typing
from unittest import mock
import warnings

import fixtures
from nova import context as nova_context
from nova import objects
from oslo_utils import timeutils
import webob

from benchmarks import hostile
from testing import paste_config
from testing.cost import cloud as cost_cloud
from testing.cost import measure
from testing.harness import applications
from testing.harness import base
from tests.proof import side_by_side

#: A hundred presets of ten properties, as large as a file may be.
PRESETS = {f'preset-{n}': {
    'description': 'x' * 200, 'properties': {
        'hw_boot_menu': 'true', 'hw_rng_model': 'virtio',
        **{f'trait:CUSTOM_{n}_{m}': 'required' for m in range(8)}},
} for n in range(100)}

#: Sections of Glance's file of protections: none but the last one matches.
PROTECTIONS = ''.join(
    f'[^{name}$]\n' + ''.join(
        f'{what} = member\n'
        for what in ('create', 'read', 'update', 'delete'))
    for name in [*(f'x_{n}_.*' for n in range(300)), '.*'])

#: name -> the deployer's lists and options
RULES: dict[str, dict[str, typing.Any]] = {
    'all is allowed': {'allowed_properties': ['*']},
    'nothing is allowed': {'allowed_properties': []},
    'long lists': {
        'allowed_properties': [*(
            f'hw_none_{n}_*' for n in range(10_000)), '*'],
        'denied_properties': [
            f'trait:CUSTOM_{n}*9' for n in range(1000)]},
    'Glance\'s protections': {
        'allowed_properties': ['*'],
        'property_protection_file': PROTECTIONS},
    'presets': {
        'allowed_properties': ['hw_*', 'trait:CUSTOM_1*'],
        'presets_file': json.dumps(PRESETS)},
}
RULES['all of it'] = {
    **RULES['long lists'], **RULES["Glance's protections"],
    'presets_file': RULES['presets']['presets_file'],
    'property_protection_rule_format': 'policies',
    'property_protection_policy_file': '"member": "role:member"'}

#: The requests that unmodified Nova is asked instead: a rebuild is its only
#: way to give a server other image properties.
_NEAREST = {'check': 'create', 'update': 'rebuild'}
_PATHS = {'list': '/servers/detail?name=test', 'discovery': '/extensions'}


class Log(logging.Handler):
    """Counts what is logged.

    :ivar size: bytes since it was set to 0
    """

    size = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count the message of RECORD."""
        self.size += len(record.getMessage().encode(errors='replace'))


class Cloud(side_by_side.SideBySide):
    """Both applications, the extended one with each of RULES."""

    def freeze(self) -> None:
        """Make the servers that requests change, then stop everything."""
        self.had: dict[str, str] = {}
        node, = objects.ComputeNodeList.get_all_by_host(
            nova_context.get_admin_context(), self.HOSTS[0])
        # No host has sixty nodes.
        host = objects.Selection(
            service_host=node.host, nodename=node.hypervisor_hostname,
            compute_node_uuid=node.uuid, availability_zone=None,
            allocation_request=None, limits=None)
        for name, overrides in hostile.HAD.items():
            flavor = self.flavor(vcpus=240, ram=1024)
            with mock.patch('nova.conductor.manager.ComputeTaskManager.'
                            '_schedule_instances',
                            side_effect=lambda *_, **__: [[host]]), \
                    mock.patch('nova.compute.rpcapi.ComputeAPI.'
                               'build_and_run_instance'):
                answer = self.create(overrides, flavor=flavor)
            cost_cloud.expect(answer.status, 202, answer.text)
            self.had[name] = answer.body['server']['id']
            # Nova only rebuilds what has run.
            instance = self.instance(self.had[name])
            instance.vm_state, instance.task_state = 'stopped', None
            instance.host, instance.node = node.host, node.hypervisor_hostname
            instance.compute_id = node.id
            instance.launched_at = timeutils.utcnow()
            instance.save()
        super().freeze()
        # Nothing answers the scheduler's clients: the host may have everything.
        self.useFixture(fixtures.MockPatch(
            'nova.scheduler.rpcapi.SchedulerAPI.select_destinations',
            return_value=[]))
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name, options in RULES.items():
            for option, value in options.items():
                if option.endswith('_file'):
                    path = folder / option
                    path.write_text(value)
                    value = str(path)
                base.CONF.set_override(option, value, 'image_override')
            self.applications[name] = applications.load(paste_config.APP)
            for option in options:
                base.CONF.clear_override(option, 'image_override')
        # Nova's tests make errors of some.
        warnings.simplefilter('ignore')
        logging.disable(logging.DEBUG)
        self.log = Log(logging.INFO)
        logging.getLogger().handlers = [self.log]

    def prepare(self, case: hostile.Case, nova: bool) -> measure.Prepare:
        """Prepare the request of CASE, or what unmodified Nova is asked.

        That is a create or a rebuild from an image with the same properties,
        where it can be.
        """
        sent = dataclasses.replace(
            case, kind=_NEAREST.get(case.kind, case.kind)) if nova else case

        def prepare() -> collections.abc.Callable[[], webob.Response]:
            self._statements.clear()
            asked = case.asked()
            # The image of the server that an update changes is as it is.
            image = {} if case.kind == 'update' else case.image
            same = {name: value for name, value in {
                **image, **asked}.items() if value is not None}
            body = sent.body(
                None if nova else asked,
                self.image(**{name.replace('.', '__'): value for name, value
                              in (same if nova else image).items()}),
                self._flavor(case))
            path = (nova and _PATHS.get(sent.kind)) or sent.path
            request = applications.request(
                sent.method, '/v2.1' + path.replace(
                    '{server}', self.had.get(case.had, '')), body, headers={
                    **applications.MEMBER,
                    'X-Roles': case.roles,
                    'X-Auth-Project-Id': self.api.project_id,
                    **applications.version_header(self.COMPUTE, not nova)})
            app = self.applications[
                paste_config.NOVA_APP if nova else case.rules]
            return lambda: request.get_response(app)
        return prepare

    def restore(self, _: object = None) -> None:
        """Put back what the last request, and its flavor, have changed."""
        self._restore()

    def _flavor(self, case: hostile.Case) -> str:
        flavor = objects.Flavor(
            nova_context.get_admin_context(), flavorid='hostile',
            name='hostile', vcpus=case.vcpus, memory_mb=1024, root_gb=10,
            ephemeral_gb=0, swap=0, rxtx_factor=1.0, is_public=True,
            disabled=False, extra_specs=case.specs)
        flavor.create()
        return flavor.flavorid
