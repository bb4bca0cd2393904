"""Glance's own verdicts on protections files, for the differential test.

Runs in Glance's environment. Reads one JSON object per line::

    {"file": path, "format": "roles", "policy_file": path or null,
     "names": [...], "callers": [{"roles": [...], "service_roles": [...]}]}

and answers each with ``null`` when Glance refuses the file, else with its
verdicts: for each caller, for each name, "c", "r", "u", "d" for what it may.
"""

import configparser
import json
import logging
import sys

from glance.api import policy
from glance.common import property_utils
import glance.context
from oslo_policy import opts

OPERATIONS = ('create', 'read', 'update', 'delete')

CONF = property_utils.CONF


def enforcer_for(path):
    opts.set_defaults(CONF, policy_file=path or 'nothing')
    return policy.Enforcer(suppress_deprecation_warnings=True)


def verdicts(query, enforcer):
    # Glance's parser is a global that keeps the sections of earlier files.
    property_utils.CONFIG = configparser.ConfigParser()
    CONF.set_override('property_protection_file', query['file'])
    CONF.set_override('property_protection_rule_format', query['format'])
    try:
        rules = property_utils.PropertyRules(enforcer)
    except (property_utils.InvalidPropProtectConf, configparser.Error):
        return None
    result = []
    for caller in query['callers']:
        of_caller = []
        for name in query['names']:
            may = ''
            for operation in OPERATIONS:
                # A new one each time: Glance adds the service's roles to it.
                context = glance.context.RequestContext(
                    user_id='user', project_id='project', is_admin=True,
                    policy_enforcer=enforcer, roles=list(caller['roles']),
                    service_roles=list(caller['service_roles']))
                if rules.check_property_rules(name, operation, context):
                    may += operation[0]
            of_caller.append(may)
        result.append(of_caller)
    return result


def main():
    logging.disable(logging.CRITICAL)
    CONF([], project='glance', default_config_files=[])
    plain = enforcer_for(None)
    for line in sys.stdin:
        query = json.loads(line)
        enforcer = plain if query['format'] == 'roles' else enforcer_for(
            query['policy_file'])
        print(json.dumps(verdicts(query, enforcer)), flush=True)


if __name__ == '__main__':
    main()
