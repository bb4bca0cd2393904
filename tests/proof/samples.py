"""The requests of Nova's own documentation, as bodies to send.

Nova's tests ship each request that its API reference shows, one for every
microversion that changed it (nova/tests/functional/api_sample_tests).
"""

import collections
import collections.abc
import json
import pathlib
import re
import typing

from nova.tests import fixtures as nova_fixtures
from nova.tests.functional import api_sample_tests

FOLDER = pathlib.Path(
    api_sample_tests.__file__ or '').parent / 'api_samples'

#: What replaces the placeholders in templates; others become words.
VALUES: collections.abc.Mapping[str, str] = {
    'access_ip_v4': '1.2.3.4',
    'access_ip_v6': '80fe::',
    'adminPass': 'seekr3t',
    'availability_zone': 'nova',
    'host': 'compute1',
    'hostname': 'compute1',
    'image_id': '155d900f-4e14-4e4c-a73d-069cbf4541e6',
    'ip': '1.2.3.4',
    'key_name': 'key',
    'name': 'new-server-test',
    'net_id': nova_fixtures.NeutronFixture.network_1['id'],
    'pass': 'seekr3t',
    'password': 'seekr3t',
    'port_id': nova_fixtures.NeutronFixture.port_2['id'],
    'user_data': 'ZWNobyAiaGVsbG8i',
    'uuid': '155d900f-4e14-4e4c-a73d-069cbf4541e6',
    'volume_id': nova_fixtures.CinderFixture.IMAGE_BACKED_VOL,
}

Body = dict[str, typing.Any]


def bodies() -> dict[str, list[Body]]:
    """Return every request body, by its single key: ``server``, ``reboot``.
    """
    found: dict[str, list[Body]] = collections.defaultdict(list)
    for path in sorted(FOLDER.rglob('*.json.tpl')):
        if re.search('-resp|-get|list|details', path.name):
            continue
        text = re.sub(
            r'%\((\w+)\)s', lambda m: VALUES.get(m[1], m[1]),
            path.read_text())
        try:
            body = json.loads(text)
        except ValueError:
            # Placeholders for numbers and for whole answers.
            continue
        if isinstance(body, dict) and len(body) == 1:
            (key,) = body
            if body not in found[key]:
                found[key].append(body)
    return dict(found)
