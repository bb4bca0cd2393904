"""Do with stacks what heat-engine does, on demand.

Runs in Heat's environment: ``drive.py FOLDER IDENTITY_URL PROJECT``, where
FOLDER has heat.conf. Each line of standard input is a JSON object: ``do``, the
``stack``'s name and, where it matters, ``template`` and ``parameters``. Each
gets one line of JSON: the stack's state, or what Heat says is wrong.
"""

import json
import os
import sys
from unittest import mock

from heat.common import config
from heat.common import context
from heat.common import exception
from heat.common import messaging
from heat.common import template_format
from heat.db import api as db_api
from heat.db import models
from heat.engine import environment
from heat.engine import resources
from heat.engine import scheduler
from heat.engine import stack as stack_module
from heat.engine import stack_lock
from heat.engine import template as template_module
from oslo_config import cfg


class Driver:
    def __init__(self, identity, project):
        self._identity = identity
        self._project = project
        self._names = {}

    def context(self):
        return context.RequestContext(
            username='demo', password='demo', project_id=self._project,
            user_id='fake', user_domain_id='default', roles=['member'],
            auth_url=self._identity, is_admin=False)

    def stack(self, name, template, parameters=None, **_):
        made = stack_module.Stack(
            self.context(), name, template_module.Template(
                template_format.parse(template),
                env=environment.Environment({'parameters': parameters or {}})),
            convergence=False)
        return made

    def validate(self, **request):
        self.stack(**request).validate()
        return {}

    def create(self, **request):
        # heat/engine/service.py EngineService.create_stack
        stack = self.stack(**request)
        stack.validate()
        self._names[request['name']] = stack.store()
        return self._act(stack, stack.create)

    def revalidate(self, name, **request):
        """Validate a template with which the stack could be updated."""
        self._new(name, **request)
        return {}

    def update(self, name, until=None, **request):
        """Update the stack; its time is up as soon as the file UNTIL exists."""
        new = self._new(name, **request)
        stack = self.load(name)
        with mock.patch.object(
                scheduler.Timeout, 'expired',
                lambda _: until is not None and os.path.exists(until)):
            return self._act(stack, stack.update, new)

    def _new(self, name, **request):
        # heat/engine/service.py EngineService._prepare_stack_updates
        new = self.stack(name, **request)
        new.parameters.set_stack_id(self.load(name).identifier())
        new.validate()
        return new

    def delete(self, name):
        """Delete the stack and its server; nothing if it was not created."""
        if name not in self._names:
            return {}
        stack = self.load(name)
        return self._act(stack, stack.delete)

    def load(self, name):
        return stack_module.Stack.load(
            self.context(), stack_id=self._names[name])

    def _act(self, stack, method, *args):
        # heat/engine/service.py ThreadGroupManager.start_with_lock
        lock = stack_lock.StackLock(stack.context, stack.id, 'engine')
        lock.acquire()
        method(*args)
        stack.persist_state_and_release_lock('engine')
        return {
            'state': '_'.join(stack.state), 'reason': stack.status_reason,
            'resources': {key: resource.resource_id
                          for key, resource in stack.items()}}

    def types(self):
        found = resources.global_env().get_class('OS::Nova::Server')
        return {'module': found.__module__,
                'properties': sorted(found.properties_schema)}

    def answer(self, do, **request):
        try:
            return getattr(self, do)(**request)
        except exception.HeatException as exc:
            return {'error': str(exc), 'kind': type(exc).__name__}


def main(folder, identity, project):
    cfg.CONF(['--config-file', f'{folder}/heat.conf'], project='heat',
             prog='heat-engine')
    config.set_config_defaults()
    messaging.setup('fake://', optional=True)
    models.BASE.metadata.create_all(db_api.context_manager.writer.get_engine())
    resources.initialise()
    driver = Driver(identity, project)
    print('ready', flush=True)
    for line in sys.stdin:
        print('answer ' + json.dumps(driver.answer(**json.loads(line))),
              flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
