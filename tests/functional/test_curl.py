"""Requests without a client of ours, over TCP: curl's and gophercloud's."""

import os
import shutil
import subprocess

import pytest

from testing import release
from testing import wsgi_server
from testing.harness import base
from testing.site import cloud as cloud_module
from testing.site import site
from tests.functional import samples

SCRIPT = samples.SAMPLES.parent / 'user' / 'curl.sh'


class Cloud(cloud_module.Cloud):
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
        assert done.returncode == 0, done.stderr
        return done.stdout


# Under eventlet this process cannot wait for curl and serve it.
@pytest.mark.skipif(release.NUMBER != 34, reason='needs native threads')
class TestCurl:
    @pytest.mark.skipif(
        not (shutil.which('curl') and shutil.which('jq')),
        reason='needs curl and jq')
    def test_the_documented_script(self, cloud):
        printed = cloud.run_script()
        samples.compare('curl.txt', printed.strip())
        (server,) = cloud.request('GET', '/servers').body['servers']
        cloud.wait(server['id'])
        assert cloud.guest(server['id']).find('os/loader') is not None

    def test_gophercloud_s_request(self, cloud):
        # service_client.go: both of its own headers, then MoreHeaders.
        server = cloud.boot(
            {'hw_disk_bus': 'scsi'}, compute=None, extension=None, headers={
                'X-OpenStack-Nova-API-Version': '2.90',
                'OpenStack-API-Version':
                    'compute 2.90, image-props-override 1.0'})
        assert cloud.system_metadata(server)['hw_disk_bus'] == 'scsi'
