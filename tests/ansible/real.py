"""Ansible with its openstack.cloud collection, run as users run it."""
from __future__ import annotations

import collections.abc
import json
import os
import pathlib
import subprocess
import typing

from tests import environments

BOOT = 'Boot the server'

#: What the documentation shows.
PLAYBOOK, CHANGE = (
    environments.ROOT / 'docs' / 'source' / 'user' / f'{name}.yaml'
    for name in ('ansible', 'ansible-change'))

#: ``vendor_hook`` of clouds.yaml.
HOOK = 'nova_image_override.client.sdk:load'


class Ansible:
    """Runs playbooks against one cloud.

    :param folder: for its files
    :param clouds: writes clouds.yaml, in which each cloud has the keys that it
        is given too, and returns the path
    """

    def __init__(
        self, folder: pathlib.Path,
        clouds: collections.abc.Callable[..., pathlib.Path],
    ) -> None:
        self._folder = folder
        self._clouds = clouds
        self._bin = environments.find(
            'Ansible', 'ANSIBLE', '.venv/ansible-12',
            'bin/ansible-playbook') / 'bin'

    def run(
        self, playbook: str, hook: str | None = HOOK, fails: bool = False,
    ) -> dict[str, dict[str, typing.Any]]:
        """Run a playbook.

        :param playbook: its text
        :param hook: ``vendor_hook`` of clouds.yaml
        :param fails: whether it must fail; otherwise it must not
        :returns: each task's result by its name
        """
        clouds = self._clouds(**({'vendor_hook': hook} if hook else {}))
        path = self._folder / 'playbook.yaml'
        path.write_text(playbook)
        done = subprocess.run(
            [self._bin / 'ansible-playbook', path], capture_output=True,
            text=True, cwd=self._folder, timeout=300, env={
                'PATH': f'{self._bin}:{os.environ["PATH"]}',
                'HOME': str(self._folder), 'LC_ALL': 'C.UTF-8',
                'OS_CLIENT_CONFIG_FILE': str(clouds),
                'ANSIBLE_STDOUT_CALLBACK': 'ansible.posix.json',
                'ANSIBLE_LOCALHOST_WARNING': 'False',
                # No playbook asks for facts of this machine.
                'ANSIBLE_GATHERING': 'explicit'})
        start = done.stdout.find('{')
        assert start >= 0, done.stdout + done.stderr
        (play,) = json.loads(done.stdout[start:])['plays']
        assert (done.returncode != 0) == fails, done.stdout
        return {task['task']['name']: task['hosts']['localhost']
                for task in play['tasks']}


def servers(cloud):
    return cloud.request('GET', '/servers/detail').body['servers']
