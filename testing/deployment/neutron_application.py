"""Neutron's application, for a server without its agents.

Without agents nothing has loaded the mappers when the first request comes, and
Neutron answers it with 500 (Port has no attribute port_forwardings).
"""

from neutron.wsgi import api
from sqlalchemy import orm

orm.configure_mappers()

application = api.application
