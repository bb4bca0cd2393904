"""Ceilometer's agent, which makes samples of Nova's notifications.

It is not a part of the cloud: whoever needs it starts it.
"""
from __future__ import annotations

import json
import typing

import yaml

from testing.deployment import installation
from testing.deployment import processes
from testing.deployment import settings
from testing.deployment import state as state_module

#: What it needs is at odds with what the other services do.
_INSTALLED = installation.Installation(
    state_module.ROOT / '.venv' / 'ceilometer-27')


class Agent(processes.Process):
    """``ceilometer-agent-notification``, which writes samples to a file."""

    def __init__(self, state: state_module.State) -> None:
        super().__init__(state, 'ceilometer')
        self._folder = state.subfolder('ceilometer')
        self._samples = self._folder / 'samples'
        self._broker = settings.broker(state)

    def up(self) -> None:
        """Start it, with no samples."""
        self._samples.unlink(missing_ok=True)
        pipeline = self._folder / 'pipeline.yaml'
        pipeline.write_text(yaml.safe_dump({
            'sources': [{'name': 'all', 'meters': ['*'], 'sinks': ['file']}],
            'sinks': [{'name': 'file', 'publishers': [
                f'file://{self._samples}?json']}]}))
        config = self._folder / 'ceilometer.conf'
        settings.write(config, {
            'DEFAULT': {'transport_url': self._broker,
                        'pipeline_cfg_file': str(pipeline)},
            'notification': {'pipelines': 'meter'}})
        self.start([_INSTALLED.bin / 'ceilometer-agent-notification',
                    '--config-file', config])

    def samples(self) -> list[dict[str, typing.Any]]:
        """Return all that it has made."""
        return [json.loads(line) for line in (
            self._samples.read_text().splitlines()
            if self._samples.exists() else ())]
