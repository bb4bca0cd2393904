"""Requests without a client of ours, over TCP: curl's and gophercloud's."""

import os
import shutil
import subprocess
import unittest

from testing import release
from testing import wsgi_server
from testing.harness import base
from testing.site import cloud as cloud_module
from testing.site import site
from tests.functional import test_samples

SCRIPT = test_samples.SAMPLES.parent / 'user' / 'curl.sh'


# Under eventlet this process cannot wait for curl and serve it.
@unittest.skipUnless(release.NUMBER == 34, 'needs native threads')
class Curl(cloud_module.Cloud):
    def setUp(self):
        super().setUp()
        self.url = self.enterContext(wsgi_server.serving(
            site.Site(self, self.api_fixture.app())))

    def run_script(self, **environment):
        done = subprocess.run(
            ['/bin/sh', '-eu', SCRIPT], capture_output=True, text=True,
            timeout=300, env={
                'PATH': os.environ['PATH'],
                'OS_AUTH_URL': f'{self.url}/identity/v3',
                'OS_USERNAME': 'demo', 'OS_PASSWORD': 'demo',
                'OS_PROJECT_NAME': 'demo', 'IMAGE': base.IMAGE,
                'FLAVOR': self.flavor(), **environment})
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    @unittest.skipUnless(shutil.which('curl') and shutil.which('jq'),
                         'needs curl and jq')
    def test_the_documented_script(self):
        printed = self.run_script()
        test_samples.compare(self, 'curl.txt', printed.strip())
        (server,) = self.request('GET', '/servers').body['servers']
        self.wait(server['id'])
        self.assertEqual('scsi', self.guest(server['id']).find(
            'devices/disk/target').get('bus'))

    def test_gophercloud_s_request(self):
        # service_client.go: both of its own headers, then MoreHeaders.
        answer = self.http(
            'POST', '/servers', self.server_body({'hw_disk_bus': 'scsi'}),
            compute=None, extension=None, headers={
                'X-OpenStack-Nova-API-Version': '2.90',
                'OpenStack-API-Version':
                    'compute 2.90, image-props-override 1.0'})
        self.assertEqual(202, answer.status, answer.text)
        server = answer.body['server']['id']
        self.wait(server)
        self.assertEqual('scsi', self.system_metadata(server)['hw_disk_bus'])

    def test_gophercloud_s_request_without_our_header_is_refused(self):
        self.assert_refused(
            self.http('POST', '/servers', self.server_body(
                {'hw_disk_bus': 'scsi'}), compute='2.90', extension=None,
                headers={'X-OpenStack-Nova-API-Version': '2.90'}),
            400, {base.PARAMETER: 'version_missing'})
