"""Neutron's application, for a server without its agents.

Without agents nothing has loaded the mappers when the first request comes, and
Neutron answers it with 500 (Port has no attribute port_forwardings). If two
come at once, one finds policies of which no rule is registered yet, and its
admin is none (neutron_lib/policy/_engine.py init, neutron/policy.py init): a
network of another project does not exist for it.
"""

from neutron import policy
from neutron.wsgi import api
from neutron_lib import context
from sqlalchemy import orm

orm.configure_mappers()
context.Context(roles=[])
policy.init()

application = api.application
