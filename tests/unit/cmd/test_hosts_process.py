"""``nova-image-override hosts`` as a process, beside Placement over HTTP."""

import json
import uuid

from placement import deploy
from placement.tests.functional.fixtures import placement as placement_fixture
import pytest
import requests

from testing import release
from testing import wsgi_server
from tests.unit.cmd import processes

# Under eventlet this process cannot wait for the command and serve it.
pytestmark = [pytest.mark.process, pytest.mark.skipif(
    release.NUMBER != 34, reason='needs native threads')]

CONF = '''
[DEFAULT]
service_down_time = 86400
[placement]
auth_type = admin_token
endpoint = {url}
endpoint_override = {url}
token = admin
[filter_scheduler]
enabled_filters = ComputeFilter
'''

#: Traits of each host.
TRAITS = {'compute1': ['CUSTOM_GOLD'], 'compute2': []}


@pytest.fixture
def files(databases, tmp_path):
    """Yield options that name Nova's files; each host is in Placement."""
    fixture = placement_fixture.PlacementFixture(use_intercept=False)
    fixture.setUp()
    try:
        application = deploy.loadapp(fixture.conf_fixture.conf)
        with wsgi_server.serving(application) as url:
            fill(url)
            path = tmp_path / 'placement.conf'
            path.write_text(CONF.format(url=url))
            yield '--config-file', databases, '--config-file', path
    finally:
        fixture.cleanUp()


def fill(url):
    def ask(method, path, body):
        answer = requests.request(
            method, url + path, json=body, timeout=60, headers={
                'X-Auth-Token': 'admin',
                'OpenStack-API-Version': 'placement 1.36'})
        assert answer.ok, answer.text

    ask('PUT', '/traits/CUSTOM_GOLD', {})
    for host, traits in TRAITS.items():
        node = str(uuid.uuid5(uuid.NAMESPACE_DNS, host))
        path = f'/resource_providers/{node}'
        ask('POST', '/resource_providers', {'name': host, 'uuid': node})
        ask('PUT', f'{path}/inventories', {
            'resource_provider_generation': 0, 'inventories': {
                name: {'total': 8192}
                for name in ('VCPU', 'MEMORY_MB', 'DISK_GB')}})
        ask('PUT', f'{path}/traits', {
            'resource_provider_generation': 1,
            'traits': [*traits, 'OWNER_NOVA', 'COMPUTE_NODE']})


def test_hosts_are_asked_for(files):
    def asked(*arguments):
        done = processes.run(
            'nova-image-override', 'hosts', '--flavor', 'plain',
            *arguments, *files, '-f', 'json')
        assert done.lines == []
        return done.status, [
            [*row.values()] for row in json.loads(done.out)]

    gold = '--image-prop-override=trait:CUSTOM_GOLD=required'
    assert asked(gold) == (0, [
        [1, 'can take the server', ''],
        [1, 'without the trait CUSTOM_GOLD', 'trait:CUSTOM_GOLD'],
        [2, 'can take the server without', 'trait:CUSTOM_GOLD']])
    assert asked(gold, '--hosts') == (0, [
        ['cell1', 'compute1', 'compute1', 'can take the server'],
        ['cell1', 'compute2', 'compute2', 'without the trait CUSTOM_GOLD']])
    status, rows = asked(
        '--image-prop-override=trait:HW_CPU_X86_AVX512F=required')
    assert status == 1
    assert rows[0] == [0, 'can take the server', '']


@pytest.mark.parametrize('option', [
    ('--image-prop-override', 'hw_pmu=true'), ('--project', 'x')])
def test_what_is_for_a_flavor_is_not_ignored_beside_a_server(files, option):
    done = processes.run('nova-image-override', 'hosts', '--server',
                         str(uuid.uuid4()), *option, *files)
    assert (done.status, done.out) == (2, '')
    assert done.lines == [
        '--server goes with --hosts only, the rest with --flavor']


NO_ANSWER = 'Placement does not answer: '
#: What nova.conf says besides, and the error. On port 9 nothing listens.
FAILURES = {
    'Placement': (CONF.format(url='http://127.0.0.1:9/'), NO_ANSWER),
    'Keystone': ('''
[placement]
auth_type = password
auth_url = http://127.0.0.1:9/
username = nova
password = secret
project_name = service
user_domain_id = default
project_domain_id = default
''', NO_ANSWER),
    'none at all': ('', NO_ANSWER),
    'RPC': ('[DEFAULT]\ntransport_url = nosuch://\n',
            'Failed to load transport driver "nosuch"'),
}


@pytest.mark.parametrize(('text', 'line'), FAILURES.values(), ids=FAILURES)
def test_whatever_stops_it_is_one_line(databases, tmp_path, text, line):
    path = tmp_path / 'more.conf'
    path.write_text(text)
    done = processes.run(
        'nova-image-override', 'hosts', '--flavor', 'plain',
        '--config-file', databases, '--config-file', path)
    assert (done.status, done.out) == (2, '')
    # Before it, keystoneauth or stevedore warns.
    assert done.lines[-1].startswith(line)
    assert 'secret' not in done.lines[-1]
